//! Who hears the decisions, beside the standard output.

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

use stiefel::live::lsl::{Lsl, Outlet};
use stiefel::live::{Event, LiveError, Page, Session, Sink, Summary};

use crate::failure::Failure;
use crate::output::Output;
use crate::voice::say;

#[derive(Debug, Args)]
pub(crate) struct Sinks {
    /// Also send decisions as an LSL stream of this name
    #[arg(long, value_name = "NAME")]
    outlet: Option<String>,
    /// The file of the LSL library [default: STIEFEL_LIBLSL, the system's, or that of the Python
    /// package pylsl or mne-lsl]
    #[arg(long, value_name = "FILE")]
    liblsl: Option<PathBuf>,
    /// Serve a live page on this machine; its address is printed
    #[arg(long)]
    page: bool,
    /// Serve the page at this address, to everybody who has the printed token
    #[arg(long, value_name = "ADDRESS:PORT", requires = "page")]
    listen: Option<SocketAddr>,
}

impl Sinks {
    /// The LSL library.
    pub(super) fn lsl(&self) -> Result<Lsl, Failure> {
        Ok(Lsl::load(self.liblsl.as_deref())?)
    }

    /// The live page, where one is wanted; says where it is.
    pub(super) fn page(&self, session: &Session) -> Result<Option<Page>, Failure> {
        if !self.page {
            return Ok(None);
        }
        let page = Page::serve(session, self.listen)?;
        say(&format!("live page: {}", page.url()));
        Ok(Some(page))
    }

    /// The stream of decisions, where one is wanted.
    pub(super) fn outlet(&self, classes: &[String]) -> Result<Option<ToLsl>, Failure> {
        let Some(name) = &self.outlet else {
            return Ok(None);
        };
        Ok(Some(ToLsl(Outlet::new(&self.lsl()?, name, classes)?)))
    }
}

/// JSON lines on the standard output.
pub(super) struct ToOutput<'a>(pub(super) &'a mut Output);

impl ToOutput<'_> {
    fn write(&mut self, line: &str) -> Result<(), LiveError> {
        Ok(self.0.raw(line)?)
    }
}

impl Sink for ToOutput<'_> {
    fn event(&mut self, _: &Event<'_>, line: &str) -> Result<(), LiveError> {
        self.write(line)
    }

    fn stream(&mut self, line: &str) -> Result<(), LiveError> {
        self.write(line)
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), LiveError> {
        let mut value = serde_json::to_value(summary).map_err(std::io::Error::from)?;
        value["type"] = "summary".into();
        self.write(&value.to_string())
    }
}

/// An LSL stream of decisions.
pub(super) struct ToLsl(Outlet);

impl Sink for ToLsl {
    fn event(&mut self, event: &Event<'_>, _: &str) -> Result<(), LiveError> {
        if let Event::Window(window) = event {
            self.0.send(window);
        }
        Ok(())
    }
}
