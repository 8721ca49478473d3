//! HTTP: one GET, from the start or from a byte on.

use std::io::Read;
use std::time::Duration;

use ureq::http::{HeaderMap, Response};
use ureq::tls::{PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::options::{FetchOptions, Proxy};
use super::part::Version;
use crate::error::catalogue::{CatalogueError, Result};

/// The longest pause that a server may ask for.
const LONGEST_PAUSE: u64 = 60;

/// Makes requests.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
}

/// Why there was no answer.
pub(super) struct NoAnswer {
    pub(super) reason: String,
    /// Whether another attempt may fare better.
    pub(super) passing: bool,
}

/// The head of an answer; the bytes follow.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) version: Version,
    /// Where the bytes of a partial answer start.
    pub(super) start: Option<u64>,
    /// The pause that the server asks for.
    pub(super) retry_after: Option<Duration>,
    /// Whether a web page came instead of a file.
    pub(super) is_page: bool,
    body: Body,
}

impl Client {
    pub(super) fn new(options: &FetchOptions) -> Result<Self> {
        options.check()?;
        let proxy = match &options.proxy {
            Proxy::Environment => ureq::Proxy::try_from_env(),
            Proxy::Direct => None,
            Proxy::Url(url) => {
                Some(
                    ureq::Proxy::new(url).map_err(|error| CatalogueError::Setting {
                        setting: "proxy",
                        value: url.clone(),
                        reason: error.to_string(),
                    })?,
                )
            }
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .user_agent(concat!("stiefel/", env!("CARGO_PKG_VERSION")))
            // Sizes and ranges must be those of the file, not of a compressed form.
            .accept_encoding("identity")
            .timeout_resolve(Some(options.connect_timeout))
            .timeout_connect(Some(options.connect_timeout))
            .timeout_recv_response(Some(options.read_timeout))
            .timeout_per_read(Some(options.read_timeout));
        if let Some(file) = std::env::var_os("SSL_CERT_FILE").filter(|f| !f.is_empty()) {
            config = config.tls_config(certificates(file.as_ref())?);
        }
        Ok(Self {
            agent: config.build().new_agent(),
        })
    }

    /// Asks for a file, or for the rest of it after `held` bytes of one version.
    pub(super) fn get(
        &self,
        url: &str,
        held: Option<&(u64, Version)>,
    ) -> std::result::Result<Answer, NoAnswer> {
        let mut request = self.agent.get(url);
        if let Some((from, version)) = held {
            request = request.header("Range", format!("bytes={from}-"));
            if let Some(condition) = version.condition() {
                request = request.header("If-Range", condition);
            }
        }
        match request.call() {
            Ok(response) => Ok(Answer::new(url, response)),
            Err(error) => Err(NoAnswer {
                passing: passing(&error),
                reason: error.to_string(),
            }),
        }
    }
}

/// The certificates of networks that open TLS connections themselves.
fn certificates(file: &std::path::Path) -> Result<TlsConfig> {
    let wrong = |reason: String| CatalogueError::Setting {
        setting: "certificate file SSL_CERT_FILE",
        value: file.display().to_string(),
        reason,
    };
    let pem = crate::io::read_at_most(file, 16 << 20).map_err(|error| wrong(error.to_string()))?;
    let certificates: Vec<_> = ureq::tls::parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(wrong("it holds no certificate".into()));
    }
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).build())
}

/// Whether another attempt may fare better.
fn passing(error: &ureq::Error) -> bool {
    use ureq::Error;
    !matches!(
        error,
        Error::BadUri(_)
            | Error::Http(_)
            | Error::InvalidProxyUrl
            | Error::RedirectFailed
            | Error::TooManyRedirects
            | Error::Tls(_)
            | Error::Rustls(_)
    )
}

impl Answer {
    fn new(url: &str, response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let text = |name: &str| header(&head.headers, name);
        let status = head.status.as_u16();
        let (start, total) = match text("content-range") {
            Some(range) => content_range(&range),
            None if status == 200 => (None, text("content-length").and_then(|l| l.parse().ok())),
            None => (None, None),
        };
        let seconds = text("retry-after").and_then(|s| s.parse::<u64>().ok());
        Self {
            status,
            version: Version {
                url: url.to_string(),
                etag: text("etag"),
                last_modified: text("last-modified"),
                total,
            },
            start,
            retry_after: seconds.map(|s| Duration::from_secs(s.min(LONGEST_PAUSE))),
            is_page: text("content-type").is_some_and(|t| t.starts_with("text/html")),
            body,
        }
    }

    /// The bytes.
    pub(super) fn into_reader(self) -> impl Read {
        self.body.into_reader()
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.trim().to_string())
}

/// Start and total of `bytes 100-199/1000`, `bytes 100-199/*` or `bytes */1000`.
fn content_range(text: &str) -> (Option<u64>, Option<u64>) {
    let Some((range, total)) = text.strip_prefix("bytes ").and_then(|t| t.split_once('/')) else {
        return (None, None);
    };
    let start = range
        .split_once('-')
        .and_then(|(start, _)| start.parse().ok());
    (start, total.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(content_range("bytes 100-199/1000"), (Some(100), Some(1000)));
        assert_eq!(content_range("bytes 100-199/*"), (Some(100), None));
        assert_eq!(content_range("bytes */1000"), (None, Some(1000)));
        for strange in ["", "bytes", "bytes x-y/z", "lines 1-2/3", "bytes /"] {
            assert_eq!(content_range(strange), (None, None), "{strange}");
        }
    }
}
