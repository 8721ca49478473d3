//! Long work for Python: it runs on a thread of its own, while the thread that holds the
//! interpreter passes on what it tells and asks for signals ten times a second, so that Ctrl-C ends
//! it and raises `KeyboardInterrupt`.

use crate::error::value_error;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often the interpreter is asked for signals.
const POLL: Duration = Duration::from_millis(100);

/// Runs `work`, gives `tell` what it sends, and calls `stop` once at a signal or an error of
/// `tell`, which is then raised.
pub(crate) fn watched<M: Send, R: Send>(
    py: Python<'_>,
    work: impl FnOnce(Sender<M>) -> R + Send,
    stop: impl Fn(),
    mut tell: impl FnMut(M) -> PyResult<()>,
) -> PyResult<R> {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || work(sender));
        let mut failure = None;
        loop {
            let told = match py.detach(|| hear(&receiver)) {
                Ok(_) if failure.is_some() => continue,
                Ok(message) => tell(message),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = told.and_then(|()| py.check_signals())
                && failure.is_none()
            {
                stop();
                failure = Some(error);
            }
        }
        let result = py.detach(|| worker.join());
        if let Some(error) = failure {
            return Err(error);
        }
        result.map_err(|_| value_error("the core ended in a panic; please report it"))
    })
}

fn hear<M>(receiver: &Mutex<Receiver<M>>) -> Result<M, RecvTimeoutError> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.recv_timeout(POLL)
}
