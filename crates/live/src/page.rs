//! A live page for a browser: signal quality, band power over the scalp, decision and evidence over
//! time, routing or what each view adds, latency.
//!
//! One file of HTML without anything from elsewhere, and server-sent events. It listens on the
//! loopback and answers only requests that name the loopback; at another address it answers only
//! requests that have the token.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stiefel_eeg::montage::position;
use tiny_http::{Header, Request, Response, Server};

use crate::run::Sink;
use crate::session::Session;
use crate::summary::Summary;
use crate::window::{Event, Window};
use crate::{LiveError, Result};

const HTML: &str = include_str!("page.html");

/// Windows that somebody who comes later still sees.
const KEPT: usize = 240;
/// Messages that a slow reader may be behind before it is let go.
const BEHIND: usize = 256;
/// Readers at a time.
const READERS: usize = 16;
/// How often a silent stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(10);

/// How long the last word takes to be heard.
const LAST_WORD: Duration = Duration::from_millis(200);

type Message = Arc<str>;

#[derive(Debug, Default)]
struct Readers {
    senders: Vec<SyncSender<Message>>,
    kept: VecDeque<Message>,
}

/// A page that is served.
pub struct Page {
    server: Arc<Server>,
    url: String,
    readers: Arc<Mutex<Readers>>,
    text: String,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Page({})", self.url)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

/// Who may ask.
#[derive(Debug, Clone)]
struct Door {
    token: Option<String>,
    port: u16,
}

impl Page {
    /// Serves a page for a session: on the loopback, or at an address that is given, with a token.
    pub fn serve(session: &Session, listen: Option<SocketAddr>) -> Result<Self> {
        let address = listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        let server = Server::http(address).map_err(|error| {
            LiveError::failed(
                format!("no page can be served at {address}: {error}"),
                "choose another address or port",
            )
        })?;
        let port = server.server_addr().to_ip().map_or(0, |ip| ip.port());
        let token = listen.map(|_| token()).transpose()?;
        let host = SocketAddr::new(address.ip(), port);
        let url = match &token {
            Some(token) => format!("http://{host}/?token={token}"),
            None => format!("http://{host}/"),
        };
        let (server, readers) = (Arc::new(server), Arc::new(Mutex::new(Readers::default())));
        let (door, about) = (Door { token, port }, about(session)?);
        let (serving, heard) = (Arc::clone(&server), Arc::clone(&readers));
        std::thread::spawn(move || {
            for request in serving.incoming_requests() {
                answer(request, &door, &about, &heard);
            }
        });
        Ok(Self {
            server,
            url,
            readers,
            text: String::new(),
        })
    }

    /// Where it is, with the token.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn send(&self, message: &str, keep: bool) {
        let message: Message = message.into();
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.senders.retain(|sender| {
            !matches!(
                sender.try_send(Arc::clone(&message)),
                Err(TrySendError::Disconnected(_) | TrySendError::Full(_))
            )
        });
        if keep {
            if readers.kept.len() == KEPT {
                readers.kept.pop_front();
            }
            readers.kept.push_back(message);
        }
    }
}

impl Sink for Page {
    fn event(&mut self, event: &Event<'_>, line: &str) -> Result<()> {
        self.text.clear();
        self.text.push_str("event: line\ndata: {\"line\":");
        self.text.push_str(line);
        if let Event::Window(window) = event {
            electrodes(&mut self.text, window);
        }
        self.text.push_str("}\n\n");
        self.send(&self.text, true);
        Ok(())
    }

    fn stream(&mut self, line: &str) -> Result<()> {
        self.send(&format!("event: line\ndata: {{\"line\":{line}}}\n\n"), true);
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<()> {
        let text = serde_json::to_string(&summary.to_string()).map_err(std::io::Error::from)?;
        self.send(&format!("event: end\ndata: {text}\n\n"), true);
        // The program may end now; readers get the time to hear it.
        std::thread::sleep(LAST_WORD);
        Ok(())
    }
}

/// Faults, and the logarithm of the broad band's power, of every electrode.
fn electrodes(text: &mut String, window: &Window<'_>) {
    if let Some(electrodes) = window.electrodes {
        text.push_str(",\"faults\":[");
        for (i, electrode) in electrodes.iter().enumerate() {
            let fault = electrode.fault.map_or("", |f| f.name());
            // Writing into a string cannot fail.
            let _ = write!(text, "{}\"{fault}\"", if i > 0 { "," } else { "" });
        }
        text.push(']');
        if let Some(covariances) = window.covariances {
            let n = electrodes.len();
            text.push_str(",\"power\":[");
            for i in 0..n {
                let power = covariances[i * n + i].max(f64::MIN_POSITIVE).log10();
                let _ = write!(text, "{}{power:.4}", if i > 0 { "," } else { "" });
            }
            text.push(']');
        }
    }
}

/// What does not change: names, places of the electrodes, rate.
fn about(session: &Session) -> Result<Message> {
    let channels = session.channels().iter().map(|name| {
        let place = position(name);
        serde_json::json!({ "name": name, "x": place.map(|p| p[0]), "y": place.map(|p| p[1]), "z": place.map(|p| p[2]) })
    });
    let views = session.views().iter().map(|v| {
        let ([low, high], [from, to]) = (v.band, v.window);
        format!("{low}–{high} Hz, {from}–{to} s")
    });
    let about = serde_json::json!({
        "model": session.model().name(),
        "domain": session.domain(),
        "classes": session.model().classes(),
        "rate": session.timing().rate,
        "views": views.collect::<Vec<_>>(),
        "channels": channels.collect::<Vec<_>>(),
    });
    let text = serde_json::to_string(&about).map_err(std::io::Error::from)?;
    Ok(format!("event: about\ndata: {text}\n\n").into())
}

/// 128 random bits.
fn token() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        LiveError::failed(
            format!("no random token can be drawn: {error}"),
            "serve the page on this machine only",
        )
    })?;
    Ok(stiefel_data::hex(&bytes))
}

impl Door {
    /// Whether a request may come in.
    fn admits(&self, request: &Request) -> bool {
        if let Some(token) = &self.token {
            let query = request.url().split_once('?').map_or("", |(_, query)| query);
            let given = query
                .split('&')
                .find_map(|part| part.strip_prefix("token="));
            return given.is_some_and(|given| same(given.as_bytes(), token.as_bytes()));
        }
        // A page of somebody else whose name was made to point here does not name the loopback.
        let host = request.headers().iter().find(|h| h.field.equiv("Host"));
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        host.is_some_and(|h| own.iter().any(|o| h.value.as_str().eq_ignore_ascii_case(o)))
    }
}

/// Compares all bytes, however early they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

fn answer(request: Request, door: &Door, about: &Message, readers: &Arc<Mutex<Readers>>) {
    // Somebody who has gone away hears no answer; that is all.
    if !door.admits(&request) {
        let _ = request.respond(
            Response::from_string("forbidden: open the address that was printed")
                .with_status_code(403),
        );
        return;
    }
    match request.url().split('?').next() {
        Some("/") => {
            let headers = [
                ("Content-Type", "text/html; charset=utf-8"),
                ("Cache-Control", "no-store"),
                (
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                     connect-src 'self'; img-src data:",
                ),
            ];
            let mut response = Response::from_string(HTML);
            for (name, value) in headers {
                if let Ok(header) = Header::from_bytes(name, value) {
                    response.add_header(header);
                }
            }
            let _ = request.respond(response);
        }
        Some("/events") => {
            let (sender, receiver) = sync_channel(BEHIND + KEPT);
            let kept: Vec<Message> = {
                let mut readers = readers.lock().unwrap_or_else(PoisonError::into_inner);
                if readers.senders.len() >= READERS {
                    let _ = request
                        .respond(Response::from_string("too many readers").with_status_code(503));
                    return;
                }
                readers.senders.push(sender);
                readers.kept.iter().cloned().collect()
            };
            let about = Arc::clone(about);
            std::thread::spawn(move || {
                // Ends when the reader has gone away, or the session is over.
                let _ = tell(request, &about, &kept, &receiver);
            });
        }
        _ => {
            let _ = request.respond(Response::from_string("not found").with_status_code(404));
        }
    }
}

fn tell(
    request: Request,
    about: &str,
    kept: &[Message],
    receiver: &Receiver<Message>,
) -> std::io::Result<()> {
    let mut out = request.into_writer();
    out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")?;
    out.write_all(about.as_bytes())?;
    for message in kept {
        out.write_all(message.as_bytes())?;
    }
    out.flush()?;
    loop {
        match receiver.recv_timeout(ALIVE) {
            Ok(message) => out.write_all(message.as_bytes())?,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                out.write_all(b": still here\n\n")?;
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
        }
        out.flush()?;
    }
}
