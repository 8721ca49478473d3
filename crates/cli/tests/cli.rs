//! The program from outside: help, tables, JSON, exit codes, and fetching from a server on this
//! machine.
//!
//! Texts are compared with `tests/snapshots`; `STIEFEL_BLESS=1 cargo test -p stiefel-cli` writes
//! them anew.

#[path = "../../eeg/tests/it/support/server.rs"]
#[allow(dead_code, reason = "the tests of the library use the rest")]
mod server;

#[path = "cli/choir.rs"]
mod choir;
#[path = "cli/doors.rs"]
mod doors;
#[path = "cli/formats.rs"]
mod formats;
#[path = "cli/identities.rs"]
mod identities;
#[path = "cli/identity.rs"]
mod identity;
#[path = "cli/labels.rs"]
mod labels;
#[path = "cli/models.rs"]
mod models;
#[path = "cli/peers.rs"]
mod peers;
#[path = "cli/preparing.rs"]
mod preparing;
#[path = "cli/quality.rs"]
mod quality;
#[path = "cli/reading.rs"]
mod reading;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/recordings.rs"]
mod recordings;
#[path = "cli/settings.rs"]
mod settings;
#[path = "cli/streaming.rs"]
mod streaming;
#[path = "cli/studies.rs"]
mod studies;
#[path = "cli/toy.rs"]
mod toy;
#[path = "cli/views.rs"]
mod views;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use server::{Reply, Server};

/// A home folder of its own, removed at the end.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("home-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stiefel"));
        command
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            .env_clear()
            .env("HOME", &self.0)
            .env("STIEFEL_DATA", self.0.join("data"));
        command
    }

    fn run(&self, arguments: &str) -> Output {
        output(&mut self.command(arguments))
    }

    /// What is printed, with the folder for data replaced by a word.
    fn text(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.replace(self.0.join("data").to_str().unwrap(), "[DATA]")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// No program of these tests works longer, on any machine.
const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Starts a program with nothing to read and waits for its end.
fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null());
    finish(started(command))
}

/// Starts a program whose output is kept.
fn started(command: &mut Command) -> Child {
    let kept = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    kept.spawn().unwrap()
}

/// Waits for the end of a program and gives what it said. One that does not end in time is ended,
/// and the test fails.
fn finish(mut child: Child) -> Output {
    fn read(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            bytes
        })
    }
    let out = child.stdout.take().map(read);
    let err = child.stderr.take().map(read);
    let start = Instant::now();
    let (status, late) = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break (status, false);
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            break (child.wait().unwrap(), true);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let bytes = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        reader.map_or_else(Vec::new, |r| r.join().unwrap())
    };
    let output = Output {
        status,
        stdout: bytes(out),
        stderr: bytes(err),
    };
    assert!(!late, "no end after {LIMIT:?}: {output:?}");
    output
}

fn compare(name: &str, text: &str) {
    // The program under test has a kind that no release has.
    let lines = text.split_inclusive('\n');
    let text: String = lines.filter(|line| !line.starts_with("  toy ")).collect();
    let text = text.replace(", toy", "");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    if std::env::var_os("STIEFEL_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        text, stored,
        "{name}: run with STIEFEL_BLESS=1 if this is meant"
    );
}

fn code(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    (output.status.code().unwrap(), text)
}

#[test]
fn inspect_says_what_to_train_and_explains_the_scaling_rule() {
    let home = Home::new();
    let data = "synthetic:bnci2014001,subjects=2,trials=12";
    let text = home.text(&format!("inspect {data}"));
    for part in ["stiefel train synthetic:bnci2014001", "--model dasp", "ρ ="] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: Value = serde_json::from_str(&home.text(&format!("inspect {data} --json"))).unwrap();
    assert_eq!(json["networks"]["filters"]["value"], 20);
}

#[test]
fn the_demo_ends_in_a_report() {
    let home = Home::new();
    compare("demo_help", &home.text("demo --help"));
    let folder = home.0.join("demo");
    let out = folder.display();
    let output = home.run(&format!(
        "demo --subjects 2 --trials 12 --seed 3 --output {out}"
    ));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "2 people",
        "scaling rule",
        "permuted",
        "baseline",
        "choir",
        "report: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(folder.join("report.html").exists());
    // One person: nothing to route, and the program says so.
    let output = home.run(&format!("demo --subjects 1 --trials 12 --output {out}-one"));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("routing        off"), "{text}");
    assert_eq!(home.run("demo --subjects 0").status.code(), Some(2));
}

#[test]
fn help_and_tables() {
    let home = Home::new();
    for (name, arguments) in [
        ("stiefel", ""),
        ("help", "--help"),
        ("data_help", "data --help"),
        ("list_help", "data list --help"),
        ("info_help", "data info --help"),
        ("fetch_help", "data fetch --help"),
        ("path_help", "data path --help"),
        ("list", "data list"),
        ("list_json", "data list --json"),
        ("info_bnci2014001", "data info BNCI2014_001"),
        ("info_bnci2015001", "data info bnci2015001"),
        ("info_eegmmidb", "data info PhysionetMI"),
        ("info_weibo2014", "data info weibo2014"),
        ("info_json", "data info bnci2015001 --json"),
        ("path", "data path weibo2014"),
        ("path_json", "data path bnci2014001 --subjects 2 --json"),
    ] {
        let text = home.text(arguments);
        assert!(
            !text.contains('\u{1b}'),
            "{name}: no colours where nobody sees them"
        );
        compare(name, &text);
    }
    assert_eq!(
        home.text("-V"),
        concat!("stiefel ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let set = stiefel::linalg::instruction_set().unwrap();
    let long = concat!("stiefel ", env!("CARGO_PKG_VERSION"), "\ninstruction set: ");
    assert_eq!(home.text("--version"), format!("{long}{set}\n"));
}

#[test]
fn an_instruction_set_that_cannot_be_had_is_misuse() {
    let home = Home::new();
    let mut command = home.command("data list");
    let output = output(command.env("STIEFEL_SIMD", "avx1024"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("STIEFEL_SIMD=avx1024") && said.contains("scalar"),
        "{said}"
    );
}

#[test]
fn misuse_is_2_and_says_what_there_is() {
    let home = Home::new();
    for (arguments, reason) in [
        ("dta", "unrecognized subcommand"),
        ("data", "Usage: stiefel data [OPTIONS] <COMMAND>"),
        ("data info", "<NAME>"),
        (
            "data info nothing",
            "the catalogue has bnci2014001, bnci2015001, eegmat, eegmmidb, kalunga2016, weibo2014",
        ),
        (
            "data fetch weibo2014 --subjects 3-1",
            "\"3-1\" is not a list of subjects",
        ),
        (
            "data fetch weibo2014 --subjects 11",
            "its subjects are 1 to 10",
        ),
        ("data path eegmmidb --subjects 88", "128 Hz"),
        ("data fetch eegmmidb --task feet", "hands-feet, left-right"),
        ("data fetch weibo2014 --jobs 0", "--jobs"),
        (
            "data fetch weibo2014 --mirror nowhere",
            "the mirror \"nowhere\" cannot be used",
        ),
    ] {
        let (code, text) = code(&home.run(arguments));
        assert_eq!(code, 2, "{arguments}: {text}");
        assert!(text.contains(reason), "{arguments}: {text}");
    }
    assert!(!home.0.join("data").exists());
}

#[test]
fn what_is_missing_is_1() {
    let home = Home::new();
    let (code, text) = code(&home.run("data path bnci2014001 --files"));
    assert_eq!(code, 1);
    assert!(text.contains("stiefel data fetch bnci2014001"), "{text}");
}

fn matlab() -> Vec<u8> {
    let mut bytes = vec![7; 40_000];
    bytes[124..128].copy_from_slice(b"\x00\x01IM");
    bytes
}

#[test]
fn fetch_then_path_then_offline() {
    let home = Home::new();
    let server = Server::new(|r| Reply::file(&matlab(), "\"v\"", r));
    let fetch = format!(
        "data fetch bnci2015001 --subjects 1,8 --mirror {}",
        server.url
    );
    let output = home.run(&fetch);
    let (done, told) = code(&output);
    assert_eq!(done, 0, "{told}");
    assert!(
        told.contains("licence CC BY-NC-ND 4.0") && told.contains("S08C.mat: 40.00 kB fetched"),
        "{told}"
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("bnci2015001: 5 files in "), "{printed}");
    assert_eq!(server.count(), 5);
    drop(server);

    let files = home.text("data path bnci2015001 --subjects 8 --files");
    assert_eq!(
        files,
        ["A", "B", "C"]
            .map(|s| format!("[DATA]/bnci2015001/S08{s}.mat\n"))
            .concat()
    );
    let quiet = home.run(&format!("{fetch} --quiet"));
    assert!(
        quiet.status.success() && quiet.stdout.is_empty() && quiet.stderr.is_empty(),
        "{quiet:?}"
    );
    let json = home.run(&format!("{fetch} --json --quiet"));
    let value: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (
            value["dataset"].as_str(),
            value["files"].as_array().unwrap().len()
        ),
        (Some("bnci2015001"), 5)
    );
    assert_eq!(value["files"][4]["session"], "C");
    assert!(home.text("data list").contains("5 of 28"));
}

#[test]
fn the_mirror_of_the_environment_and_a_failure() {
    let home = Home::new();
    let server = Server::new(|_| Reply::status(403));
    let mut command = home.command("data fetch weibo2014 --subjects 1");
    let (code, text) = code(&output(command.env("STIEFEL_MIRROR", &server.url)));
    assert_eq!(code, 1);
    assert!(
        text.contains("/api/access/datafile/2499178: the server answered 403"),
        "{text}"
    );
    assert_eq!(server.count(), 1);
}

#[test]
fn without_a_network_one_line_says_why_and_where_files_go_by_hand() {
    let home = Home::new();
    // Nobody listens at a port that was just given back.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let fetch = format!("data fetch bnci2014001 --subjects 1-4 --mirror http://{address}");
    let (code, text) = code(&home.run(&fetch));
    assert_eq!(code, 1, "{text}");
    let tried = text.lines().filter(|l| l.contains("is tried")).count();
    assert_eq!(tried, 1, "{text}");
    let folder = home.0.join("data").join("bnci2014001");
    assert!(text.contains(folder.to_str().unwrap()), "{text}");
    assert!(text.contains("the first of 8 is A01T.mat"), "{text}");
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn the_proxy_of_the_environment() {
    let home = Home::new();
    let proxy = Server::new(|r| Reply::file(&matlab(), "\"v\"", r));
    let fetch = "data fetch bnci2014001 --subjects 1 --quiet --mirror http://no-such-host.invalid";
    let mut command = home.command(fetch);
    let fetched = output(command.env("http_proxy", &proxy.url));
    assert!(fetched.status.success(), "{fetched:?}");
    assert_eq!(proxy.requests()[0].method, "CONNECT");

    let mut command = home.command(fetch);
    let without = command.env("SSL_CERT_FILE", home.0.join("none.pem"));
    let (code, text) = code(&output(without));
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("SSL_CERT_FILE") && text.contains("none.pem"),
        "{text}"
    );
}

#[test]
fn two_processes_fetch_each_file_once() {
    let home = Home::new();
    let server = Server::new(|r| {
        std::thread::sleep(Duration::from_millis(300));
        Reply::file(&matlab(), "\"v\"", r)
    });
    let fetch = format!(
        "data fetch bnci2014001 --subjects 1 --quiet --mirror {}",
        server.url
    );
    let both = [home.command(&fetch), home.command(&fetch)].map(|mut c| started(&mut c));
    assert!(both.map(finish).iter().all(|ended| ended.status.success()));
    assert_eq!(server.count(), 2);
}

#[test]
fn a_process_that_is_killed_leaves_no_lock() {
    let home = Home::new();
    let server = Server::new(|r| {
        let reply = Reply::file(&matlab(), "\"v\"", r);
        if r.number == 0 {
            reply.stall(10_000)
        } else {
            reply
        }
    });
    let fetch = format!(
        "data fetch bnci2014001 --subjects 1 --jobs 1 --quiet --mirror {}",
        server.url
    );
    let mut child = home.command(&fetch).spawn().unwrap();
    let part = home.0.join("data/bnci2014001/A01T.mat.part");
    let start = Instant::now();
    while std::fs::metadata(&part).map_or(0, |m| m.len()) < 10_000 {
        assert!(start.elapsed() < LIMIT, "nothing was fetched");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    finish(child);
    assert!(home.run(&fetch).status.success());
    assert_eq!(server.requests()[1].range(), Some(10_000));
    assert_eq!(std::fs::read(part.with_extension("")).unwrap(), matlab());
}
