//! Files of the data sets become EEG with class names. Sample s of channel c is c·100 + s (see
//! `make_catalogue.py`).

use crate::support::Sandbox;
use stiefel_eeg::catalogue::{CatalogueError, DatasetRun, DomainUnit, Selection, Signal, find};
use stiefel_eeg::{ChannelKind, Epochs, Recording};

/// A cache with these files, given as name in the cache and fixture.
fn cache_of(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, fixture) in files {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/catalogue");
        let bytes = std::fs::read(format!("{folder}/{fixture}")).unwrap();
        sandbox.write(name, &bytes);
    }
    sandbox
}

fn runs(sandbox: &Sandbox, name: &str, selection: &Selection) -> Vec<DatasetRun> {
    let recordings = find(name).unwrap().recordings(&sandbox.cache(), selection);
    recordings.unwrap().collect::<Result<_, _>>().unwrap()
}

fn recording(run: &DatasetRun) -> &Recording {
    match &run.signal {
        Signal::Recording(recording) => recording,
        Signal::Epochs(_) => panic!("{run:?}"),
    }
}

fn epochs(run: &DatasetRun) -> &Epochs {
    match &run.signal {
        Signal::Epochs(epochs) => epochs,
        Signal::Recording(_) => panic!("{run:?}"),
    }
}

fn events(run: &DatasetRun) -> Vec<(usize, &str)> {
    let events = recording(run).events().iter();
    events.map(|e| (e.sample, e.label.as_str())).collect()
}

fn bnci() -> Sandbox {
    cache_of(&[
        ("bnci2014001/A01T.mat", "A01T.mat"),
        ("bnci2014001/A01E.mat", "A01E.mat"),
    ])
}

#[test]
fn runs_with_trials_keep_the_eeg_and_name_the_classes() {
    let sandbox = bnci();
    let runs = runs(&sandbox, "bnci2014001", &Selection::subjects([1]));
    let places: Vec<_> = runs.iter().map(|r| (r.subject, r.session, r.run)).collect();
    // The run of eye movements is not counted.
    assert_eq!(places, [(1, "T", 1), (1, "T", 2), (1, "E", 1), (1, "E", 2)]);
    assert_eq!(
        events(&runs[0]),
        [
            (0, "tongue"),
            (10, "feet"),
            (20, "right_hand"),
            (30, "left_hand")
        ]
    );
    let signal = recording(&runs[0]);
    assert_eq!(
        (
            signal.channels().len(),
            signal.samples(),
            signal.sampling_rate()
        ),
        (22, 60, 250.0)
    );
    assert_eq!(
        (
            signal.channels()[21].name.as_str(),
            signal.channels()[21].kind
        ),
        ("POz", ChannelKind::Eeg)
    );
    assert_eq!(signal.channel(21)[5], 2105.0);
    assert_eq!(runs[0].domain(DomainUnit::SubjectSession), "S01-T");
    assert_eq!(runs[0].path, sandbox.0.join("bnci2014001/A01T.mat"));
}

#[test]
fn chosen_classes_keep_the_numbers_of_their_runs() {
    let sandbox = bnci();
    let selection = Selection::subjects([1]).with_classes(["right_hand", "feet"]);
    let runs = runs(&sandbox, "bnci2014001", &selection);
    let places: Vec<_> = runs.iter().map(|r| (r.session, r.run)).collect();
    // Run 2 of session T has neither class.
    assert_eq!(places, [("T", 1), ("E", 1), ("E", 2)]);
    assert_eq!(events(&runs[0]), [(10, "feet"), (20, "right_hand")]);
    assert_eq!(events(&runs[2]), [(5, "feet"), (25, "right_hand")]);
}

#[test]
fn one_run_per_session() {
    let names = ["A", "B", "C"].map(|s| format!("bnci2015001/S08{s}.mat"));
    let files: Vec<_> = names.iter().map(|n| (n.as_str(), "S08C.mat")).collect();
    let sandbox = cache_of(&files);
    let runs = runs(&sandbox, "bnci2015001", &Selection::subjects([8]));
    assert_eq!(runs.len(), 3);
    assert_eq!(events(&runs[2]), [(0, "right_hand"), (30, "feet")]);
    assert_eq!(
        (
            runs[2].session,
            runs[2].run,
            recording(&runs[2]).channels().len()
        ),
        ("C", 1, 13)
    );
}

#[test]
fn trials_keep_their_length_and_lose_four_channels() {
    let sandbox = cache_of(&[("weibo2014/subject_3.mat", "weibo.mat")]);
    let runs = runs(&sandbox, "weibo2014", &Selection::subjects([3]));
    assert_eq!(runs.len(), 1);
    let trials = epochs(&runs[0]);
    let labels: Vec<_> = trials
        .trials()
        .iter()
        .map(|t| (t.label.as_str(), t.domain.as_str()))
        .collect();
    assert_eq!(
        labels,
        [
            ("both_hands", "S03"),
            ("right_hand", "S03"),
            ("rest", "S03"),
            ("feet", "S03")
        ]
    );
    assert_eq!((trials.channels().len(), trials.samples()), (60, 12));
    let names: Vec<_> = trials.channels().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, find("weibo2014").unwrap().channels());
    // O1 is channel 58 of the file (CB1 is 57) and 57 here; the last trial was number 4 in the
    // file.
    assert_eq!(names[57], "O1");
    assert_eq!(trials.trial(3)[57 * 12 + 2], 40_000.0 + 5_802.0);
    assert!(
        runs[0].notes[0].contains("1 × \"9\""),
        "{:?}",
        runs[0].notes
    );

    let two = Selection::subjects([3]).with_classes(["hands", "feet"]);
    let two = weibo_runs(&sandbox, &two);
    assert_eq!(epochs(&two[0]).trials().len(), 2);
    let none = Selection::subjects([3]).with_classes(["left_hand"]);
    assert!(weibo_runs(&sandbox, &none).is_empty());
}

fn weibo_runs(sandbox: &Sandbox, selection: &Selection) -> Vec<DatasetRun> {
    runs(sandbox, "weibo2014", selection)
}

#[test]
fn a_file_of_another_data_set_is_refused_and_the_next_one_read() {
    let sandbox = cache_of(&[
        ("bnci2014001/A01T.mat", "S08C.mat"),
        ("bnci2014001/A01E.mat", "A01E.mat"),
    ]);
    let dataset = find("bnci2014001").unwrap();
    let mut runs = dataset
        .recordings(&sandbox.cache(), &Selection::subjects([1]))
        .unwrap();
    let error = runs.next().unwrap().unwrap_err();
    assert!(matches!(error, CatalogueError::Content { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("512 samples per second instead of 250"),
        "{error}"
    );
    assert_eq!(runs.next().unwrap().unwrap().session, "E");

    let sandbox = cache_of(&[("weibo2014/subject_1.mat", "A01T.mat")]);
    let weibo = find("weibo2014").unwrap();
    let mut runs = weibo
        .recordings(&sandbox.cache(), &Selection::subjects([1]))
        .unwrap();
    assert!(runs.next().unwrap().is_err());
    assert!(runs.next().is_none());
}

#[test]
fn what_was_never_fetched_is_named() {
    let sandbox = cache_of(&[("bnci2014001/A01T.mat", "A01T.mat")]);
    let error = find("bnci2014001")
        .unwrap()
        .recordings(&sandbox.cache(), &Selection::subjects([1, 2]))
        .unwrap_err();
    assert!(
        matches!(
            error,
            CatalogueError::Missing {
                missing: 3,
                wanted: 4,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("stiefel data fetch bnci2014001"),
        "{error}"
    );
}

#[test]
fn a_published_checksum_guards_the_reader() {
    let sandbox = Sandbox::new();
    for run in [6, 10, 14] {
        sandbox.write(
            &format!("eegmmidb/S001/S001R{run:02}.edf"),
            b"0       forged",
        );
    }
    let dataset = find("eegmmidb").unwrap();
    let mut runs = dataset
        .recordings(&sandbox.cache(), &Selection::subjects([1]))
        .unwrap();
    let error = runs.next().unwrap().unwrap_err();
    assert!(matches!(error, CatalogueError::Checksum { .. }), "{error}");
}
