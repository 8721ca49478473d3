//! Downloads that cannot be: wrong files, full and closed disks, servers that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::bnci::{SIZE, T, bnci, good, one, run, seed, serial};
use crate::support::server::{Reply, Server};
use crate::support::{Diary, Sandbox, SmallDisk, fetcher, matlab, options};
use stiefel_eeg::catalogue::{
    CatalogueError, FetchOptions, Fetcher, Observer, Progress, Sha256, find,
};

#[test]
fn a_wrong_checksum_is_refused() {
    let sandbox = Sandbox::new();
    let mut edf = b"0       ".to_vec();
    edf.resize(5000, b' ');
    let bytes = edf.clone();
    let server = Server::new(move |r| Reply::file(&bytes, "\"v1\"", r));
    let dataset = find("eegmmidb").unwrap();
    let error = Fetcher::new(sandbox.cache(), serial(&server))
        .unwrap()
        .fetch(dataset, &one(), &|_: &Progress<'_>| {})
        .unwrap_err();
    let CatalogueError::Checksum {
        expected,
        found,
        action,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*found, Sha256::of(&edf).to_string());
    assert_eq!(
        Some(expected.clone()),
        dataset
            .files(&one())
            .unwrap()
            .iter()
            .find(|f| error.to_string().contains(&f.name))
            .unwrap()
            .sha256
            .map(|sum| sum.to_string())
    );
    assert!(action.contains("deleted"));
    assert!(sandbox.files().is_empty(), "{:?}", sandbox.files());
}

#[test]
fn a_file_that_is_fetched_again_must_be_the_same() {
    let sandbox = Sandbox::new();
    run(&fetcher(&sandbox, &good().url), &Diary::default()).unwrap();
    std::fs::remove_file(sandbox.0.join(T)).unwrap();
    let changed = Server::new(|r| Reply::file(&matlab(SIZE, 7), "\"v2\"", r));
    let error = run(&fetcher(&sandbox, &changed.url), &Diary::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("recorded when it was first fetched"),
        "{error}"
    );
    assert!(
        !sandbox.files().iter().any(|f| f.contains("A01T")),
        "{:?}",
        sandbox.files()
    );
}

#[test]
fn a_damaged_file_is_set_aside_and_replaced() {
    let (sandbox, server, diary) = (Sandbox::new(), good(), Diary::default());
    let fetcher = fetcher(&sandbox, &server.url);
    run(&fetcher, &diary).unwrap();
    let mut bytes = sandbox.read(T);
    bytes[200_000] ^= 1;
    sandbox.write(T, &bytes);
    let selection = one();
    let local = &sandbox.cache().locate(bnci(), &selection).unwrap()[0];
    let error = local.verify(&sandbox.cache()).unwrap_err();
    assert!(
        error.to_string().contains("stiefel data fetch bnci2014001"),
        "{error}"
    );
    run(&fetcher, &diary).unwrap();
    assert!(
        diary.has("rejected A01T.mat its SHA-256"),
        "{:?}",
        diary.lines()
    );
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
    assert_eq!(sandbox.read(&format!("{T}.damaged")), bytes);
    assert_eq!(server.count(), 3);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_is_fetched() {
    let (sandbox, server) = (Sandbox::new(), good());
    // A file in place of the folder stops root as well.
    sandbox.write("bnci2014001", b"");
    let error = run(&fetcher(&sandbox, &server.url), &Diary::default()).unwrap_err();
    assert!(
        matches!(error, CatalogueError::ReadOnly { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("STIEFEL_DATA"), "{error}");
    assert_eq!(server.count(), 0);
}

#[test]
fn a_full_disk_keeps_a_part_that_can_be_used() {
    let (sandbox, server) = (Sandbox::new(), good());
    let disk = SmallDisk(Arc::new(AtomicU64::new(123_456)));
    let small = FetchOptions {
        disk: Arc::new(disk),
        ..serial(&server)
    };
    let error = run(
        &Fetcher::new(sandbox.cache(), small).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    let CatalogueError::DiskFull { written, total, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((written, total), (123_456, Some(SIZE as u64)));
    assert_eq!(
        sandbox.files(),
        [format!("{T}.part"), format!("{T}.part.json")]
    );
    assert_eq!(server.count(), 1, "a full disk is no reason to try again");
    let diary = Diary::default();
    run(&fetcher(&sandbox, &server.url), &diary).unwrap();
    assert!(diary.has("start A01T.mat 123456"), "{:?}", diary.lines());
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
}

#[test]
fn a_disk_without_any_room_is_left_as_it_was() {
    let (sandbox, server) = (Sandbox::new(), good());
    let small = FetchOptions {
        disk: Arc::new(SmallDisk(Arc::default())),
        ..serial(&server)
    };
    let error = run(
        &Fetcher::new(sandbox.cache(), small).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    assert!(
        matches!(error, CatalogueError::DiskFull { written: 0, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("nothing was left behind"),
        "{error}"
    );
    assert!(sandbox.files().is_empty(), "{:?}", sandbox.files());
}

#[test]
fn a_busy_server_is_asked_again_and_a_clear_no_is_not() {
    let (sandbox, diary) = (Sandbox::new(), Diary::default());
    let server = Server::new(|r| match r.number {
        0 => Reply::status(503).with("Retry-After", "0"),
        1 => Reply::status(429),
        _ => Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r),
    });
    run(
        &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
        &diary,
    )
    .unwrap();
    assert!(
        diary.has("retry A01T.mat 1 the server answered 503"),
        "{:?}",
        diary.lines()
    );
    assert_eq!(server.count(), 4);

    let sandbox = Sandbox::new();
    let server = Server::new(|_| Reply::status(404));
    let error = run(
        &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
        &diary,
    )
    .unwrap_err();
    assert!(
        matches!(error, CatalogueError::Refused { status: 404, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("STIEFEL_MIRROR"), "{error}");
    assert_eq!(server.count(), 1);
    assert!(sandbox.files().is_empty());
}

#[test]
fn a_stalled_server_is_left_in_time() {
    let (sandbox, diary) = (Sandbox::new(), Diary::default());
    let server = Server::new(|r| {
        let reply = Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r);
        if r.number == 0 {
            reply.stall(90_000)
        } else {
            reply
        }
    });
    let options = FetchOptions {
        read_timeout: Duration::from_millis(300),
        ..serial(&server)
    };
    let start = Instant::now();
    run(&Fetcher::new(sandbox.cache(), options).unwrap(), &diary).unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    assert!(diary.has("retry A01T.mat 1 timeout"), "{:?}", diary.lines());
    assert!(diary.has("start A01T.mat 90000"), "{:?}", diary.lines());
}

#[test]
fn nobody_there() {
    let sandbox = Sandbox::new();
    let url = good().url.clone();
    let options = FetchOptions {
        attempts: 2,
        ..options(&url)
    };
    let error = run(
        &Fetcher::new(sandbox.cache(), options).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    assert!(
        matches!(error, CatalogueError::Network { attempts: 2, .. }),
        "{error}"
    );
}

#[test]
fn a_server_without_tls_is_no_https_server() {
    let (sandbox, server) = (Sandbox::new(), good());
    let options = FetchOptions {
        attempts: 1,
        ..options(&server.url.replace("http:", "https:"))
    };
    let error = run(
        &Fetcher::new(sandbox.cache(), options).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    assert!(matches!(error, CatalogueError::Network { .. }), "{error}");
}

#[test]
fn a_circle_of_redirects_ends() {
    let sandbox = Sandbox::new();
    let server = Server::new(|r| Reply::status(302).with("Location", r.path.clone()));
    let error = run(
        &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    assert!(
        matches!(error, CatalogueError::Network { attempts: 1, .. }),
        "{error}"
    );
}

#[test]
fn a_log_in_page_is_no_recording() {
    let page = b"<!DOCTYPE html><title>Welcome to the airport</title>".to_vec();
    for (kind, reason) in [
        ("text/html; charset=utf-8", "answered with a web page"),
        ("application/octet-stream", "starts with \"<!DOCTYPE"),
    ] {
        let (sandbox, page) = (Sandbox::new(), page.clone());
        let server = Server::new(move |_| Reply::whole(&page, "\"p\"").with("Content-Type", kind));
        let error = run(
            &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
            &Diary::default(),
        )
        .unwrap_err();
        assert!(
            matches!(error, CatalogueError::Content { .. }) && error.to_string().contains(reason),
            "{error}"
        );
        assert!(sandbox.files().is_empty(), "{:?}", sandbox.files());
    }
}

struct Impatient(AtomicU64);

impl Observer for Impatient {
    fn progress(&self, progress: &Progress<'_>) {
        if let Progress::Advanced { bytes, .. } = progress {
            self.0.fetch_max(*bytes, Ordering::SeqCst);
        }
    }

    fn stop(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

#[test]
fn an_observer_can_stop_it() {
    let (sandbox, server) = (Sandbox::new(), good());
    let fetcher = Fetcher::new(sandbox.cache(), serial(&server)).unwrap();
    let error = fetcher
        .fetch(bnci(), &one(), &Impatient(AtomicU64::new(0)))
        .unwrap_err();
    assert!(matches!(error, CatalogueError::Stopped), "{error}");
    assert_eq!(
        sandbox.files(),
        [format!("{T}.part"), format!("{T}.part.json")]
    );
}
