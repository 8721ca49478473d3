//! Bare matrices are told apart by their sketches, among many people and windows.

use stiefel_data::{Factor, Recipe, Trials, View};
use stiefel_eeg::montage::Montage;
use stiefel_eeg::recipe::Preparing;
use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
use stiefel_linalg::MatBatch;

/// The matrices of all views, one after the other, as trials that nothing is known of.
fn bare(trials: &Trials, f: impl Fn(f64) -> f64) -> Trials {
    let (count, n) = (trials.len() * trials.views(), trials.channels_count());
    let views = (0..trials.views()).flat_map(|v| trials.view(v).data().iter().copied());
    let x = MatBatch::from_vec(count, n, n, views.map(f).collect()).unwrap();
    let one = || Factor::from_labels(vec!["a"; count]);
    Trials::new(x, one(), one()).unwrap()
}

#[test]
fn no_two_of_many_people_in_six_windows_have_one_sketch() {
    let classes = [Imagery::RightHand, Imagery::Feet];
    let people = vec![1; 60];
    let config = SyntheticConfig::of(Montage::Bnci2015001, 128.0, people, 1, 8, &classes);
    let windows = [
        [0.5, 3.5],
        [0.25, 2.25],
        [0.5, 2.5],
        [1.0, 3.0],
        [0.6, 3.6],
        [0.5, 3.4],
    ];
    let recipe = Recipe {
        views: windows
            .map(|window| View {
                band: [8.0, 32.0],
                window,
            })
            .to_vec(),
        classes: classes
            .map(|c| (c.label().to_owned(), c.label().to_owned()))
            .to_vec(),
        reject: None,
        ..Recipe::default()
    };
    let mut preparing = Preparing::new(&recipe).unwrap();
    let study = Synthetic::new(config).unwrap();
    for item in study.recordings() {
        let item = item.unwrap();
        let name = format!("S{}", item.subject);
        preparing.add(item.recording, &name, None).unwrap();
    }
    let made = preparing.finish().unwrap().trials;
    assert!(made.repeated().is_empty());
    let all = bare(&made, |x| x);
    assert!(all.len() == 60 * 16 * 6, "{}", all.len());
    assert_eq!(all.repeated(), []);
    // In single precision and another unit each is itself again, and no other.
    let again = bare(&made, |x| f64::from((x * 1e-12) as f32));
    let both = all.joined(&again).unwrap();
    let count = all.len();
    let expected: Vec<(usize, usize)> = (0..count).map(|i| (count + i, i)).collect();
    assert_eq!(both.repeated(), expected);
}
