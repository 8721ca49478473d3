//! The live page answers on the loopback, tells its readers what happens, and lets nobody else in.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use stiefel_live::{Lines, Options, Page, Session, Sink};

use crate::study::{N, STUDY, description, frames, session, several_views};

/// The answer to a request; of a stream of events what comes within a second.
fn ask(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let (mut answer, mut buffer) = (Vec::new(), vec![0; 65536]);
    while let Ok(count) = stream.read(&mut buffer) {
        if count == 0 {
            break;
        }
        answer.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_page_on_the_loopback() {
    let mut live = session(Options::default());
    let mut page = Page::serve(&live, None).unwrap();
    let address = page
        .url()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    assert!(address.starts_with("127.0.0.1:"));
    let html = ask(&address, "/", &address);
    assert!(
        html.starts_with("HTTP/1.1 200") && html.contains("stiefel live"),
        "{html:.200}"
    );
    // Nothing is asked of anybody else.
    assert!(
        !html.contains("src=\"http")
            && !html.contains("href=\"http")
            && html.contains("default-src 'none'")
    );
    let mut lines = Lines::default();
    let block = stiefel_live::Block {
        samples: frames(&STUDY.recording)[..N * 128 * 8].to_vec(),
        ..stiefel_live::Block::default()
    };
    live.push(&block, &mut |event| {
        let line = lines.event(&event, Duration::ZERO).to_owned();
        page.event(&event, &line).unwrap();
    })
    .unwrap();
    let events = ask(&address, "/events", &address);
    assert!(
        events.contains("text/event-stream") && events.contains("event: about"),
        "{events:.300}"
    );
    let data = events
        .lines()
        .find_map(|l| l.strip_prefix("data: {\"line\""))
        .unwrap();
    let message: serde_json::Value = serde_json::from_str(&format!("{{\"line\"{data}")).unwrap();
    assert_eq!(message["power"].as_array().unwrap().len(), N);
    assert_eq!(message["faults"].as_array().unwrap().len(), N);
    assert!(ask(&address, "/", "evil.example").starts_with("HTTP/1.1 403"));
    assert!(ask(&address, "/elsewhere", &address).starts_with("HTTP/1.1 404"));
}

#[test]
fn the_page_hears_what_each_view_adds() {
    let (model, made) = several_views();
    let decider = model.session("S01", None, &[]).unwrap();
    let options = Options::default();
    let mut live = Session::new(&model, decider, &made, &description(), options).unwrap();
    let mut page = Page::serve(&live, None).unwrap();
    let address = page.url().trim_start_matches("http://");
    let address = address.trim_end_matches('/').to_owned();
    let block = stiefel_live::Block {
        samples: frames(&STUDY.recording)[..N * 128 * 8].to_vec(),
        ..stiefel_live::Block::default()
    };
    let mut lines = Lines::default();
    live.push(&block, &mut |event| {
        let line = lines.event(&event, Duration::ZERO).to_owned();
        page.event(&event, &line).unwrap();
    })
    .unwrap();
    let events = ask(&address, "/events", &address);
    for name in [
        "8–32 Hz, 0.5–3.5 s",
        "10–14 Hz, 0.5–3.5 s",
        "8–32 Hz, 0.25–2.25 s",
    ] {
        assert!(events.contains(name), "{events:.600}");
    }
    let data = events
        .lines()
        .find_map(|l| l.strip_prefix("data: {\"line\""));
    let message: serde_json::Value =
        serde_json::from_str(&format!("{{\"line\"{}", data.unwrap())).unwrap();
    let line = &message["line"];
    let views = line["views"].as_array().unwrap().iter();
    let odds: f64 = views.map(|v| v.as_f64().unwrap()).sum();
    let p = line["probabilities"]["feet"].as_f64().unwrap();
    assert!((odds - (p / (1.0 - p)).ln().abs()).abs() < 1e-9, "{line}");
}

#[test]
fn elsewhere_only_with_the_token() {
    let listen: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let page = Page::serve(&session(Options::default()), Some(listen)).unwrap();
    let (address, path) = page
        .url()
        .trim_start_matches("http://")
        .split_once('/')
        .unwrap();
    let path = format!("/{path}");
    assert!(
        path.starts_with("/?token=") && path.len() == 8 + 32,
        "{path}"
    );
    assert!(ask(address, &path, "anything").starts_with("HTTP/1.1 200"));
    for wrong in [
        "/",
        "/?token=",
        "/events",
        "/?token=00000000000000000000000000000000",
        &path[..39],
    ] {
        assert!(
            ask(address, wrong, address).starts_with("HTTP/1.1 403"),
            "{wrong}"
        );
    }
    let taken: SocketAddr = address.parse().unwrap();
    let error = Page::serve(&session(Options::default()), Some(taken)).unwrap_err();
    assert!(
        error.to_string().contains("no page can be served"),
        "{error}"
    );
}
