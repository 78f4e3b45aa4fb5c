//! Addresses of servers: `redis://USER:PASSWORD@HOST:PORT/DB?OPTIONS`.

use std::fmt;
use std::time::Duration;

use super::connect::Node;
use crate::error::{Error, Result};

const PORT: u16 = 6379;
const FORM: &str = "redis://[USER[:PASSWORD]@]HOST[:PORT][/DB][?OPTIONS], or with rediss:// (TLS), redis+cluster:// or rediss+cluster:// and several HOST:PORT with commas";

/// Where the servers are, and how to talk to them.
#[derive(Clone, PartialEq)]
pub(in super::super) struct Address {
    pub nodes: Vec<Node>,
    pub is_cluster: bool,
    pub is_secure: bool,
    pub user: Option<String>,
    pub password: Option<String>,
    pub db: i64,
    /// Certificate of the authority that has signed the servers', if the system does not know it.
    pub ca: Option<Vec<u8>>,
    /// What all keys begin with.
    pub namespace: String,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How long to try again what has failed for a reason that passes.
    pub retry: Duration,
    /// Replicas of each node that must acknowledge a batch.
    pub wait: u32,
    /// Documents that a new collection is laid out for.
    pub expected_documents: u64,
}

/// True for addresses of this kind.
pub(in crate::store) fn is_redis(url: &str) -> bool {
    ["redis://", "rediss://", "redis+cluster://", "rediss+cluster://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

impl Address {
    pub fn parse(url: &str) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong(url))?;
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        // A password may have any character but `/`, `?` and `#`, which are written as %2F, %3F and %23.
        let (rest, db) = rest.split_once('/').unwrap_or((rest, ""));
        let (who, hosts) = rest.rsplit_once('@').map_or((None, rest), |(who, hosts)| (Some(who), hosts));
        let (user, password) = match who.map(|who| who.split_once(':').unwrap_or((who, ""))) {
            None => (None, None),
            Some((user, password)) => (text(user)?, text(password)?),
        };
        let mut address = Self {
            nodes: hosts
                .split(',')
                .map(|host| node(host).ok_or_else(|| wrong(url)))
                .collect::<Result<_>>()?,
            is_cluster: scheme.ends_with("+cluster"),
            is_secure: scheme.starts_with("rediss"),
            user,
            password,
            db: if db.is_empty() { 0 } else { db.parse().map_err(|_| wrong(url))? },
            ca: None,
            namespace: "benzer".to_owned(),
            timeout: Duration::from_secs(10),
            retry: Duration::from_secs(30),
            wait: 0,
            expected_documents: 1_000_000,
        };
        if address.nodes.len() > 1 && !address.is_cluster || address.is_cluster && address.db != 0 {
            return Err(wrong(url));
        }
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            address.set(name, &text(value)?.unwrap_or_default())?;
        }
        Ok(address)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let bad =
            |expected: &str| Error::parameter("db", format!("with {name}={expected}"), format!("`{value}`"));
        let seconds = || {
            let number = value.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 86_400.0);
            number.map(Duration::from_secs_f64).ok_or_else(|| bad("seconds, above 0 and at most 86400"))
        };
        match name {
            "timeout" => self.timeout = seconds()?,
            "retry" => self.retry = seconds()?,
            "wait" => self.wait = value.parse().map_err(|_| bad("a number of replicas"))?,
            "expected_documents" => {
                self.expected_documents = value.parse().map_err(|_| bad("a number of documents"))?;
            }
            "namespace" => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
                if value.is_empty() || value.len() > 100 || !value.chars().all(is_plain) {
                    return Err(bad("1 to 100 of a-z, A-Z, 0-9, `-`, `_`, `.` and `:`"));
                }
                self.namespace = value.to_owned();
            }
            "ca" => {
                let read = std::fs::read(value);
                let path = value.into();
                self.ca = Some(read.map_err(|source| Error::Disk { action: "read", path, source })?);
            }
            _ => {
                let known = "options wait, timeout, retry, ca, namespace and expected_documents";
                return Err(Error::parameter("db", known, format!("`{name}`")));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<String> = self.nodes.iter().map(Node::to_string).collect();
        f.write_str(&nodes.join(","))
    }
}

/// Without the password.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// The address without what is secret.
fn wrong(url: &str) -> Error {
    let shown = match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://...@{rest}"),
        _ => url.to_owned(),
    };
    Error::parameter("db", FORM, format!("`{shown}`"))
}

fn node(host: &str) -> Option<Node> {
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let port = if port.is_empty() { PORT } else { port.parse().ok()? };
    (!host.is_empty()).then(|| Node { host: host.to_owned(), port })
}

/// Percent signs decoded; nothing for an empty text.
fn text(encoded: &str) -> Result<Option<String>> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = || u8::from_str_radix(std::str::from_utf8(tail.get(..2)?).ok()?, 16).ok();
        match (*first == b'%').then(code).flatten() {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::parameter("db", "UTF-8 behind percent signs", "other bytes"))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        let address = Address::parse("rediss://me:p%40ss@[::1]:7000/2?wait=1&timeout=0.5").unwrap();
        assert_eq!(address.nodes, [Node { host: "::1".into(), port: 7000 }]);
        assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("me"), Some("p@ss")));
        assert_eq!((address.db, address.wait, address.timeout), (2, 1, Duration::from_millis(500)));
        assert!(address.is_secure && !address.is_cluster);
        let address = Address::parse("redis+cluster://:secret@a:1,b,c:3").unwrap();
        assert_eq!(address.to_string(), "a:1,b:6379,c:3");
        assert_eq!((address.user, address.password.as_deref()), (None, Some("secret")));
    }

    #[test]
    fn wrong_addresses_are_told_without_the_password() {
        for url in [
            "redis://",
            "redis://u:secret@",
            "redis://u:secret@a,b",
            "redis://u:secret@a/x",
            "redis://u:secret@a:99999",
            "redis+cluster://u:secret@a/1",
            "redis://u:secret@a?timeout=0",
            "redis://u:secret@a?wait=-1",
            "redis://u:secret@a?wiat=1",
            "redis://u:secret@a?namespace={}",
            "redis://u:secret@a?ca=nowhere.pem",
        ] {
            let told = Address::parse(url).unwrap_err().to_string();
            assert!(!told.contains("secret"), "{told}");
        }
        assert!(!format!("{:?}", Address::parse("redis://u:secret@a").unwrap()).contains("secret"));
    }
}
