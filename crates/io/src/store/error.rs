//! What a store says, in words that tell what to do.

use std::io;

use object_store::Error as StoreError;

use super::address::{Address, Scheme};
use crate::error::Error;

/// An error about an address.
pub(super) fn of(action: &'static str, address: &Address, error: &StoreError) -> Error {
    let cause = innermost(error);
    let (what, remedy) = match refusal(error, &cause) {
        Refusal::NoBucket => ("there is no such bucket".to_owned(), bucket(address.scheme)),
        Refusal::NotFound => return address.not_found(),
        Refusal::Denied => ("access denied".to_owned(), credentials(address.scheme)),
        Refusal::NoCredentials => ("no credentials".to_owned(), credentials(address.scheme)),
        Refusal::Region => ("the bucket is in another region".to_owned(), "name it with AWS_REGION"),
        Refusal::Plain => (
            "http:// instead of https:// is not allowed".to_owned(),
            "set AWS_ALLOW_HTTP=true if you mean it",
        ),
        Refusal::Changed => {
            ("it was changed while it was being read".to_owned(), "let nobody write to it and run again")
        }
        Refusal::Other => (cause, "check the network, and the name and address of the server"),
    };
    Error::Store { action, url: address.url(), what, remedy }
}

/// An input or output that went wrong in the middle; what it is about is told by the caller.
pub(super) fn io(error: &StoreError) -> io::Error {
    let cause = innermost(error);
    match refusal(error, &cause) {
        Refusal::Changed => io::Error::other("it was changed while it was being read"),
        Refusal::Denied => io::Error::new(io::ErrorKind::PermissionDenied, "access denied"),
        Refusal::NotFound => io::Error::new(io::ErrorKind::NotFound, "it is gone"),
        _ => io::Error::other(cause),
    }
}

/// An error about an address, of this side of the network.
pub(super) fn local(action: &'static str, address: &Address, error: &io::Error) -> Error {
    let what = error.to_string();
    Error::Store { action, url: address.url(), what, remedy: "check the network and run again" }
}

/// The answer without a question.
pub(super) fn no_credentials(address: &Address) -> Error {
    let (what, remedy) = ("no credentials".to_owned(), credentials(address.scheme));
    Error::Store { action: "open", url: address.url(), what, remedy }
}

pub(super) fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::NotFound { .. })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    NoBucket,
    NotFound,
    Denied,
    NoCredentials,
    Region,
    Plain,
    Changed,
    Other,
}

fn refusal(error: &StoreError, cause: &str) -> Refusal {
    let whole = error.to_string();
    let says = |words: &[&str]| words.iter().any(|word| cause.contains(word) || whole.contains(word));
    match error {
        _ if says(&["NoSuchBucket", "ContainerNotFound", "bucket does not exist"]) => Refusal::NoBucket,
        StoreError::NotFound { .. } => Refusal::NotFound,
        StoreError::PermissionDenied { .. } => Refusal::Denied,
        StoreError::Unauthenticated { .. } => Refusal::NoCredentials,
        StoreError::Precondition { .. } => Refusal::Changed,
        _ if says(&["redirect without LOCATION", "PermanentRedirect", "AuthorizationHeaderMalformed"]) => {
            Refusal::Region
        }
        _ if says(&[
            "169.254.169.254",
            "metadata.google",
            "Missing credentials",
            "Account must be specified",
        ]) =>
        {
            Refusal::NoCredentials
        }
        _ if says(&["URL scheme is not allowed"]) => Refusal::Plain,
        _ if says(&["403 Forbidden", "401 Unauthorized"]) => Refusal::Denied,
        _ => Refusal::Other,
    }
}

/// The innermost cause, on one line: the outer ones only repeat the address and count the attempts.
fn innermost(error: &StoreError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

fn bucket(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => "check its name, AWS_REGION, and AWS_ENDPOINT_URL if it is not at Amazon",
        Scheme::Google => "check its name",
        Scheme::Azure => "check its name and AZURE_STORAGE_ACCOUNT_NAME",
        Scheme::Http => "check the address",
    }
}

fn credentials(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) to some that may, or AWS_SKIP_SIGNATURE=true for a public bucket"
        }
        Scheme::Google => {
            "set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT to a key file that may, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        }
        Scheme::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY (or AZURE_STORAGE_SAS_KEY) to some that may"
        }
        Scheme::Http => "use an address that carries its permission, such as a signed one",
    }
}
