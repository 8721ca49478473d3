//! Subject 1 of BNCI 2014-001 from a server on this machine.

use stiefel_eeg::catalogue::{
    Dataset, FetchOptions, Fetcher, LocalFile, Progress, Result, Selection, find,
};

use super::server::{Reply, Request, Server};
use super::{Diary, matlab, options};

pub(crate) const SIZE: usize = 300_000;
pub(crate) const T: &str = "bnci2014001/A01T.mat";

pub(crate) fn bnci() -> &'static Dataset {
    find("bnci2014001").unwrap()
}

/// Subject 1 of BNCI 2014-001: A01T and A01E.
pub(crate) fn one() -> Selection {
    Selection::subjects([1])
}

pub(crate) fn seed(request: &Request) -> u64 {
    u64::from(request.path.ends_with("T.mat"))
}

/// A server that behaves.
pub(crate) fn good() -> Server {
    Server::new(|r| Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r))
}

pub(crate) fn run(fetcher: &Fetcher, diary: &Diary) -> Result<Vec<LocalFile>> {
    fetcher.fetch(bnci(), &one(), &|p: &Progress<'_>| diary.note(p))
}

pub(crate) fn serial(server: &Server) -> FetchOptions {
    FetchOptions {
        jobs: 1,
        ..options(&server.url)
    }
}
