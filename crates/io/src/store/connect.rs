//! From an address to a client, by the common variables of the environment.

use std::collections::HashMap;
use std::env;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

use super::address::{Address, Scheme};
use super::error;
use crate::error::Result;

/// A whole request may take so long; a part of an upload over a slow line does.
const TIMEOUT: &str = "600 seconds";
/// A server that sends nothing for so long is asked again.
const SILENCE: &str = "30 seconds";

/// Clients of one bucket.
#[derive(Debug)]
pub(super) struct Store {
    /// For data: goes on trying for three minutes.
    pub(super) patient: Arc<dyn ObjectStore>,
    /// For the first contact: somebody waits, and a wrong name does not become right.
    pub(super) hasty: Arc<dyn ObjectStore>,
}

type Stores = HashMap<(String, Option<String>), Arc<Store>>;
static STORES: Mutex<Option<Stores>> = Mutex::new(None);

/// The clients of the bucket of an address; connections are shared.
pub(super) fn connect(address: &Address) -> Result<Arc<Store>> {
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = stores.get_or_insert_default();
    let key = (address.root.clone(), address.query.clone());
    if let Some(store) = stores.get(&key) {
        return Ok(Arc::clone(store));
    }
    prepare_encryption();
    if address.scheme == Scheme::S3 && !has_aws_credentials() {
        return Err(error::no_credentials(address));
    }
    let patient = RetryConfig::default();
    let hasty = RetryConfig { max_retries: 4, ..RetryConfig::default() };
    let client = |retry| client(address, retry).map_err(|error| error::of("open", address, &error));
    let store = Arc::new(Store { patient: client(patient)?, hasty: client(hasty)? });
    stores.insert(key, Arc::clone(&store));
    Ok(store)
}

fn client(address: &Address, retry: RetryConfig) -> object_store::Result<Arc<dyn ObjectStore>> {
    let url = &address.root;
    let times = [(ClientConfigKey::Timeout, TIMEOUT), (ClientConfigKey::ReadTimeout, SILENCE)];
    Ok(match address.scheme {
        Scheme::S3 => {
            let mut builder = AmazonS3Builder::from_env().with_url(url).with_retry(retry);
            for (key, value) in times {
                builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
            }
            Arc::new(builder.build()?)
        }
        Scheme::Google => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_url(url).with_retry(retry);
            for (key, value) in times {
                builder = builder.with_config(GoogleConfigKey::Client(key), value);
            }
            Arc::new(builder.build()?)
        }
        Scheme::Azure => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retry);
            for (key, value) in times {
                builder = builder.with_config(AzureConfigKey::Client(key), value);
            }
            Arc::new(builder.build()?)
        }
        Scheme::Http => {
            let url = address.query.as_ref().map_or(url.clone(), |query| format!("{url}/?{query}"));
            let mut builder = HttpBuilder::new().with_url(url).with_retry(retry);
            // A file that is read as one body may take hours.
            for (key, value) in
                [(ClientConfigKey::AllowHttp, "true"), (ClientConfigKey::Timeout, "30 days"), times[1]]
            {
                builder = builder.with_config(key, value);
            }
            Arc::new(builder.build()?)
        }
    })
}

/// Without any, the client asks the machine it runs on for some, which takes long where there is nobody to answer.
fn has_aws_credentials() -> bool {
    const SOURCES: [&str; 6] = [
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_METADATA_ENDPOINT",
        "AWS_SKIP_SIGNATURE",
    ];
    let machine = SocketAddr::from(([169, 254, 169, 254], 80));
    SOURCES.iter().any(|name| env::var_os(name).is_some())
        || TcpStream::connect_timeout(&machine, Duration::from_secs(1)).is_ok()
}

/// One implementation of TLS for all clients.
fn prepare_encryption() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that the program around us has chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
