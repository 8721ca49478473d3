//! Who a trial is: its matrices, and nothing else.

use stiefel_data::{Factor, Seen, Trials, fingerprint};
use stiefel_linalg::MatBatch;

fn trials(domains: [&str; 4]) -> Trials {
    let x = MatBatch::from_fn(
        4,
        2,
        2,
        |i, r, c| if r == c { 1.0 + i as f64 } else { 0.25 },
    );
    let classes = Factor::from_labels(["a", "b", "a", "b"]);
    Trials::new(x, classes, Factor::from_labels(domains)).unwrap()
}

#[test]
fn it_depends_on_the_matrices_alone() {
    let (one, other) = (trials(["s", "s", "t", "t"]), trials(["x", "y", "z", "w"]));
    assert_eq!(one.identities(), other.identities());
    assert_ne!(fingerprint(&one), fingerprint(&other));
    let all = one.identities();
    assert_eq!(one.select(&[2, 0]).unwrap().identities(), [all[2], all[0]]);
    // One more view is the same trial, however the views are picked.
    let two = one.clone().with_view(MatBatch::identity(4, 2)).unwrap();
    assert_eq!(two.identities(), all);
    assert_eq!(two.pick_views(&[1]).unwrap().identities(), all);
    assert_eq!(two.pick_views(&[1, 0]).unwrap().view(0), two.view(1));
}

#[test]
fn a_model_knows_the_trials_it_has_seen() {
    let all = trials(["s", "s", "t", "t"]);
    let part = |at: &[usize]| all.select(at).unwrap();
    let seen = Seen::of(&part(&[0, 1]), &part(&[1, 2]));
    assert_eq!(seen.divide(&all), [vec![0, 1], vec![2], vec![3]]);
    assert_eq!(seen.divide(&part(&[3, 0])), [vec![1], vec![], vec![0]]);
}

#[test]
fn it_survives_a_file_and_nonsense_is_refused() {
    let all = trials(["s", "s", "t", "t"]);
    let seen = Seen::of(&all.select(&[0, 1]).unwrap(), &all.select(&[2]).unwrap());
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Seen>(&text).unwrap(), seen);
    for bad in ["0", "xy", "é"] {
        let text = format!("{{\"trained\": \"{bad}\", \"stopped\": \"\"}}");
        assert!(serde_json::from_str::<Seen>(&text).is_err(), "{bad}");
    }
}
