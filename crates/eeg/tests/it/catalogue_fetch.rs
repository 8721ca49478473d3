//! Downloads from a server on this machine: whole, resumed, shared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::bnci::{SIZE, T, good, run, seed, serial};
use crate::support::server::{Reply, Server};
use crate::support::{Diary, Sandbox, fetcher, matlab, options};
use stiefel_eeg::catalogue::{CatalogueError, FetchOptions, Fetcher, Proxy, Sha256};

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
    assert!(error.to_string().contains("mirror") && error.to_string().contains("HTTPS_PROXY"));
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
    // A server that heeds If-Range, one that ignores it and sends the part of another version, one
    // that only tells sizes.
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
fn old_bytes_that_spoil_the_file_are_dropped() {
    let (sandbox, server, diary) = (Sandbox::new(), good(), Diary::default());
    let fetcher = fetcher(&sandbox, &server.url);
    run(&fetcher, &diary).unwrap();
    std::fs::remove_file(sandbox.0.join(T)).unwrap();
    // As if power had failed: the right length, the wrong bytes.
    sandbox.write(&format!("{T}.part"), &vec![0; 100_000]);
    let version = format!(
        "{{\"url\": \"{}/~bci/database/001-2014/A01T.mat\", \"etag\": \"\\\"v1\\\"\", \"total\": \
         {SIZE}}}",
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
