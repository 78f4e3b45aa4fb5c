//! Addresses: `s3://bucket/key` and the like.

use std::path::Path;

use crate::error::{Error, Result};

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Amazon S3 and all that speak like it.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage and Data Lake.
    Azure,
    /// Any web server.
    Http,
}

const SCHEMES: [(&str, Scheme); 8] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("abfs", Scheme::Azure),
    ("abfss", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Http),
];

/// An object, or all objects below a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Who is asked.
    pub(super) scheme: Scheme,
    /// The bucket or server, such as `s3://bucket`, without a slash at its end.
    pub root: String,
    /// What follows, without the slash at its beginning.
    pub key: String,
    /// What follows a question mark behind HTTP, such as a signature.
    pub(super) query: Option<String>,
}

impl Address {
    /// The address that a path is, or nothing if it is a path of this machine.
    ///
    /// # Errors
    /// A scheme that is not known, no bucket.
    pub fn parse(path: &Path) -> Result<Option<Self>> {
        let Some((name, rest)) = path.to_str().and_then(|text| text.split_once("://")) else {
            return Ok(None);
        };
        let is_scheme = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_scheme {
            return Ok(None);
        }
        let known = SCHEMES.iter().find(|(scheme, _)| name.eq_ignore_ascii_case(scheme));
        let Some((name, scheme)) = known else {
            let (url, what) = (path.display().to_string(), format!("nothing here speaks {name}://"));
            let remedy = "use s3://, gs://, az://, http:// or https://";
            return Err(Error::Store { action: "open", url, what, remedy });
        };
        let (rest, query) = match rest.split_once('?').filter(|_| *scheme == Scheme::Http) {
            Some((rest, query)) => (rest, Some(query.to_owned())),
            None => (rest, None),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            let (url, what) = (path.display().to_string(), "it has no bucket".to_owned());
            return Err(Error::Store { action: "open", url, what, remedy: "write s3://bucket/folder" });
        }
        let (root, key) = (format!("{name}://{bucket}"), key.to_owned());
        Ok(Some(Self { scheme: *scheme, root, key, query }))
    }

    /// Another key of the same bucket.
    pub fn with_key(&self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self.clone() }
    }

    /// Whether it is a web server, which has files and neither folders nor globs.
    pub(crate) fn is_http(&self) -> bool {
        self.scheme == Scheme::Http
    }

    /// The error that there is nothing at this address.
    pub(crate) fn not_found(&self) -> Error {
        let remedy = match self.is_http() {
            true => "check the address",
            false => "check the spelling; a folder is read by naming it, some files of it by `*`",
        };
        let (url, what) = (self.url(), "there is nothing of that name".to_owned());
        Error::Store { action: "open", url, what, remedy }
    }

    /// The key as that of a folder: nothing, or with a slash at its end.
    pub fn prefix(&self) -> String {
        match self.key.trim_end_matches('/') {
            "" => String::new(),
            key => format!("{key}/"),
        }
    }

    /// Whether a URL is below this one, taken as a folder.
    pub fn holds(&self, url: &str) -> bool {
        url.starts_with(&self.with_key(self.prefix()).url())
    }

    /// As the user writes it. What follows a question mark may be secret, and is left out.
    pub fn url(&self) -> String {
        format!("{}/{}", self.root, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Address> {
        Address::parse(Path::new(text)).unwrap()
    }

    #[test]
    fn paths_of_this_machine_are_none() {
        for path in ["data", "/data/a.jsonl", "-", "C:/data", "a://b".trim_start_matches('a'), "x y://z"] {
            assert_eq!(parse(path), None, "{path}");
        }
    }

    #[test]
    fn an_address_has_a_bucket_and_a_key() {
        let address = parse("s3://bucket/year=2024/a?.jsonl").unwrap();
        assert_eq!(
            (address.scheme, &*address.root, &*address.key),
            (Scheme::S3, "s3://bucket", "year=2024/a?.jsonl")
        );
        assert_eq!(parse("gs://b").unwrap().prefix(), "");
        assert_eq!(parse("az://b/x").unwrap().prefix(), "x/");
        assert_eq!(parse("S3://b/x/").unwrap().prefix(), "x/");
    }

    #[test]
    fn a_folder_holds_what_is_below_it() {
        let folder = parse("s3://b/x").unwrap();
        assert!(folder.holds("s3://b/x/y.jsonl") && !folder.holds("s3://b/xy.jsonl"));
        assert!(parse("s3://b").unwrap().holds("s3://b/x/"));
    }

    #[test]
    fn a_signature_is_not_told() {
        let address = parse("https://host:80/a.jsonl?sig=secret").unwrap();
        assert_eq!(address.url(), "https://host:80/a.jsonl");
        assert_eq!(address.query.as_deref(), Some("sig=secret"));
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        let error = Address::parse(Path::new("ftp://host/a")).unwrap_err().to_string();
        assert!(error.contains("s3://, gs://, az://") && error.contains("`ftp://host/a`"), "{error}");
        let error = Address::parse(Path::new("s3:///key")).unwrap_err().to_string();
        assert!(error.contains("no bucket"), "{error}");
    }
}
