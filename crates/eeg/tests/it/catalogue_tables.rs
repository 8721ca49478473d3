//! The tables: facts that can be counted, names, selections.

use proptest::prelude::*;
use stiefel_eeg::catalogue::{
    CatalogueError, DomainUnit, Selection, datasets, find, parse_subjects,
};

#[test]
fn sizes_and_rates() {
    // id, subjects, subject-sessions, channels, rate, window, classes, default files
    let expected = [
        ("bnci2014001", 9, 18, 22, 250.0, (2.0, 6.0), 4, 18),
        ("bnci2015001", 12, 28, 13, 512.0, (0.0, 5.0), 2, 28),
        ("eegmat", 36, 36, 19, 500.0, (0.0, 5.0), 2, 72),
        ("eegmmidb", 106, 106, 64, 160.0, (0.5, 3.5), 5, 318),
        // A recording and the list of its events are two files.
        ("kalunga2016", 12, 12, 8, 256.0, (2.0, 5.0), 4, 58),
        ("weibo2014", 10, 10, 60, 200.0, (3.0, 7.0), 7, 10),
    ];
    assert_eq!(datasets().len(), expected.len());
    for (d, want) in datasets().iter().zip(expected) {
        let sessions: usize = d.offered().map(|s| d.sessions_of(s).count()).sum();
        let got = (
            d.id,
            d.offered().count(),
            sessions,
            d.channels().len(),
            d.sampling_rate,
            (d.window.start, d.window.end),
            d.classes().len(),
            d.files(&Selection::all()).unwrap().len(),
        );
        assert_eq!(got, want);
    }
}

#[test]
fn addresses_are_those_of_the_publishers() {
    let url = |name: &str, selection: &Selection, i: usize| {
        find(name).unwrap().files(selection).unwrap()[i].url.clone()
    };
    let all = Selection::all();
    assert_eq!(
        url("bnci2014001", &all, 17),
        "https://lampx.tugraz.at/~bci/database/001-2014/A09E.mat"
    );
    assert_eq!(
        url("bnci2015001", &Selection::subjects([11]), 2),
        "https://lampx.tugraz.at/~bci/database/001-2015/S11C.mat"
    );
    assert_eq!(
        url("weibo2014", &all, 4),
        "https://dataverse.harvard.edu/api/access/datafile/2499182"
    );
    let both = Selection::subjects([109]).with_tasks(["all"]);
    assert_eq!(
        url("eegmmidb", &both, 0),
        "https://physionet.org/files/eegmmidb/1.0.0/S109/S109R04.edf"
    );
    let files = find("eegmmidb").unwrap().files(&both).unwrap();
    let runs: Vec<_> = files.iter().filter_map(|f| f.run).collect();
    assert_eq!(runs, [4, 6, 8, 10, 12, 14]);
    assert!(files.iter().all(|f| f.sha256.is_some()));
    // The files of EEGMAT count from 0.
    assert_eq!(
        url("eegmat", &Selection::subjects([36]), 1),
        "https://physionet.org/files/eegmat/1.0.0/Subject35_2.edf"
    );
    let ssvep = url("kalunga2016", &Selection::subjects([1]), 1);
    assert!(ssvep.ends_with("/subject01/record-%5B2012.07.06-19.02.16%5D-eve.fif"));
    // As published for S001R04.
    let first = find("eegmmidb")
        .unwrap()
        .files(&Selection::subjects([1]).with_tasks(["left-right"]));
    assert!(
        first.unwrap()[0]
            .sha256
            .unwrap()
            .to_string()
            .starts_with("3d161f88e1c00632")
    );
}

#[test]
fn every_table_is_complete_and_every_name_its_own() {
    let mut names: Vec<String> = Vec::new();
    for d in datasets() {
        assert!(d.citation.bibtex.contains(d.citation.doi), "{}", d.id);
        assert!(d.citation.bibtex.starts_with('@') && d.citation.bibtex.ends_with('}'));
        assert_eq!(
            d.citation.bibtex.matches('{').count(),
            d.citation.bibtex.matches('}').count()
        );
        assert!(d.licence.url.starts_with("https://") && !d.licence.allows.is_empty());
        let mut channels = d.channels();
        channels.sort_unstable();
        channels.dedup();
        assert_eq!(channels.len(), d.channels().len(), "{}", d.id);
        for task in d.tasks {
            let mut labels: Vec<&str> = task
                .classes
                .iter()
                .flat_map(|c| c.labels.iter().copied().chain([c.name]))
                .collect();
            labels.sort_unstable();
            let count = labels.len();
            labels.dedup();
            assert_eq!(
                labels.len(),
                count,
                "{}: a label stands for two classes",
                d.id
            );
        }
        for name in d.aliases.iter().chain([&d.id, &d.name]) {
            assert_eq!(find(name).unwrap().id, d.id);
            assert_eq!(
                find(&name.to_uppercase().replace('_', "-")).unwrap().id,
                d.id
            );
        }
        names.push(d.id.to_string());
    }
    assert!(names.is_sorted());
}

#[test]
fn classes_decide_the_runs() {
    let runs = |selection: Selection| -> Vec<u8> {
        let files = find("eegmmidb").unwrap().files(&selection).unwrap();
        files.iter().filter_map(|f| f.run).collect()
    };
    let one = || Selection::subjects([1]);
    assert_eq!(runs(one()), [6, 10, 14]);
    assert_eq!(
        runs(one().with_classes(["left_hand", "right_hand"])),
        [4, 8, 12]
    );
    assert_eq!(runs(one().with_classes(["hands", "FEET"])), [6, 10, 14]);
    assert_eq!(
        runs(one().with_classes(["right_hand", "feet"])),
        [4, 6, 8, 10, 12, 14]
    );
    assert_eq!(
        runs(one().with_tasks(["hands-feet"]).with_classes(["rest"])),
        [6, 10, 14]
    );
}

#[test]
fn wishes_that_cannot_be_met_say_why() {
    let error = |name: &str, selection: Selection| {
        let error = find(name).unwrap().files(&selection).unwrap_err();
        assert!(matches!(error, CatalogueError::Selection { .. }));
        error.to_string()
    };
    let all = Selection::all;
    assert!(error("eegmmidb", Selection::subjects([88])).contains("128 Hz"));
    assert!(error("eegmmidb", Selection::subjects([110])).contains("1 to 109"));
    assert!(error("weibo2014", Selection::subjects([0])).contains("1 to 10"));
    assert!(error("weibo2014", Selection::subjects([])).contains("no subject"));
    assert!(error("weibo2014", all().with_classes(["tongue"])).contains("left_hand, right_hand"));
    assert!(error("weibo2014", all().with_classes([""; 0])).contains("choose among"));
    assert!(error("eegmmidb", all().with_tasks(["feet"])).contains("hands-feet, left-right"));
    assert!(
        error(
            "eegmmidb",
            all().with_tasks(["left-right"]).with_classes(["feet"])
        )
        .contains("feet does not occur")
    );
    assert!(error("eegmmidb", all().with_classes(["T1"])).contains("no class \"T1\""));
}

#[test]
fn domains_have_names() {
    let name =
        |set: &str, subject, session, unit| find(set).unwrap().domain_name(subject, session, unit);
    assert_eq!(name("bnci2014001", 1, "T", DomainUnit::Subject), "S01");
    assert_eq!(
        name("bnci2015001", 11, "C", DomainUnit::SubjectSession),
        "S11-C"
    );
    assert_eq!(name("eegmmidb", 7, "1", DomainUnit::Subject), "S007");
}

#[test]
fn lists_of_subjects() {
    assert_eq!(parse_subjects("7").unwrap(), [7]);
    assert_eq!(
        parse_subjects(" 10-12 ,1-3,2").unwrap(),
        [1, 2, 3, 10, 11, 12]
    );
    for wrong in [
        "", "a", "0", "3-1", "1-", "-2", "1,,2", "1-2-3", "70000", "1;2",
    ] {
        assert!(parse_subjects(wrong).is_err(), "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn lists_of_subjects_read_back(subjects in proptest::collection::btree_set(1u16..500, 1..20)) {
        let text: Vec<String> = subjects.iter().map(u16::to_string).collect();
        let wanted: Vec<u16> = subjects.into_iter().collect();
        prop_assert_eq!(parse_subjects(&text.join(",")).unwrap(), wanted);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9,\\- a]{0,12}") {
        if let Ok(subjects) = parse_subjects(&text) {
            prop_assert!(!subjects.is_empty() && subjects.is_sorted() && subjects[0] > 0);
        }
        prop_assert!(find(&text).is_err() || text.contains("001"));
    }
}
