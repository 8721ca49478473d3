//! Archives of several subjects, and files that MNE and MOABB have fetched already.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::support::server::{Reply, Server};
use crate::support::zip::zip;
use crate::support::{Diary, Sandbox, SmallDisk, fetcher, matlab, options};
use stiefel_eeg::catalogue::{
    Cache, CatalogueError, Dataset, FetchOptions, Fetcher, Folders, LocalFile, Place, Progress,
    Result, Selection, find,
};

fn weibo() -> &'static Dataset {
    find("weibo2014").unwrap()
}

fn run(fetcher: &Fetcher, subjects: &[u16], diary: &Diary) -> Result<Vec<LocalFile>> {
    let selection = Selection::subjects(subjects.iter().copied());
    fetcher.fetch(weibo(), &selection, &|p: &Progress<'_>| diary.note(p))
}

/// What the first archive holds; names in it are folders, prefixes and some clutter.
fn first_archive() -> Vec<u8> {
    let files: Vec<Vec<u8>> = (0..4).map(|seed| matlab(2000, seed)).collect();
    zip(&[
        ("data/", b""),
        ("data/cl.mat", &files[0]),
        ("data/cyy_2014.mat", &files[1]),
        ("__MACOSX/cl.mat", b"clutter"),
        ("data/kyf.MAT", &files[2]),
        ("data/lnn.mat", &files[3]),
        ("readme.txt", b"hello"),
    ])
}

fn serve(bytes: Vec<u8>) -> Server {
    Server::new(move |r| match r.path.as_str() {
        "/api/access/datafile/2499178" => Reply::file(&bytes, "\"z\"", r),
        _ => Reply::status(404),
    })
}

#[test]
fn an_archive_is_unpacked_and_removed() {
    let (sandbox, server, diary) = (Sandbox::new(), serve(first_archive()), Diary::default());
    let fetcher = fetcher(&sandbox, &server.url);
    let files = run(&fetcher, &[1, 3], &diary).unwrap();
    assert_eq!(files[1].path, sandbox.0.join("weibo2014/subject_3.mat"));
    assert_eq!(
        sandbox.files(),
        [
            "weibo2014/checksums.json",
            "weibo2014/subject_1.mat",
            "weibo2014/subject_2.mat",
            "weibo2014/subject_3.mat",
            "weibo2014/subject_4.mat"
        ]
    );
    for subject in 1..=4 {
        let bytes = sandbox.read(&format!("weibo2014/subject_{subject}.mat"));
        assert_eq!(bytes, matlab(2000, subject - 1));
    }
    run(&fetcher, &[1, 2, 3, 4], &diary).unwrap();
    assert_eq!(server.count(), 1);

    // One file lost: the archive comes again and must give the same file; the others stay as they
    // are.
    std::fs::remove_file(sandbox.0.join("weibo2014/subject_2.mat")).unwrap();
    run(&fetcher, &[2], &diary).unwrap();
    assert_eq!(server.count(), 2);
    assert_eq!(sandbox.read("weibo2014/subject_2.mat"), matlab(2000, 1));
}

#[test]
fn an_archive_that_changed_is_refused() {
    let (sandbox, server) = (Sandbox::new(), serve(first_archive()));
    run(&fetcher(&sandbox, &server.url), &[1], &Diary::default()).unwrap();
    std::fs::remove_file(sandbox.0.join("weibo2014/subject_2.mat")).unwrap();
    let other = matlab(2000, 9);
    let changed = zip(&[("cyy.mat", &other)]);
    // The archive itself is on record.
    let server = serve(changed.clone());
    let error = run(&fetcher(&sandbox, &server.url), &[2], &Diary::default()).unwrap_err();
    assert!(matches!(error, CatalogueError::Checksum { .. }), "{error}");
    assert!(error.to_string().contains("data0.zip"), "{error}");
    // And so is every file in it.
    sandbox.write("weibo2014/data0.zip", &changed);
    let error = run(&fetcher(&sandbox, &server.url), &[2], &Diary::default()).unwrap_err();
    assert!(
        error.to_string().contains("subject_2.mat: its SHA-256"),
        "{error}"
    );
    assert!(
        !sandbox.files().iter().any(|f| f.contains("subject_2")),
        "{:?}",
        sandbox.files()
    );
}

#[test]
fn an_archive_cannot_write_elsewhere() {
    let good = matlab(2000, 1);
    for name in [
        "../cl.mat",
        "/tmp/cl.mat",
        "a/../../cl.mat",
        "C:\\cl.mat",
        "..\\cl.mat",
    ] {
        let bytes = zip(&[
            (name, &good),
            ("cyy.mat", &good),
            ("kyf.mat", &good),
            ("lnn.mat", &good),
        ]);
        let (sandbox, server) = (Sandbox::new(), serve(bytes));
        let error = run(&fetcher(&sandbox, &server.url), &[1], &Diary::default()).unwrap_err();
        assert!(
            error.to_string().contains("points outside"),
            "{name}: {error}"
        );
        assert_eq!(sandbox.files(), ["weibo2014/checksums.json"], "{name}");
    }
}

#[test]
fn an_archive_with_other_content_is_refused() {
    let good = matlab(2000, 1);
    let cases: [(&str, Vec<u8>); 4] = [
        (
            "expected one file lnn*.mat, found 0",
            zip(&[("cl.mat", &good), ("cyy.mat", &good), ("kyf.mat", &good)]),
        ),
        (
            "expected one file cl*.mat, found 2",
            zip(&[("cl.mat", &good), ("b/cl2.mat", &good)]),
        ),
        ("this file is not MATLAB", zip(&[("cl.mat", b"hello")])),
        ("zip", {
            let mut bytes = zip(&[("cl.mat", &good)]);
            bytes.truncate(bytes.len() - 30);
            bytes
        }),
    ];
    for (reason, bytes) in cases {
        let (sandbox, server) = (Sandbox::new(), serve(bytes));
        let error = run(&fetcher(&sandbox, &server.url), &[1], &Diary::default()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        let left = sandbox.files();
        assert!(
            !left.iter().any(|f| f.contains("zip") || f.contains("part")),
            "{left:?}"
        );
    }
}

#[test]
fn damage_inside_an_archive_is_seen() {
    let mut bytes = first_archive();
    let at = bytes.windows(7).position(|w| w == b"cyy_201").unwrap() + 600;
    bytes[at] ^= 0x55;
    let (sandbox, server) = (Sandbox::new(), serve(bytes));
    let error = run(&fetcher(&sandbox, &server.url), &[2], &Diary::default()).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(!sandbox.files().iter().any(|f| f.contains("subject_2")));
}

#[test]
fn a_full_disk_while_unpacking_leaves_the_archive_and_whole_files_only() {
    let archive = first_archive();
    let (sandbox, server) = (Sandbox::new(), serve(archive.clone()));
    let room = Arc::new(AtomicU64::new(archive.len() as u64 + 3000));
    let small = FetchOptions {
        disk: Arc::new(SmallDisk(room)),
        ..options(&server.url)
    };
    let small = Fetcher::new(sandbox.cache(), small).unwrap();
    let error = run(&small, &[1], &Diary::default()).unwrap_err();
    assert!(matches!(error, CatalogueError::DiskFull { .. }), "{error}");
    assert_eq!(
        sandbox.files(),
        [
            "weibo2014/checksums.json",
            "weibo2014/data0.zip",
            "weibo2014/subject_1.mat"
        ]
    );
    run(&fetcher(&sandbox, &server.url), &[1, 4], &Diary::default()).unwrap();
    assert_eq!(server.count(), 1, "the archive was here already");
    assert_eq!(sandbox.read("weibo2014/subject_4.mat"), matlab(2000, 3));
}

/// A cache that also looks into `mne` inside the sandbox, and a server that gives nothing.
fn with_mne(sandbox: &Sandbox) -> Cache {
    Cache::new(Folders::only(sandbox.0.join("own")).with_mne(sandbox.0.join("mne")))
}

#[test]
fn what_mne_and_moabb_have_is_used_where_it_is() {
    let sandbox = Sandbox::new();
    let bytes = matlab(500, 0);
    for name in [
        "MNE-bnci-data/~bci/database/001-2014/A01T.mat",
        "MNE-bnci-data/database/data-sets/001-2014/A01E.mat",
        "MNE-weibo-2014/subject_7.mat",
    ] {
        sandbox.write(&format!("mne/{name}"), &bytes);
    }
    let server = Server::new(|_| Reply::status(404));
    let fetcher = Fetcher::new(with_mne(&sandbox), options(&server.url)).unwrap();
    for (name, subject, count) in [("bnci2014001", 1, 2), ("weibo2014", 7, 1)] {
        let files = fetcher
            .fetch(
                find(name).unwrap(),
                &Selection::subjects([subject]),
                &|_: &Progress<'_>| {},
            )
            .unwrap();
        assert_eq!(files.len(), count);
        assert!(
            files
                .iter()
                .all(|f| f.place == Place::Mne && f.path.starts_with(sandbox.0.join("mne")))
        );
    }
    assert_eq!(server.count(), 0);
    assert!(!sandbox.0.join("own").exists(), "nothing was copied");
}

#[test]
fn a_wrong_copy_of_mne_is_passed_over() {
    let (sandbox, diary) = (Sandbox::new(), Diary::default());
    let name = "mne/MNE-eegbci-data/files/eegmmidb/1.0.0/S001/S001R06.edf";
    sandbox.write(name, b"0       not the file that PhysioNet publishes");
    sandbox.write(
        "mne/MNE-bnci-data/~bci/database/001-2014/A01T.mat",
        b"<html>",
    );
    let server = Server::new(|_| Reply::status(404));
    let fetcher = Fetcher::new(with_mne(&sandbox), options(&server.url)).unwrap();
    for set in ["eegmmidb", "bnci2014001"] {
        let error = fetcher.fetch(
            find(set).unwrap(),
            &Selection::subjects([1]),
            &|p: &Progress<'_>| diary.note(p),
        );
        assert!(
            matches!(error, Err(CatalogueError::Refused { .. })),
            "{error:?}"
        );
    }
    assert!(
        diary.has("rejected S001/S001R06.edf its SHA-256"),
        "{:?}",
        diary.lines()
    );
    assert!(
        diary.has("rejected A01T.mat this file is not MATLAB"),
        "{:?}",
        diary.lines()
    );
    assert!(sandbox.0.join(name).exists(), "it is not ours to move");
}

#[test]
fn a_file_put_into_the_folder_is_adopted() {
    let (sandbox, server) = (Sandbox::new(), Server::new(|_| Reply::status(404)));
    sandbox.write("bnci2015001/S01A.mat", &matlab(500, 1));
    sandbox.write("bnci2015001/S01B.mat", &matlab(500, 2));
    let dataset = find("bnci2015001").unwrap();
    let fetcher = fetcher(&sandbox, &server.url);
    let files = fetcher
        .fetch(dataset, &Selection::subjects([1]), &|_: &Progress<'_>| {})
        .unwrap();
    assert_eq!((files.len(), server.count()), (2, 0));
    sandbox.write("bnci2015001/S01B.mat", &matlab(500, 3));
    let error = files[1].verify(&sandbox.cache()).unwrap_err();
    assert!(matches!(error, CatalogueError::Checksum { .. }), "{error}");
    assert!(files[0].verify(&sandbox.cache()).is_ok());
}

#[test]
fn a_damaged_list_of_checksums_is_named() {
    let (sandbox, server) = (Sandbox::new(), serve(first_archive()));
    sandbox.write("weibo2014/checksums.json", b"{\"version\": 1, \"files\": ");
    let error = run(&fetcher(&sandbox, &server.url), &[1], &Diary::default()).unwrap_err();
    assert!(
        error.to_string().contains("checksums.json") && error.to_string().contains("delete it"),
        "{error}"
    );
    assert_eq!(server.count(), 0);
}
