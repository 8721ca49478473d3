//! Samples over TCP, as on the standard input: lines of text, or little-endian numbers. The sender
//! listens, and is connected to.

use std::io::BufReader;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::{LiveError, Result};

/// How long a sender may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Connects to a sender at `HOST:PORT`; what it sends is read by [`Samples`](super::Samples).
///
/// ```
/// use std::io::Write;
/// use stiefel_live::source::{Samples, SamplesOptions, connect};
///
/// let sender = std::net::TcpListener::bind("127.0.0.1:0")?;
/// let input = connect(&sender.local_addr()?.to_string())?;
/// writeln!(sender.accept()?.0, "C3,C4\n1.5,2.5")?;
/// let samples = Samples::new(input, &SamplesOptions::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn connect(address: &str) -> Result<BufReader<TcpStream>> {
    let failed = |error: &dyn std::fmt::Display| {
        LiveError::failed(
            format!("no connection to {address}: {error}"),
            "give HOST:PORT, and start the sender first",
        )
    };
    let places = address.to_socket_addrs().map_err(|e| failed(&e))?;
    let mut last = None;
    for place in places {
        match TcpStream::connect_timeout(&place, ANSWER) {
            Ok(stream) => return Ok(BufReader::new(stream)),
            Err(error) => last = Some(error),
        }
    }
    Err(match last {
        Some(error) => failed(&error),
        None => failed(&"the name has no address"),
    })
}
