//! Downloads against a server on this machine: what goes well, and everything that can go wrong.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stiefel_eeg::catalogue::{
    CatalogueError, Dataset, FetchOptions, Fetcher, LocalFile, Observer, Progress, Proxy, Result,
    Selection, Sha256, find,
};
use support::server::{Reply, Request, Server};
use support::{Diary, Sandbox, SmallDisk, fetcher, matlab, options};

const SIZE: usize = 300_000;
const T: &str = "bnci2014001/A01T.mat";

fn bnci() -> &'static Dataset {
    find("bnci2014001").unwrap()
}

/// Subject 1 of BNCI 2014-001: A01T and A01E.
fn one() -> Selection {
    Selection::subjects([1])
}

fn seed(request: &Request) -> u64 {
    u64::from(request.path.ends_with("T.mat"))
}

/// A server that behaves.
fn good() -> Server {
    Server::new(|r| Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r))
}

fn run(fetcher: &Fetcher, diary: &Diary) -> Result<Vec<LocalFile>> {
    fetcher.fetch(bnci(), &one(), &|p: &Progress<'_>| diary.note(p))
}

fn serial(server: &Server) -> FetchOptions {
    FetchOptions {
        jobs: 1,
        ..options(&server.url)
    }
}

#[test]
fn files_arrive_once_and_are_checked_ever_after() {
    let (sandbox, server, diary) = (Sandbox::new(), good(), Diary::default());
    let fetcher = fetcher(&sandbox, &server.url);
    let files = run(&fetcher, &diary).unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[0].path, sandbox.0.join(T));
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
    let paths: Vec<_> = server.requests().iter().map(|r| r.path.clone()).collect();
    assert!(
        paths.contains(&"/~bci/database/001-2014/A01E.mat".to_string()),
        "{paths:?}"
    );
    assert_eq!(
        sandbox.files(),
        ["bnci2014001/A01E.mat", T, "bnci2014001/checksums.json"]
    );
    let record: serde_json::Value =
        serde_json::from_slice(&sandbox.read("bnci2014001/checksums.json")).unwrap();
    let entry = &record["files"]["A01T.mat"];
    assert_eq!(entry["sha256"], Sha256::of(&matlab(SIZE, 1)).to_string());
    assert_eq!(entry["bytes"], SIZE);

    // A full cache needs no network: the server counts, and then there is none.
    assert_eq!(server.count(), 2);
    run(&fetcher, &Diary::default()).unwrap();
    assert_eq!(server.count(), 2);
    drop(server);
    let again = Diary::default();
    run(&fetcher, &again).unwrap();
    assert!(
        again.lines().iter().all(|l| l.starts_with("here")),
        "{:?}",
        again.lines()
    );
}

#[test]
fn a_cut_download_goes_on_where_it_stopped() {
    let (sandbox, diary) = (Sandbox::new(), Diary::default());
    let server = Server::new(|r| {
        let reply = Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r);
        if r.range().is_none() {
            reply.cut(100_000)
        } else {
            reply
        }
    });
    run(&fetcher(&sandbox, &server.url), &diary).unwrap();
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
    assert_eq!(server.count(), 4);
    assert!(
        diary.has("start A01T.mat 100000 Some(300000)"),
        "{:?}",
        diary.lines()
    );
    let resumed: Vec<_> = server
        .requests()
        .into_iter()
        .filter_map(|r| r.range())
        .collect();
    assert_eq!(resumed, [100_000, 100_000]);
}

#[test]
fn a_later_process_goes_on_too() {
    let sandbox = Sandbox::new();
    let broken = Arc::new(AtomicBool::new(true));
    let flag = broken.clone();
    let server = Server::new(move |r| {
        let reply = Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r);
        if flag.load(Ordering::SeqCst) {
            reply.cut(70_000)
        } else {
            reply
        }
    });
    let impatient = FetchOptions {
        attempts: 1,
        ..serial(&server)
    };
    let error = run(
        &Fetcher::new(sandbox.cache(), impatient).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    assert!(
        matches!(error, CatalogueError::Network { attempts: 1, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("--mirror") && error.to_string().contains("HTTPS_PROXY"));
    assert_eq!(
        sandbox.files(),
        [format!("{T}.part"), format!("{T}.part.json")]
    );
    broken.store(false, Ordering::SeqCst);
    let diary = Diary::default();
    run(&fetcher(&sandbox, &server.url), &diary).unwrap();
    assert!(diary.has("start A01T.mat 70000"), "{:?}", diary.lines());
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
}

#[test]
fn without_ranges_it_starts_again() {
    let (sandbox, diary) = (Sandbox::new(), Diary::default());
    let server = Server::new(|r| {
        let reply = Reply::whole(&matlab(SIZE, seed(r)), "\"v1\"");
        if r.number == 0 {
            reply.cut(100_000)
        } else {
            reply
        }
    });
    let fetcher = Fetcher::new(sandbox.cache(), serial(&server)).unwrap();
    run(&fetcher, &diary).unwrap();
    assert!(
        diary.has("restart A01T.mat the server sent the whole file"),
        "{:?}",
        diary.lines()
    );
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
}

#[test]
fn without_ranges_a_server_that_always_cuts_is_given_up() {
    let sandbox = Sandbox::new();
    let server = Server::new(|r| Reply::whole(&matlab(SIZE, seed(r)), "\"v1\"").cut(50_000));
    let options = FetchOptions {
        attempts: 4,
        ..serial(&server)
    };
    let error = run(
        &Fetcher::new(sandbox.cache(), options).unwrap(),
        &Diary::default(),
    )
    .unwrap_err();
    assert!(
        matches!(error, CatalogueError::Network { attempts: 4, .. }),
        "{error}"
    );
    // The first attempt brought new bytes and starts the count; four failures follow it at most.
    assert!((4..=5).contains(&server.count()), "{}", server.count());
}

#[test]
fn a_file_that_changed_is_not_joined_with_its_past() {
    // A server that heeds If-Range, one that ignores it and sends the part of another version, one that only tells sizes.
    for manner in 0..3 {
        let (sandbox, diary) = (Sandbox::new(), Diary::default());
        let server = Server::new(move |r| {
            let (size, tag) = if r.number == 0 {
                (SIZE, "\"v1\"")
            } else {
                (SIZE + 1000, "\"v2\"")
            };
            let bytes = matlab(size, r.number.min(1) as u64);
            let mut reply = match manner {
                0 => Reply::file(&bytes, tag, r),
                _ => match r.range() {
                    Some(from) => Reply {
                        status: 206,
                        body: bytes[from..].to_vec(),
                        ..Reply::default()
                    }
                    .with("Content-Range", format!("bytes {from}-{}/{size}", size - 1))
                    .with("ETag", tag),
                    None => Reply::whole(&bytes, tag),
                },
            };
            if manner == 2 {
                reply.headers.retain(|h| h.0 != "ETag");
            }
            if r.number == 0 {
                reply.cut(100_000)
            } else {
                reply
            }
        });
        let fetcher = Fetcher::new(sandbox.cache(), serial(&server)).unwrap();
        run(&fetcher, &diary).unwrap();
        assert!(
            diary.has("restart A01T.mat"),
            "{manner}: {:?}",
            diary.lines()
        );
        assert_eq!(sandbox.read(T), matlab(SIZE + 1000, 1), "{manner}");
    }
}

#[test]
fn a_range_that_cannot_be_met_starts_again() {
    let (sandbox, diary) = (Sandbox::new(), Diary::default());
    let server = Server::new(|r| match r.number {
        0 => Reply::whole(&matlab(SIZE, 1), "\"v1\"").cut(200_000),
        _ => Reply::file(&matlab(150_000, seed(r)), "\"v1\"", r),
    });
    run(
        &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
        &diary,
    )
    .unwrap();
    assert_eq!(sandbox.read(T), matlab(150_000, 1));
}

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
    assert_eq!(**found, Sha256::of(&edf));
    assert_eq!(
        Some(**expected),
        dataset
            .files(&one())
            .unwrap()
            .iter()
            .find(|f| error.to_string().contains(&f.name))
            .unwrap()
            .sha256
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
fn old_bytes_that_spoil_the_file_are_dropped() {
    let (sandbox, server, diary) = (Sandbox::new(), good(), Diary::default());
    let fetcher = fetcher(&sandbox, &server.url);
    run(&fetcher, &diary).unwrap();
    std::fs::remove_file(sandbox.0.join(T)).unwrap();
    // As if power had failed: the right length, the wrong bytes.
    sandbox.write(&format!("{T}.part"), &vec![0; 100_000]);
    let version = format!(
        "{{\"url\": \"{}/~bci/database/001-2014/A01T.mat\", \"etag\": \"\\\"v1\\\"\", \"total\": {SIZE}}}",
        server.url
    );
    sandbox.write(&format!("{T}.part.json"), version.as_bytes());
    run(&fetcher, &diary).unwrap();
    assert!(
        diary.has("restart A01T.mat the joined parts"),
        "{:?}",
        diary.lines()
    );
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
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
    assert!(error.to_string().contains("--mirror"), "{error}");
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
fn redirects_are_followed_also_for_the_rest_of_a_file() {
    let sandbox = Sandbox::new();
    let store = Server::new(|r| {
        let reply = Reply::file(&matlab(SIZE, seed(r)), "\"s3\"", r);
        if r.range().is_none() {
            reply.cut(100_000)
        } else {
            reply
        }
    });
    let target = store.url.clone();
    let front = Server::new(move |r| {
        Reply::status(302).with("Location", format!("{target}/store{}", r.path))
    });
    run(&fetcher(&sandbox, &front.url), &Diary::default()).unwrap();
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
    assert!(store.requests()[0].path.starts_with("/store/~bci/database"));
    assert!(store.requests().iter().any(|r| r.range() == Some(100_000)));
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
    for kind in ["text/html; charset=utf-8", "application/octet-stream"] {
        let (sandbox, page) = (Sandbox::new(), page.clone());
        let server = Server::new(move |_| Reply::whole(&page, "\"p\"").with("Content-Type", kind));
        let error = run(
            &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
            &Diary::default(),
        )
        .unwrap_err();
        assert!(matches!(error, CatalogueError::Content { .. }), "{error}");
        assert!(sandbox.files().is_empty(), "{:?}", sandbox.files());
    }
}

#[test]
fn chunks_without_a_size() {
    let sandbox = Sandbox::new();
    let server = Server::new(|r| Reply {
        chunked: true,
        ..Reply::whole(&matlab(SIZE, seed(r)), "\"v1\"")
    });
    run(&fetcher(&sandbox, &server.url), &Diary::default()).unwrap();
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
    // A cut in the middle of chunks is seen, too.
    let sandbox = Sandbox::new();
    let server = Server::new(|r| Reply {
        chunked: true,
        cut: (r.number == 0).then_some(60_000),
        ..Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r)
    });
    run(
        &Fetcher::new(sandbox.cache(), serial(&server)).unwrap(),
        &Diary::default(),
    )
    .unwrap();
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
}

#[test]
fn two_fetchers_share_one_download() {
    let sandbox = Sandbox::new();
    let server = Server::new(|r| {
        std::thread::sleep(Duration::from_millis(200));
        Reply::file(&matlab(SIZE, seed(r)), "\"v1\"", r)
    });
    let diaries = [Diary::default(), Diary::default()];
    std::thread::scope(|scope| {
        for diary in &diaries {
            let (sandbox, url) = (&sandbox, &server.url);
            scope.spawn(move || run(&fetcher(sandbox, url), diary).unwrap());
        }
    });
    assert_eq!(server.count(), 2);
    assert!(
        diaries.iter().any(|d| d.has("Waiting")),
        "{:?}",
        diaries.each_ref().map(Diary::lines)
    );
    assert_eq!(sandbox.read(T), matlab(SIZE, 1));
}

#[test]
fn a_proxy_is_used() {
    let (sandbox, proxy) = (Sandbox::new(), good());
    let options = FetchOptions {
        proxy: Proxy::Url(proxy.url.clone()),
        ..options("http://no-such-host.invalid")
    };
    run(
        &Fetcher::new(sandbox.cache(), options).unwrap(),
        &Diary::default(),
    )
    .unwrap();
    let tunnel = &proxy.requests()[0];
    assert_eq!(
        (tunnel.method.as_str(), tunnel.path.as_str()),
        ("CONNECT", "no-such-host.invalid:80")
    );
    let wrong = FetchOptions {
        proxy: Proxy::Url("gopher://x".into()),
        ..FetchOptions::default()
    };
    let error = Fetcher::new(sandbox.cache(), wrong).unwrap_err();
    assert!(
        matches!(
            error,
            CatalogueError::Setting {
                setting: "proxy",
                ..
            }
        ),
        "{error}"
    );
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
