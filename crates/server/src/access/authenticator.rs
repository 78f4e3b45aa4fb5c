//! Lets requests in: those with a key of the file, or those of this machine where no key is needed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use axum::http::{HeaderMap, StatusCode, Uri, header};

use super::Access;
use super::keys::{Key, Keys};
use super::rate::RateLimiter;
use crate::config::Config;
use crate::error::{ApiError, Result};

/// The keys of the file, read again when it changes, and how often each was used lately.
pub struct Authenticator {
    path: PathBuf,
    file: RwLock<KeyFile>,
    needs_key: bool,
    /// Origins whose pages may ask, or `*`, beside the server's own.
    origins: Vec<String>,
    rate: RateLimiter,
}

/// What the file of keys had when it was read.
struct KeyFile {
    changed: Option<SystemTime>,
    keys: Arc<Keys>,
}

impl Authenticator {
    /// With the keys of a file. A key is needed if there is one, or if the server is reached from beyond this machine. Errors: a file that cannot be read.
    pub fn new(config: &Config) -> std::io::Result<Self> {
        let path = config.keys.clone();
        let file = KeyFile { changed: changed(&path), keys: Arc::new(Keys::read(&path)?) };
        let needs_key = !config.listen.ip().is_loopback() || !file.keys.keys.is_empty();
        let (origins, rate) = (config.cors.clone(), RateLimiter::new(config.limits.rate));
        Ok(Self { path, file: RwLock::new(file), needs_key, origins, rate })
    }

    pub fn needs_key(&self) -> bool {
        self.needs_key
    }

    /// Reads the file again if it has changed; a file that cannot be read leaves the keys as they are.
    pub fn refresh(&self) {
        let changed = changed(&self.path);
        if changed == self.file.read().unwrap_or_else(PoisonError::into_inner).changed {
            return;
        }
        match Keys::read(&self.path) {
            Ok(keys) => {
                tracing::info!(keys = keys.keys.len(), "the file of keys has changed");
                let file = KeyFile { changed, keys: Arc::new(keys) };
                *self.file.write().unwrap_or_else(PoisonError::into_inner) = file;
            }
            Err(error) => tracing::error!(%error, "the keys stay as they were"),
        }
    }

    /// Lets a request in, or says why not. Errors: 401 without a good key, 403 for a page of another origin, 421 for a name that is not this machine's, 429 for too many requests.
    pub(crate) fn enter(&self, headers: &HeaderMap, uri: &Uri) -> Result<Access> {
        let access = match self.needs_key {
            true => Access { key: Some(self.key(headers)?) },
            false => {
                own_name(headers, uri)?;
                self.own_page(headers, uri)?;
                Access { key: None }
            }
        };
        self.rate.count(access.key.as_ref().map_or("", |key| &key.id))?;
        Ok(access)
    }

    /// Without keys a page of any origin could have a browser send what needs no leave of the server, forms with files above all.
    fn own_page(&self, headers: &HeaderMap, uri: &Uri) -> Result<()> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let is_own = |origin: &str| {
            let of_page = origin.split_once("://").map(|(_, authority)| authority);
            of_page.is_some_and(|of_page| {
                named(headers, uri).is_some_and(|name| name.eq_ignore_ascii_case(of_page))
            })
        };
        let is_allowed = |origin: &str| self.origins.iter().any(|one| one == "*" || one == origin);
        match origin.to_str().is_ok_and(|origin| is_own(origin) || is_allowed(origin)) {
            true => Ok(()),
            false => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "wrong_origin",
                "without keys only the server's own page may ask; `benzer serve --cors ORIGIN` lets others in",
            )),
        }
    }

    fn key(&self, headers: &HeaderMap) -> Result<Key> {
        let refused = |message: &str| ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = shown.ok_or_else(|| {
            refused("send a key: `Authorization: Bearer bz_...`; `benzer key create` makes one")
        })?;
        let (scheme, key) = shown.split_once(' ').unwrap_or(("", shown));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refused("send the key as `Authorization: Bearer bz_...`"));
        }
        let keys = Arc::clone(&self.file.read().unwrap_or_else(PoisonError::into_inner).keys);
        keys.find(key.trim()).cloned().ok_or_else(|| refused("there is no such key, or it was revoked"))
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// The name by which the server was asked, with the port.
fn named<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.or(uri.authority().map(|all| all.as_str()))
}

/// Without keys only this machine may ask, and not a page whose name was made to point here.
fn own_name(headers: &HeaderMap, uri: &Uri) -> Result<()> {
    let host = named(headers, uri).map(|host| match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    });
    let plain = host.map(|host| host.trim_start_matches('[').trim_end_matches(']'));
    let is_own = |host: &str| {
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    };
    // Two names are none: which of them counts is anybody's guess.
    let is_one = headers.get_all(header::HOST).iter().count() <= 1;
    match plain.is_none_or(is_own) && is_one {
        true => Ok(()),
        false => Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "wrong_host",
            "without keys this server answers as `localhost` only; make a key with `benzer key create`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::keys::Scope;

    fn authenticator(keys: &Path, cors: &[&str], rate: f64) -> Authenticator {
        let mut config = Config { keys: keys.to_owned(), ..Config::default() };
        config.cors = cors.iter().map(|&origin| origin.to_owned()).collect();
        config.limits.rate = rate;
        Authenticator::new(&config).unwrap()
    }

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn only_this_machine_by_its_own_name_needs_no_key() {
        let authenticator = authenticator("no-such-file".as_ref(), &[], 0.0);
        for (host, status) in [
            ("localhost:7700", None),
            ("127.0.0.1", None),
            ("[::1]:80", None),
            ("evil.example:7700", Some(421)),
            ("10.0.0.1", Some(421)),
            ("localhost.evil.example", Some(421)),
        ] {
            let entered = authenticator.enter(&headers(header::HOST, host), &Uri::from_static("/"));
            assert_eq!(entered.err().map(|error| error.status.as_u16()), status, "{host}");
        }
        let beyond =
            Config { listen: ([0, 0, 0, 0], 0).into(), keys: "no-such-file".into(), ..Config::default() };
        assert!(Authenticator::new(&beyond).unwrap().needs_key());
    }

    #[test]
    fn pages_of_other_origins_may_not_ask_without_a_key() {
        let enter = |cors: &[&str], origin: &str| {
            let mut both = headers(header::HOST, "localhost:7700");
            both.insert(header::ORIGIN, origin.parse().unwrap());
            let entered =
                authenticator("no-such-file".as_ref(), cors, 0.0).enter(&both, &Uri::from_static("/"));
            entered.err().map(|error| error.status.as_u16())
        };
        for own in ["http://localhost:7700", "http://LOCALHOST:7700"] {
            assert_eq!(enter(&[], own), None, "{own}");
        }
        for other in [
            "https://evil.example",
            "null",
            "",
            "http://localhost:7701",
            "http://localhost",
            "localhost:7700",
        ] {
            assert_eq!(enter(&[], other), Some(403), "{other}");
            assert_eq!(enter(&["https://good.example"], other), Some(403), "{other}");
        }
        assert_eq!(enter(&["https://good.example"], "https://good.example"), None);
        assert_eq!(enter(&["*"], "https://evil.example"), None);
    }

    #[test]
    fn a_revoked_key_is_out_and_a_new_one_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let mut keys = Keys::default();
        let old = keys.create("old", &[Scope::Read], &[]).unwrap();
        keys.write(&path).unwrap();
        let authenticator = authenticator(&path, &[], 0.0);
        let enter = |key: &str| {
            authenticator
                .enter(&headers(header::AUTHORIZATION, &format!("Bearer {key}")), &Uri::from_static("/"))
        };
        assert!(enter(&old).is_ok() && enter("bz_x_y").is_err());
        assert!(authenticator.enter(&HeaderMap::new(), &Uri::from_static("/")).is_err());
        assert!(
            authenticator
                .enter(&headers(header::AUTHORIZATION, &format!("Basic {old}")), &Uri::from_static("/"))
                .is_err()
        );
        let mut keys = Keys::default();
        let new = keys.create("new", &[Scope::Write], &["a".into()]).unwrap();
        keys.write(&path).unwrap();
        std::fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        authenticator.refresh();
        assert!(enter(&old).is_err());
        let access = enter(&new).unwrap();
        assert!(access.check(Scope::Write, Some("a")).is_ok());
        let status = |refused: Result<()>| refused.unwrap_err().status.as_u16();
        assert_eq!(status(access.check(Scope::Write, Some("b"))), 404);
        assert_eq!(status(access.check(Scope::Write, None)), 403);
        assert_eq!(status(access.check(Scope::Read, Some("a"))), 403);
    }

    #[test]
    fn too_many_requests_of_one_key_are_told_when_to_come_back() {
        let authenticator = authenticator("no-such-file".as_ref(), &[], 5.0);
        let enter = || authenticator.enter(&HeaderMap::new(), &Uri::from_static("/"));
        assert!((0..5).all(|_| enter().is_ok()));
        assert_eq!(enter().unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
    }
}
