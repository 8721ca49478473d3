//! Whole studies on small simulated data: nothing leaks, nothing is lost, nothing depends on the
//! order of work.

use std::path::PathBuf;
use stiefel_data::{Factor, Trials};
use stiefel_eeg::load;
use stiefel_eeg::select::{ChannelChoice, Selection};
use stiefel_linalg::MatBatch;
use stiefel_model::kind::Kind;
use stiefel_model::registry;
use stiefel_study::{
    Cancel, Comparison, Plan, Row, Store, Study, StudyConfig, StudyError, StudySummary, UnitRecord,
    Unwatched, conclude, execute, missing, report, run, summarise, table,
};

const DATA: &str = "synthetic:bnci2015001,subjects=3,trials=8";

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(study: Study) -> StudyConfig {
    let mut config = StudyConfig::new(study, DATA);
    config.training.epochs = 2;
    config.retrained = false;
    config
}

fn data() -> Trials {
    load(DATA, &Selection::default()).unwrap()
}

fn all(plan: &Plan, store: &Store) -> Vec<UnitRecord> {
    run(plan, store, 2, &Cancel::default(), &Unwatched).unwrap()
}

/// Everything but the time it took.
fn timeless(mut record: UnitRecord) -> UnitRecord {
    record.seconds = None;
    record
}

/// The same trials with the matrices of some replaced. Labels stay: the split is made by (domain,
/// class).
fn tampered(trials: &Trials, which: &[usize]) -> Trials {
    let x = trials.covariances();
    let n = x.rows();
    let other = MatBatch::from_fn(x.count(), n, n, |i, r, c| {
        let loud = if r == c { 50.0 + r as f64 } else { 0.0 };
        if which.contains(&i) {
            3.0 * x.get(i, r, c) + loud
        } else {
            x.get(i, r, c)
        }
    });
    trials.with_covariances(other).unwrap()
}

#[test]
fn a_table_has_every_method_and_the_same_bits_on_one_and_two_threads() {
    let folder = Folder::new("threads");
    let plan = Plan::new(config(Study::Main), &data()).unwrap();
    let one = Store::open(folder.0.join("one")).unwrap();
    let records = run(&plan, &one, 1, &Cancel::default(), &Unwatched).unwrap();
    let two = Store::open(folder.0.join("two")).unwrap();
    let again = all(&plan, &two);
    assert_eq!(
        records.iter().cloned().map(timeless).collect::<Vec<_>>(),
        again.into_iter().map(timeless).collect::<Vec<_>>()
    );
    for unit in &plan.units {
        let file = |store: &Store| {
            let name = format!("units/{}.json", unit.ids.unit);
            std::fs::read(store.folder().join(name)).unwrap()
        };
        assert!(file(&one) == file(&two), "{}", unit.name);
    }
    assert!(records.iter().all(|r| r.seconds.is_some()));
    assert!(missing(&plan, &one).is_empty());
    let summary = summarise(&plan, records).unwrap();
    assert_eq!(summary.rows.len(), 10);
    check_comparisons(&summary);
    let text = table::text(&summary);
    for method in [
        "baseline",
        "naive",
        "dasp",
        "spdnet+bn",
        "choir",
        "ts+lr",
        "ts+lr-per-domain",
        "mdm",
        "recentred-ts+lr",
        "recentred-mdm",
    ] {
        assert!(text.contains(method), "{text}");
    }
    assert!(!text.contains("NaN"), "{text}");
}

/// CHOIR and the best method of ours meet the strongest peer; three people are told that they could
/// not show anything.
fn check_comparisons(summary: &StudySummary) {
    let mean = |r: &&Row| r.accuracy.mean;
    let peer = |r: &&Row| registry::kind(&r.method).is_some_and(Kind::is_peer);
    let best = |rows: Vec<&Row>| rows.iter().map(mean).fold(0.0, f64::max);
    let rows = || summary.rows.iter();
    let strongest = best(rows().filter(peer).collect());
    let ours = best(rows().filter(|r| !peer(r)).collect());
    let met = |row: &Row| {
        let against = |c: &&Comparison| c.method == row.method && c.against != "baseline";
        let others: Vec<&Row> = (summary.comparisons.iter().filter(against))
            .filter_map(|c| rows().find(|r| r.method == c.against))
            .collect();
        others.len() == 1 && peer(&others[0]) && mean(&others[0]) == strongest
    };
    let (choir, winner) = (
        rows().find(|r| r.method == "choir").unwrap(),
        rows().find(|r| !peer(r) && mean(r) == ours).unwrap(),
    );
    assert!(met(choir), "{:?}", summary.comparisons);
    assert!(
        met(winner) || winner.method == "baseline",
        "{:?}",
        summary.comparisons
    );
    let said = format!(
        "With 3 subjects and {} comparisons no difference could",
        summary.comparisons.len()
    );
    let verdict = summary.verdict.join("\n");
    assert!(
        verdict.contains(&said) && !verdict.contains("trial by trial"),
        "{verdict}"
    );
}

#[test]
fn methods_of_a_cell_are_compared_within_it() {
    let folder = Folder::new("cells");
    let mut config = config(Study::Scaling);
    config.training.epochs = 1;
    let mut plan = Plan::new(config, &data()).unwrap();
    // A name with a colon is a name, not a cell.
    let cells: Vec<String> = plan.units.iter().map(|u| u.cell.clone().unwrap()).collect();
    plan.units.retain(|u| u.cell.as_ref() == Some(&cells[0]));
    for unit in &mut plan.units {
        let method = unit.name.strip_prefix(&format!("{}: ", cells[0])).unwrap();
        unit.name = match method {
            "baseline" => method.to_owned(),
            other => format!("my: {other}"),
        };
        unit.cell = None;
    }
    let store = Store::open(&folder.0).unwrap();
    let summary = summarise(&plan, all(&plan, &store)).unwrap();
    assert_eq!(summary.comparisons.len(), summary.rows.len() - 1);
    assert!(summary.comparisons.iter().all(|c| c.against == "baseline"));
}

#[test]
fn what_is_fitted_has_not_seen_the_test_trials() {
    let data = data();
    let plan = Plan::new(config(Study::Main), &data).unwrap();
    // The test trials of the first fold, the same for every method.
    let tested = execute(std::slice::from_ref(&plan.units[0]), &Cancel::default()).unwrap();
    let other = tampered(&data, &tested[0].outcome.test);
    let changed = Plan::new(config(Study::Main), &other).unwrap();
    let mut compared = 0;
    for (unit, spoilt) in plan.units.iter().zip(&changed.units) {
        if unit.index != 0 {
            continue;
        }
        assert_ne!(unit.ids, spoilt.ids);
        let right = execute(std::slice::from_ref(unit), &Cancel::default()).unwrap();
        let wrong = execute(std::slice::from_ref(spoilt), &Cancel::default()).unwrap();
        // Training and validation saw the same: every epoch to the bit, every choice of C.
        assert_eq!(
            right[0].outcome.history, wrong[0].outcome.history,
            "{}",
            unit.name
        );
        assert_eq!(
            right[0].outcome.notes, wrong[0].outcome.notes,
            "{}",
            unit.name
        );
        compared += 1;
    }
    assert_eq!(compared, 10);
}

#[test]
fn no_trial_is_in_two_parts_and_the_test_sets_are_disjoint() {
    let folder = Folder::new("parts");
    let mut config = config(Study::Main);
    config.methods = vec!["mdm".into()];
    let plan = Plan::new(config, &data()).unwrap();
    let store = Store::open(&folder.0).unwrap();
    let mut seen = vec![0; plan.trials.len()];
    for record in all(&plan, &store) {
        for i in record.outcome.test {
            seen[i] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count <= 1));
}

#[test]
fn the_labels_of_a_held_out_subject_are_never_read() {
    let data = data();
    let plan = Plan::new(config(Study::Loso), &data).unwrap();
    let subjects = data.subjects();
    let classes = data.classes();
    let flipped: Vec<usize> = (classes.indices().iter().zip(subjects.indices()))
        .map(|(&class, &subject)| if subject == 0 { 1 - class } else { class })
        .collect();
    let factor = Factor::new("class", classes.names().to_vec(), flipped).unwrap();
    let other = data.clone().with_classes(factor).unwrap();
    let changed = Plan::new(config(Study::Loso), &other).unwrap();
    let first: Vec<_> = plan
        .units
        .iter()
        .zip(&changed.units)
        .filter(|(u, _)| u.index == 0)
        .collect();
    assert!(first.len() >= 12, "every condition and the peers");
    for (unit, spoilt) in first {
        let right = execute(std::slice::from_ref(unit), &Cancel::default()).unwrap();
        let wrong = execute(std::slice::from_ref(spoilt), &Cancel::default()).unwrap();
        assert_eq!(
            right[0].outcome.probabilities, wrong[0].outcome.probabilities,
            "{}",
            unit.name
        );
        assert_ne!(right[0].outcome.truth, wrong[0].outcome.truth);
    }
}

#[test]
fn conditions_that_share_their_training_give_what_each_gives_alone() {
    let folder = Folder::new("shared");
    let mut config = config(Study::Loso);
    config.methods = ["full", "zero", "nearest"].map(String::from).to_vec();
    let plan = Plan::new(config, &data()).unwrap();
    let store = Store::open(&folder.0).unwrap();
    for (record, unit) in all(&plan, &store).into_iter().zip(&plan.units) {
        let alone = execute(std::slice::from_ref(unit), &Cancel::default()).unwrap();
        assert_eq!(
            timeless(record),
            timeless(alone.into_iter().next().unwrap())
        );
    }
}

#[test]
fn lost_and_broken_records_are_computed_again_and_the_rest_is_kept() {
    let folder = Folder::new("resume");
    let plan = Plan::new(config(Study::Ablation), &data()).unwrap();
    let store = Store::open(&folder.0).unwrap();
    let before = summarise(&plan, all(&plan, &store)).unwrap();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.0.join("units"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    for (i, file) in files.iter().enumerate() {
        match i % 4 {
            0 => std::fs::remove_file(file).unwrap(),
            1 => {
                let text = std::fs::read(file).unwrap();
                std::fs::write(file, &text[..text.len() / 2]).unwrap();
            }
            2 => std::fs::write(file, b"{}").unwrap(),
            _ => {}
        }
    }
    let after = summarise(&plan, all(&plan, &store)).unwrap();
    assert_eq!(table::text(&before), table::text(&after));
}

#[test]
fn another_configuration_is_another_unit() {
    let plan = Plan::new(config(Study::Main), &data()).unwrap();
    let mut other = config(Study::Main);
    other.training.adam.learning_rate = 0.02;
    let other = Plan::new(other, &data()).unwrap();
    for (a, b) in plan.units.iter().zip(&other.units) {
        let network = a.method.spec.setting("learning_rate").is_some();
        assert_eq!(a.ids != b.ids, network, "{}", a.name);
    }
}

#[test]
fn every_study_runs_to_a_table() {
    let folder = Folder::new("every");
    for study in [Study::Scaling, Study::Session, Study::Online, Study::Null] {
        let mut config = config(study);
        config.training.epochs = 1;
        let plan = Plan::new(config, &data()).unwrap();
        let store = Store::open(folder.0.join(study.name())).unwrap();
        let summary = summarise(&plan, all(&plan, &store)).unwrap();
        let text = table::text(&summary);
        assert!(
            !text.contains("NaN") && !summary.verdict.is_empty(),
            "{text}"
        );
        match study {
            Study::Null => assert!(
                text.contains("nothing could have been called above chance"),
                "{text}"
            ),
            Study::Scaling => {
                let within = |c: &Comparison| {
                    c.against == format!("{}: baseline", c.method.split_once(": ").unwrap().0)
                };
                assert!(summary.comparisons.len() > 5 && summary.comparisons.iter().all(within));
            }
            _ => {}
        }
        // Only new people are whitened under the policy that every configuration names.
        let yes = report::html(&summary)
            .unwrap()
            .contains("Yes: whitening used unlabelled trials");
        assert_eq!(yes, study == Study::Online, "{}", study.name());
    }
}

#[test]
fn a_cancelled_study_says_so() {
    let folder = Folder::new("cancelled");
    let plan = Plan::new(config(Study::Main), &data()).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let store = Store::open(&folder.0).unwrap();
    let ended = run(&plan, &store, 2, &cancel, &Unwatched);
    assert!(matches!(ended, Err(StudyError::Interrupted)));
}

#[test]
fn wrong_settings_are_refused_with_what_to_do() {
    for (source, expected) in [
        ("synthetic:weibo", "weibo2014"),
        ("synthetic:weibo2014,subjects=0", "1…100"),
        ("no-such-file.npz", "stiefel data list"),
    ] {
        let error = load(source, &Selection::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let choices = [
        (
            Selection {
                classes: Some(vec!["tongue".into()]),
                ..Selection::default()
            },
            "right_hand",
        ),
        (
            Selection {
                subjects: Some("9".into()),
                ..Selection::default()
            },
            "from 1 to 3",
        ),
        (
            Selection {
                channels: Some(ChannelChoice::One("weibo2014".into())),
                ..Selection::default()
            },
            "no channel",
        ),
    ];
    for (choice, expected) in choices {
        let error = choice.of(&data()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let mut twice = config(Study::Main);
    twice.seeds = vec![1, 1];
    assert!(
        Plan::new(twice, &data())
            .unwrap_err()
            .to_string()
            .contains("twice")
    );
    let mut unknown = config(Study::Main);
    unknown.methods = vec!["magic".into()];
    assert!(
        Plan::new(unknown, &data())
            .unwrap_err()
            .to_string()
            .contains("ts+lr")
    );
}

/// People without labels and with a few: every cell has its rows, units of one person share their
/// fit, and the curve is drawn.
#[test]
fn a_few_labels_of_new_people_are_studied() {
    let folder = Folder::new("calibration");
    let one = load(DATA, &Selection::default()).unwrap();
    let other = MatBatch::from_fn(one.len(), 13, 13, |i, r, c| {
        one.covariances().get(i, 12 - r, 12 - c)
    });
    let trials = one.with_view(other).unwrap();
    let plan = Plan::new(config(Study::Calibration), &trials).unwrap();
    let store = Store::open(&folder.0).unwrap();
    // Three methods, three people: one fit each, whatever the cell.
    assert_eq!(missing(&plan, &store).len(), 3 * 3);
    let records = run(&plan, &store, 1, &Cancel::default(), &Unwatched).unwrap();
    let summary = summarise(&plan, records).unwrap();
    let labels = |method: &str| -> Vec<Option<usize>> {
        let own = summary.rows.iter().filter(|r| r.method.ends_with(method));
        own.map(|r| r.labels).collect()
    };
    assert_eq!(
        labels(": choir"),
        // Sixteen trials of each day: with as many labels nothing is left to test.
        [Some(0), None, Some(2), Some(4), Some(8)]
    );
    assert!(labels(": fb-recentred-ts+lr").len() >= 4);
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("labelled trials per new person")
    );
}

/// The data with a second view: the same trials, some channels louder.
fn two_views() -> Trials {
    let one = data();
    let x = one.covariances();
    let other = MatBatch::from_fn(x.count(), x.rows(), x.rows(), |i, r, c| {
        let gain = |c: usize| 1.0 + 0.1 * (c % 3) as f64;
        gain(r) * gain(c) * x.get(i, r, c)
    });
    one.with_view(other).unwrap()
}

#[test]
fn networks_of_several_views_have_rows_and_the_report_says_which_views_decide() {
    let trials = two_views();
    let rows = |trials: &Trials| -> Vec<String> {
        let plan = Plan::new(config(Study::Main), trials).unwrap();
        plan.methods().into_iter().map(str::to_owned).collect()
    };
    let (one, two) = (rows(&data()), rows(&trials));
    for name in ["spdnet-views", "dasp-views"] {
        assert!(two.iter().any(|m| m == name) && !one.iter().any(|m| m == name));
    }
    let folder = Folder::new("views");
    let mut wanted = config(Study::Main);
    wanted.methods = [
        "choir",
        "baseline",
        "spdnet-views",
        "dasp-views",
        "dasp-per-view",
    ]
    .map(String::from)
    .to_vec();
    let plan = Plan::new(wanted, &trials).unwrap();
    let store = Store::open(folder.0.join("store")).unwrap();
    let records = all(&plan, &store);
    let of = |name: &str| records.iter().find(|r| r.method == name).unwrap();
    // The baseline takes the broad view, and the network of both is another one.
    assert_ne!(
        of("baseline").outcome.probabilities,
        of("spdnet-views").outcome.probabilities
    );
    let weights = |name: &str| of(name).outcome.routing.as_ref().unwrap().domain_weights[0].len();
    assert_eq!(2 * weights("dasp-views"), weights("dasp-per-view"));
    // What CHOIR looks at, as data and as pictures.
    for record in records.iter().filter(|r| r.method == "choir") {
        let carried = record.outcome.carried.as_ref().unwrap();
        assert_eq!((carried.views.len(), carried.shared.patterns.len()), (2, 2));
        let people = trials.domains().names().len();
        assert_eq!(
            carried.people.len(),
            if record.fold == 0 { people } else { 0 }
        );
        for by in carried.people.iter().chain([&carried.shared]) {
            assert!((by.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(by.patterns.iter().flatten().all(|p| p.len() == 13));
        }
    }
    assert!(of("dasp-views").outcome.carried.is_none());
    let summary = summarise(&plan, records.clone()).unwrap();
    let files: Vec<String> = (report::figures(&summary).into_iter())
        .map(|(name, _)| name)
        .collect();
    for name in ["views-choir.svg", "shares-choir.svg", "people-choir.svg"] {
        assert!(files.iter().any(|f| f == name), "{files:?}");
    }
    let page = report::html(&summary).unwrap();
    assert!(page.contains("which views carry the decision") && page.contains("everybody"));
}

/// The first sentence is about the strongest peer, and its picture is made of the pairs of the
/// tests.
#[test]
fn the_first_sentence_sets_choir_against_the_strongest_peer() {
    let folder = Folder::new("headline");
    let store = Store::open(&folder.0).unwrap();
    let mut config = config(Study::Main);
    config.methods = ["baseline", "choir", "mdm", "ts+lr", "recentred-ts+lr"]
        .map(String::from)
        .to_vec();
    let plan = Plan::new(config, &data()).unwrap();
    let records = all(&plan, &store);
    let summary = summarise(&plan, records.clone()).unwrap();
    let headline = summary.headline.clone().unwrap();
    let mean = |name: &str| {
        summary
            .rows
            .iter()
            .find(|r| r.method == name)
            .unwrap()
            .accuracy
            .mean
    };
    assert_eq!(headline.method, "choir");
    for peer in ["mdm", "ts+lr", "recentred-ts+lr"] {
        assert!(mean(&headline.against) >= mean(peer), "{peer}");
    }
    let start = format!(
        "choir reaches a balanced accuracy of {:.3}, {}, the strongest peer, {:.3}.",
        mean("choir"),
        headline.against,
        mean(&headline.against)
    );
    assert!(
        headline.sentence.starts_with(&start),
        "{}",
        headline.sentence
    );
    for c in &summary.comparisons {
        let of = |name: &str, subject: &str| {
            let row = summary.rows.iter().find(|r| r.method == name).unwrap();
            row.per_subject.iter().find(|s| s.0 == subject).unwrap().1
        };
        assert_eq!(c.people.len(), 3);
        for p in &c.people {
            assert_eq!(
                p.difference,
                of(&c.method, &p.subject) - of(&c.against, &p.subject)
            );
            let (low, high) = p.interval.unwrap();
            assert!(
                low < p.difference.min(1.0) && p.difference < high || low == -1.0 || high == 1.0
            );
            assert!(p.trials > 1);
        }
        let average = c.people.iter().map(|p| p.difference).sum::<f64>() / 3.0;
        let (low, high) = c.interval.unwrap();
        assert!((average - c.difference).abs() < 1e-12 && low <= average && average <= high);
    }
    // Every method with a filter has patterns, one value per channel; peers have none.
    for unit in &summary.units {
        let filters = &unit.outcome.patterns;
        let expected = usize::from(matches!(unit.method.as_str(), "baseline" | "choir"));
        assert_eq!(filters.len(), expected, "{}", unit.method);
        for filter in filters {
            assert_eq!(filter.filter, "filter");
            assert!(filter.patterns.len() == 2 && filter.patterns.iter().all(|p| p.len() == 13));
        }
    }
    assert!(summary.dataset.places.iter().all(Option::is_some));
    // Date and machine differ from run to run: they are in what is written, not in what is
    // compared.
    assert_eq!(summary.made, None);
    let concluded = conclude(&plan, &store, records).unwrap();
    assert!(concluded.made.is_some());
    assert_eq!(
        StudySummary {
            made: None,
            ..concluded
        },
        summary
    );
    assert!(folder.0.join("results.csv").exists());
}

#[test]
fn the_rows_of_the_ablation_are_explained() {
    let plan = Plan::new(config(Study::Ablation), &data()).unwrap();
    for name in plan.methods() {
        assert!(
            stiefel_study::about(Study::Ablation, name).is_some(),
            "{name}"
        );
    }
    for study in [Study::Loso, Study::Scaling, Study::Online] {
        let plan = Plan::new(config(study), &data()).unwrap();
        for name in plan.methods() {
            let own = name.rsplit(": ").next().unwrap();
            assert!(
                stiefel_study::about(study, own).is_some(),
                "{study}: {name}"
            );
        }
    }
}
