//! Which labels contradict others, run by run.

use stiefel_data::{Factor, LabelUse, Labels, Trials};
use stiefel_linalg::MatBatch;

/// Label, class, whether a rule of runs, meaning and runs.
type Use<'a> = (&'a str, &'a str, bool, Option<&'a str>, &'a [&'a str]);

fn labels(uses: &[Use<'_>]) -> Labels {
    let mut labels = Labels::default();
    for &(label, class, by_run, meaning, runs) in uses {
        labels.add(LabelUse {
            label: label.into(),
            class: class.into(),
            by_run,
            meaning: meaning.map(str::to_owned),
            runs: runs.iter().map(ToString::to_string).collect(),
            events: 1,
        });
    }
    labels
}

#[test]
fn a_label_may_mean_two_things_in_two_runs_where_rules_say_so() {
    let four = labels(&[
        ("T1", "left", true, Some("left_hand"), &["R04", "R08"]),
        ("T1", "hands", true, Some("hands"), &["R06"]),
    ]);
    let agrees = |other: &Labels| four.contradiction(other).is_none();
    assert!(agrees(&four) && four.ambiguous().is_none());
    // Another run of the same task, and a label without a known meaning.
    assert!(agrees(&labels(&[(
        "T1",
        "hands",
        true,
        Some("hands"),
        &["R10"]
    )])));
    assert!(agrees(&labels(&[("T1", "hands", false, None, &["R06"])])));
    assert!(agrees(&labels(&[("769", "left", false, None, &[])])));
    // The class of another task, in its own run, and anywhere by a rule for all runs.
    for (class, by_run, meaning, run) in [
        ("left", true, None, "R06"),
        ("hands", true, Some("left_hand"), "R12"),
        ("feet", false, None, "R12"),
    ] {
        let other = labels(&[("T1", class, by_run, meaning, &[run])]);
        let found = four.contradiction(&other);
        assert!(found.is_some(), "{class} in {run}");
    }
}

#[test]
fn one_rule_for_two_meanings_is_seen() {
    let both = labels(&[
        ("T1", "fist", false, Some("left_hand"), &["R04"]),
        ("T1", "fist", false, Some("hands"), &["R06", "R10"]),
    ]);
    let [first, second] = both.ambiguous().unwrap();
    assert_eq!(
        (&first.runs[..], second.runs.len()),
        (&["R04".to_owned()][..], 2)
    );
}

#[test]
fn sets_are_put_together_by_name_and_a_trial_is_taken_once() {
    let set = |person: &str, run: &str, scale: f64| {
        let value = |i: usize, r, c| if r == c { scale + i as f64 } else { 0.0 };
        let classes = Factor::from_labels(["feet", "hands"]);
        Trials::new(
            MatBatch::from_fn(2, 2, 2, value),
            classes,
            Factor::from_labels([person; 2]),
        )
        .unwrap()
        .with_runs(Factor::from_labels([run; 2]))
        .unwrap()
    };
    let sets = [set("a", "1", 1.0), set("b", "1", 4.0), set("a", "2", 7.0)];
    let all = Trials::together(&sets).unwrap();
    assert_eq!(all.domains().indices(), [0, 0, 1, 1, 0, 0]);
    assert_eq!(all.classes().names(), ["feet", "hands"]);
    assert_eq!(all.runs().unwrap().indices(), [0, 0, 0, 0, 1, 1]);
    assert_eq!(all.covariances().get(5, 0, 0), 8.0);
    let twice = Trials::together(&[set("a", "1", 1.0), set("c", "9", 2.0)]).unwrap_err();
    assert!(
        twice
            .to_string()
            .contains("trial 0 of set 2 is the same as trial 1 of set 1")
    );
}
