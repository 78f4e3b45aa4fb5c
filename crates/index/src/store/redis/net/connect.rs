//! A connection to one node: addressed, secured, authenticated, and of a version that is new enough.

use std::fmt;
use std::time::Duration;

use ::redis::{
    Client, Connection, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    RedisError, TlsCertificates, cmd,
};

use super::address::Address;
use crate::store::redis::trouble::Trouble;

/// The oldest version that has functions.
const OLDEST: u32 = 7;

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) struct Node {
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

pub(super) fn connect(address: &Address, node: &Node, patience: Duration) -> Result<Connection, Trouble> {
    let trouble = |error: RedisError| trouble_of(address, node, &error);
    let mut connection = client(address, node)?.get_connection_with_timeout(patience).map_err(trouble)?;
    set_patience(&connection, patience).map_err(trouble)?;
    let info: String = cmd("INFO").arg("server").query(&mut connection).map_err(trouble)?;
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or("unknown");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < OLDEST) {
        return Err(Trouble::TooOld { address: node.to_string(), found: format!("version {version}") });
    }
    let is_cluster = info.lines().any(|line| line.trim_end() == "redis_mode:cluster");
    match (address.is_cluster, is_cluster) {
        (true, false) => Err(Trouble::NoCluster { address: node.to_string() }),
        (false, true) => Err(Trouble::IsCluster { address: node.to_string() }),
        _ => Ok(connection),
    }
}

/// How long an answer may take, and how long a request may wait to be taken.
pub(super) fn set_patience(connection: &Connection, patience: Duration) -> Result<(), RedisError> {
    connection.set_read_timeout(Some(patience))?;
    connection.set_write_timeout(Some(patience))
}

fn client(address: &Address, node: &Node) -> Result<Client, Trouble> {
    let trouble = |error: RedisError| trouble_of(address, node, &error);
    let mut settings = RedisConnectionInfo::default().set_db(address.db);
    if let Some(user) = &address.user {
        settings = settings.set_username(user);
    }
    if let Some(password) = &address.password {
        settings = settings.set_password(password);
    }
    let (host, port) = (node.host.clone(), node.port);
    let place = match address.is_secure {
        false => ConnectionAddr::Tcp(host, port),
        true => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
    };
    let info: ConnectionInfo = place.into_connection_info().map_err(trouble)?.set_redis_settings(settings);
    match &address.ca {
        Some(certificate) if address.is_secure => {
            let certificates = TlsCertificates { client_tls: None, root_cert: Some(certificate.clone()) };
            Client::build_with_tls(info, certificates).map_err(trouble)
        }
        _ => Client::open(info).map_err(trouble),
    }
}

/// What an error means for the user. One that passes is [`Trouble::Unreachable`].
pub(super) fn trouble_of(address: &Address, node: &Node, error: &RedisError) -> Trouble {
    let place = node.to_string();
    let why = if error.is_timeout() { "nothing came back in time".to_owned() } else { error.to_string() };
    let is_certificate = address.is_secure && (why.contains("certificate") || why.contains("InvalidMessage"));
    match (error.kind(), error.code().unwrap_or_default()) {
        (ErrorKind::AuthenticationFailed, _) | (_, "NOAUTH" | "WRONGPASS" | "NOPERM") => {
            Trouble::Password { address: place, why }
        }
        (_, "OOM") => Trouble::NoRoom { address: place, why },
        _ if is_certificate => Trouble::Tls { address: place, why },
        (ErrorKind::Io | ErrorKind::Parse, _)
        | (_, "LOADING" | "CLUSTERDOWN" | "MASTERDOWN" | "TRYAGAIN" | "READONLY" | "BUSY") => {
            Trouble::Unreachable { address: place, why }
        }
        _ => Trouble::Refused { address: place, why },
    }
}
