//! One file over the network, in as many attempts as it takes.
//!
//! ```text
//! nothing here      GET                       200 → write from the start
//! n bytes here      GET, Range: bytes=n-,     206, same version → append
//!                   If-Range: the version     200 → the file changed or the server knows no ranges: from the start
//!                                             206 of another version or place, 416 → discard, ask again without a range
//! 408 425 429 5xx, no answer, a cut, a stall  → wait, try again
//! ```

use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::Sha256;
use super::super::disk::{DiskFile, publish};
use super::super::files::Kind;
use super::Context;
use super::client::{Answer, NoAnswer};
use super::observer::Progress;
use super::part::Part;
use crate::error::catalogue::{CatalogueError, Result};

/// No pause is longer, unless the server asks for it.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A file whose size the server does not tell may not grow beyond this.
const LARGEST: u64 = 64 << 30;

/// One file to be downloaded.
pub(super) struct Download<'d> {
    context: &'d Context<'d>,
    name: &'d str,
    url: String,
    target: &'d Path,
    part: Part,
}

/// Why an attempt ended before the file was whole.
enum Ended {
    /// Try again, after so long.
    Passing(String, Option<Duration>),
    /// Do not.
    Final(CatalogueError),
}

impl From<CatalogueError> for Ended {
    fn from(error: CatalogueError) -> Self {
        Self::Final(error)
    }
}

impl<'d> Download<'d> {
    pub(super) fn new(
        context: &'d Context<'d>,
        name: &'d str,
        url: &str,
        target: &'d Path,
    ) -> Self {
        Self {
            context,
            name,
            url: context.fetcher.options.address(url),
            target,
            part: Part::of(target),
        }
    }

    /// Downloads and checks; the bytes are in the part file afterwards.
    pub(super) fn run(
        &self,
        kind: Kind,
        expected: Option<(Sha256, &'static str)>,
    ) -> Result<(Sha256, u64)> {
        let resumed = self.part.len() > 0;
        self.arrive()?;
        match self.checked(kind, expected) {
            // Old bytes may be to blame: once more, from the start.
            Err(error) if resumed => {
                self.restart(&format!("the joined parts are not the file: {error}"));
                self.arrive()?;
                self.checked(kind, expected)
            }
            other => other,
        }
    }

    /// Gives the bytes their final name.
    pub(super) fn publish(&self) -> Result<()> {
        publish(&self.part.path, self.target)?;
        self.part.forget_version();
        Ok(())
    }

    /// Compares with what the file should be; discards what it is not.
    fn checked(
        &self,
        kind: Kind,
        expected: Option<(Sha256, &'static str)>,
    ) -> Result<(Sha256, u64)> {
        let (found, bytes) = (Sha256::of_file(&self.part.path)?, self.part.len());
        if let Some((expected, because)) = expected.filter(|e| e.0 != found) {
            self.part.discard();
            return Err(CatalogueError::Checksum {
                path: self.target.to_path_buf(),
                expected: expected.to_string(),
                found: found.to_string(),
                because,
                action: "the download was deleted; try again or another --mirror. If the \
                         publisher has replaced the file, delete its entry in checksums.json"
                    .into(),
            });
        }
        if let Err(reason) = kind.check(&self.part.path)? {
            self.part.discard();
            return Err(CatalogueError::Content {
                path: self.target.to_path_buf(),
                reason: format!(
                    "the file that came from {}: {reason}; it was deleted",
                    self.url
                ),
            });
        }
        Ok((found, bytes))
    }

    /// Attempts until the file is whole.
    fn arrive(&self) -> Result<()> {
        let options = &self.context.fetcher.options;
        let (mut failures, mut furthest) = (0, self.part.len());
        loop {
            let (reason, asked) = match self.attempt() {
                Ok(()) => return Ok(()),
                Err(Ended::Final(error)) => return Err(error),
                Err(Ended::Passing(reason, asked)) => (reason, asked),
            };
            // Only ground that was never reached before counts as progress: without ranges every
            // attempt brings bytes.
            let reached = self.part.len();
            if reached > furthest {
                (furthest, failures) = (reached, 0);
            }
            failures += 1;
            if failures >= options.attempts.max(1) {
                return Err(CatalogueError::Network {
                    url: self.url.clone(),
                    attempts: failures,
                    reason,
                });
            }
            let pause = asked.unwrap_or_else(|| backoff(options.backoff, failures));
            self.context.tell(&Progress::Retrying {
                name: self.name,
                attempt: failures,
                attempts: options.attempts,
                pause,
                reason: &reason,
            });
            self.wait(pause)?;
        }
    }

    /// Waits, but not when the fetch is to stop.
    fn wait(&self, pause: Duration) -> Result<()> {
        let end = Instant::now() + pause;
        loop {
            self.context.check_stop()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn ask(
        &self,
        held: Option<&(u64, super::part::Version)>,
    ) -> std::result::Result<Answer, Ended> {
        let answer = self.context.fetcher.client.get(&self.url, held);
        answer.map_err(|NoAnswer { reason, passing }| {
            if passing {
                Ended::Passing(reason, None)
            } else {
                Ended::Final(CatalogueError::Network {
                    url: self.url.clone(),
                    attempts: 1,
                    reason,
                })
            }
        })
    }

    fn attempt(&self) -> std::result::Result<(), Ended> {
        self.context.check_stop()?;
        let held = self.part.held(&self.url);
        let mut answer = self.ask(held.as_ref())?;
        if let Some((len, version)) = &held {
            let continues = answer.status == 206
                && answer.start == Some(*len)
                && version.agrees(&answer.version);
            if continues {
                return self.receive(answer, *len);
            }
            if answer.status == 200 {
                self.restart(
                    "the server sent the whole file: it has changed there, or the server cannot \
                     send parts",
                );
            } else if matches!(answer.status, 206 | 416) {
                self.restart("the file has changed on the server");
                answer = self.ask(None)?;
            }
        }
        match answer.status {
            200 if answer.is_page => Err(Ended::Final(CatalogueError::Content {
                path: self.target.to_path_buf(),
                reason: format!(
                    "{} answered with a web page instead of the file: the network may need a \
                     log-in; open the address in a browser",
                    self.url
                ),
            })),
            200 => {
                self.part.note(&answer.version)?;
                self.receive(answer, 0)
            }
            408 | 425 | 429 | 500 | 502 | 503 | 504 => Err(Ended::Passing(
                format!("the server answered {}", answer.status),
                answer.retry_after,
            )),
            status => Err(Ended::Final(CatalogueError::Refused {
                url: self.url.clone(),
                status,
            })),
        }
    }

    fn restart(&self, reason: &str) {
        self.part.discard();
        self.context.tell(&Progress::Restarted {
            name: self.name,
            reason,
        });
    }

    /// Writes what arrives after the first `from` bytes.
    fn receive(&self, answer: Answer, from: u64) -> std::result::Result<(), Ended> {
        let total = answer.version.total;
        self.context.tell(&Progress::Started {
            name: self.name,
            url: &self.url,
            from,
            total,
        });
        let disk = &self.context.fetcher.options.disk;
        let mut file = disk
            .open(&self.part.path, from > 0)
            .map_err(|source| CatalogueError::writing(&self.part.path, source))?;
        let bytes = self.copy(answer.into_reader(), file.as_mut(), from, total)?;
        file.sync()
            .map_err(|source| self.unwritten(source, total))?;
        match total {
            Some(total) if bytes < total => Err(Ended::Passing(
                format!("the connection ended after {bytes} of {total} bytes"),
                None,
            )),
            _ => Ok(()),
        }
    }

    fn copy(
        &self,
        mut body: impl Read,
        file: &mut dyn DiskFile,
        from: u64,
        total: Option<u64>,
    ) -> std::result::Result<u64, Ended> {
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = from;
        loop {
            self.context.check_stop()?;
            let count = match body.read(&mut buffer) {
                Ok(0) => return Ok(bytes),
                Ok(count) => count,
                Err(error) => return Err(Ended::Passing(error.to_string(), None)),
            };
            if bytes + count as u64 > total.unwrap_or(LARGEST) {
                self.part.discard();
                return Err(Ended::Passing(
                    "more bytes came than announced".into(),
                    None,
                ));
            }
            let written = file.write_all(&buffer[..count]);
            written.map_err(|source| self.unwritten(source, total))?;
            bytes += count as u64;
            self.context.tell(&Progress::Advanced {
                name: self.name,
                bytes,
                total,
            });
        }
    }

    /// A failed write: what is on the disk so far can be built on.
    fn unwritten(&self, source: std::io::Error, total: Option<u64>) -> CatalogueError {
        match CatalogueError::writing(&self.part.path, source) {
            CatalogueError::DiskFull { path, .. } => {
                let written = self.part.len();
                if written == 0 {
                    self.part.discard();
                }
                CatalogueError::DiskFull {
                    path,
                    written,
                    total,
                    left_behind: if written == 0 {
                        "nothing was left behind"
                    } else {
                        "only the bytes that have arrived are kept, and the next attempt continues \
                         from there"
                    },
                }
            }
            other => other,
        }
    }
}

/// The pause after so many failures: doubling, and a random part so that clients do not come in
/// step.
fn backoff(first: Duration, failures: u32) -> Duration {
    let doubled = first.saturating_mul(1 << (failures - 1).min(16));
    let share = (RandomState::new().hash_one(failures) % 512) as f64 / 1024.0;
    doubled.min(LONGEST_PAUSE).mul_f64(0.5 + share)
}
