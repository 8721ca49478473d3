//! How downloads behave.

use std::sync::Arc;
use std::time::Duration;

use super::super::disk::{Disk, OsDisk};
use crate::error::catalogue::{CatalogueError, Result};

/// How downloads behave.
///
/// ```
/// use stiefel_eeg::catalogue::FetchOptions;
/// let options = FetchOptions {
///     jobs: 1,
///     mirror: Some("https://mirror.example.org/eeg".into()),
///     ..FetchOptions::default()
/// };
/// assert_eq!(options.attempts, 5);
/// ```
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// Takes the place of scheme and host in every address: `https://mirror.example.org/eeg`.
    pub mirror: Option<String>,
    /// Files fetched at the same time.
    pub jobs: usize,
    /// Failed attempts in a row before a file is given up. An attempt that brought new bytes
    /// starts the count again.
    pub attempts: u32,
    /// The pause after the first failure; it doubles with each further one, up to 30 s.
    pub backoff: Duration,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest wait for the next bytes.
    pub read_timeout: Duration,
    /// How to get out of the network.
    pub proxy: Proxy,
    /// Where bytes go.
    pub disk: Arc<dyn Disk>,
}

/// How to get out of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// `ALL_PROXY`, `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case.
    Environment,
    /// No proxy.
    Direct,
    /// This one: `http://user:password@host:port`.
    Url(String),
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            mirror: None,
            jobs: 4,
            attempts: 5,
            backoff: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(20),
            read_timeout: Duration::from_secs(60),
            proxy: Proxy::Environment,
            disk: Arc::new(OsDisk),
        }
    }
}

impl FetchOptions {
    /// The defaults, with the mirror that `STIEFEL_MIRROR` names.
    pub fn from_env() -> Self {
        Self {
            mirror: std::env::var("STIEFEL_MIRROR")
                .ok()
                .filter(|m| !m.is_empty()),
            ..Self::default()
        }
    }

    /// Refuses a mirror that is no address.
    pub(super) fn check(&self) -> Result<()> {
        let Some(mirror) = &self.mirror else {
            return Ok(());
        };
        let wrong = |reason: &str| {
            Err(CatalogueError::Setting {
                setting: "mirror",
                value: mirror.clone(),
                reason: format!("{reason}; write it like https://mirror.example.org/eeg"),
            })
        };
        let rest = mirror
            .strip_prefix("https://")
            .or_else(|| mirror.strip_prefix("http://"));
        match rest {
            None => wrong("it does not start with http:// or https://"),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                wrong("it does not name a host")
            }
            Some(rest) if rest.contains(['?', '#', ' ']) => {
                wrong("it has more than a host and a path")
            }
            Some(_) => Ok(()),
        }
    }

    /// The address to use: the mirror in place of scheme and host.
    pub(super) fn address(&self, url: &str) -> String {
        let Some(mirror) = &self.mirror else {
            return url.to_string();
        };
        let host = url.find("://").map_or(0, |at| at + 3);
        let path = url[host..].find('/').map_or("", |at| &url[host + at..]);
        format!("{}{path}", mirror.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_replaces_scheme_and_host() {
        let url = "https://lampx.tugraz.at/~bci/database/001-2014/A01T.mat";
        for (mirror, address) in [
            (None, url),
            (
                Some("http://127.0.0.1:80"),
                "http://127.0.0.1:80/~bci/database/001-2014/A01T.mat",
            ),
            (
                Some("https://m.org/eeg/"),
                "https://m.org/eeg/~bci/database/001-2014/A01T.mat",
            ),
        ] {
            let options = FetchOptions {
                mirror: mirror.map(Into::into),
                ..FetchOptions::default()
            };
            options.check().unwrap();
            assert_eq!(options.address(url), address);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for mirror in [
            "",
            "m.org",
            "ftp://m.org",
            "https://",
            "https:///x",
            "https://m.org/?a",
            "/data",
        ] {
            let options = FetchOptions {
                mirror: Some(mirror.into()),
                ..FetchOptions::default()
            };
            assert!(
                matches!(options.check(), Err(CatalogueError::Setting { .. })),
                "{mirror}"
            );
        }
    }
}
