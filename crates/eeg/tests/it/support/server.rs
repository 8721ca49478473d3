//! An HTTP server on 127.0.0.1 that misbehaves as told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    /// How many requests came before it.
    pub(crate) number: usize,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|h| h.0.eq_ignore_ascii_case(name));
        found.map(|h| h.1.as_str())
    }

    /// The first byte of `Range: bytes=n-`.
    pub(crate) fn range(&self) -> Option<usize> {
        let range = self.header("range")?.strip_prefix("bytes=")?;
        range.strip_suffix('-')?.parse().ok()
    }
}

/// What to answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Close the connection after so many bytes of the body.
    pub(crate) cut: Option<usize>,
    /// Say nothing more after so many bytes of the body, and keep the connection open.
    pub(crate) stall: Option<usize>,
    /// Send no Content-Length, but chunks.
    pub(crate) chunked: bool,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The whole file.
    pub(crate) fn whole(bytes: &[u8], etag: &str) -> Self {
        let reply = Self {
            status: 200,
            body: bytes.to_vec(),
            ..Self::default()
        };
        reply.with("ETag", etag)
    }

    /// The file or the part of it that was asked for, as a good server does.
    pub(crate) fn file(bytes: &[u8], etag: &str, request: &Request) -> Self {
        let same = request.header("if-range").is_none_or(|tag| tag == etag);
        match request.range().filter(|_| same) {
            None => Self::whole(bytes, etag),
            Some(from) if from >= bytes.len() => {
                Self::status(416).with("Content-Range", format!("bytes */{}", bytes.len()))
            }
            Some(from) => {
                let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
                let reply = Self {
                    status: 206,
                    body: bytes[from..].to_vec(),
                    ..Self::default()
                };
                reply.with("ETag", etag).with("Content-Range", range)
            }
        }
    }

    pub(crate) fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    pub(crate) fn stall(mut self, after: usize) -> Self {
        self.stall = Some(after);
        self
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

/// Runs until dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    address: std::net::SocketAddr,
    log: Arc<Mutex<Vec<Request>>>,
    done: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub(crate) fn new(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (log, done) = (
            Arc::<Mutex<Vec<Request>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let handler: Arc<Handler> = Arc::new(handler);
        let (inner_log, inner_done) = (log.clone(), done.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if inner_done.load(Ordering::SeqCst) {
                    return;
                }
                let (log, done, handler) = (inner_log.clone(), inner_done.clone(), handler.clone());
                // A client that hangs up in the middle is part of the tests.
                std::thread::spawn(move || stream.and_then(|s| serve(s, &log, &done, &*handler)));
            }
        });
        Self {
            url: format!("http://{address}"),
            address,
            log,
            done,
            thread: Some(thread),
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.log.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.done.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(
    stream: TcpStream,
    log: &Mutex<Vec<Request>>,
    done: &AtomicBool,
    handler: &Handler,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let Some(mut request) = read_request(&mut reader)? else {
            return Ok(());
        };
        {
            let mut log = log.lock().unwrap();
            request.number = log.len();
            log.push(request.clone());
        }
        if request.method == "CONNECT" {
            // The server is its own other side of the tunnel.
            stream.write_all(b"HTTP/1.1 200 tunnel\r\n\r\n")?;
            continue;
        }
        return answer(&mut stream, &handler(&request), done);
    }
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let mut request = Request {
        method: method.into(),
        path: path.into(),
        headers: Vec::new(),
        number: 0,
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => request.headers.push((name.into(), value.trim().into())),
            None => return Ok(Some(request)),
        }
    }
}

fn answer(stream: &mut TcpStream, reply: &Reply, done: &AtomicBool) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {} reply\r\nConnection: close\r\n",
        reply.status
    )?;
    for (name, value) in &reply.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    if reply.chunked {
        write!(stream, "Transfer-Encoding: chunked\r\n\r\n")?;
    } else {
        write!(stream, "Content-Length: {}\r\n\r\n", reply.body.len())?;
    }
    let end = reply.cut.or(reply.stall).unwrap_or(reply.body.len());
    let body = &reply.body[..end.min(reply.body.len())];
    if reply.chunked {
        for chunk in body.chunks(5000) {
            stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
            stream.write_all(chunk)?;
            stream.write_all(b"\r\n")?;
        }
        if reply.cut.is_none() {
            stream.write_all(b"0\r\n\r\n")?;
        }
    } else {
        stream.write_all(body)?;
    }
    stream.flush()?;
    if reply.stall.is_some() {
        while !done.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
        return Ok(());
    }
    // Closing with unread bytes would reset the connection and lose what was sent.
    stream.shutdown(std::net::Shutdown::Write)?;
    let _ = stream.read(&mut [0; 64]);
    Ok(())
}
