//! The client of a store, set up by the ordinary environment variables.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{
    BackoffConfig, ClientOptions, HeaderMap, HeaderValue, ObjectStore, RetryConfig,
};

use super::error::Unfetched;
use crate::address::{Address, Scheme, is_loopback};

/// The client of the store that an address lies in.
pub(super) fn store(address: &Address) -> Result<Arc<dyn ObjectStore>, Unfetched> {
    provide_tls();
    let made: Result<Arc<dyn ObjectStore>, object_store::Error> = match address.scheme {
        Scheme::S3 => s3(address).build().map(|store| Arc::new(store) as _),
        Scheme::Google => GoogleCloudStorageBuilder::from_env()
            .with_bucket_name(&address.host)
            .with_client_options(client())
            .with_retry(retries())
            .build()
            .map(|store| Arc::new(store) as _),
        Scheme::Azure => MicrosoftAzureBuilder::from_env()
            .with_container_name(&address.host)
            .with_client_options(client())
            .with_retry(retries())
            .build()
            .map(|store| Arc::new(store) as _),
        Scheme::Http => web(address)?.build().map(|store| Arc::new(store) as _),
    };
    made.map_err(|e| Unfetched::of(&e))
}

fn s3(address: &Address) -> AmazonS3Builder {
    let builder = AmazonS3Builder::from_env().with_bucket_name(&address.host);
    let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
    let said = builder.get_config_value(&AmazonS3ConfigKey::Client(
        object_store::ClientConfigKey::AllowHttp,
    ));
    let is_here = endpoint.is_some_and(|endpoint| {
        let rest = endpoint.strip_prefix("http://");
        rest.is_some_and(|rest| is_loopback(rest.split('/').next().unwrap_or(rest)))
    });
    let allowed = is_here || said.is_some_and(|said| said.eq_ignore_ascii_case("true"));
    builder
        .with_client_options(client().with_allow_http(allowed))
        .with_retry(retries())
}

/// A web server. Its address holds all that it wants to know: a signature among the parameters, a password
/// in front of the host.
fn web(address: &Address) -> Result<HttpBuilder, Unfetched> {
    let query = address.query.as_ref();
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    let url = format!("{}://{}/{query}", address.prefix, address.host);
    let mut client = client().with_allow_http(is_loopback(&address.host));
    if let Some(user) = &address.user {
        let bad = Unfetched::SetUp("the user name in front of the host cannot be sent");
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        let decoded = |text: &str| -> String {
            let bytes = percent_encoding::percent_decode_str(text);
            bytes.decode_utf8_lossy().into_owned()
        };
        let both = format!("{}:{}", decoded(name), decoded(password));
        let both = base64::engine::general_purpose::STANDARD.encode(both);
        let mut value = HeaderValue::from_str(&format!("Basic {both}")).map_err(|_| bad)?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("authorization", value);
        client = client.with_default_headers(headers);
    }
    let builder = HttpBuilder::new().with_url(url).with_retry(retries());
    Ok(builder.with_client_options(client))
}

fn client() -> ClientOptions {
    ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(10))
        // A window of a few megabytes, on a slow line.
        .with_timeout(Duration::from_secs(120))
}

/// A store that is busy or away for a moment is asked again; one that is gone is not waited for.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(3),
            base: 2.0,
        },
        max_retries: 5,
        retry_timeout: Duration::from_secs(60),
    }
}

/// The client brings no cryptography of its own: the one that is there already is used.
fn provide_tls() {
    // Fails only where the program has chosen one, which then serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
