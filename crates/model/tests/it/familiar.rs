//! Distances to training: held-out trials of somebody known are spread evenly over the ranks,
//! whoever it is.

use stiefel_linalg::MatBatch;
use stiefel_model::fitted::{Distances, FamiliarityCheck};
use stiefel_model::tolerance::UNFAMILIAR;
use stiefel_model::train::Silent;
use stiefel_model::{Factor, FittedModel, ModelSpec, Trials};
use stiefel_testkit::random_batch;

const N: usize = 6;

/// Covariances of `samples` normal samples each; fewer scatter more.
fn wishart(seed: u64, count: usize, samples: usize) -> MatBatch<f64> {
    let x = random_batch::<f64>(seed, count, samples, N);
    let mut out = MatBatch::zeros(count, N, N);
    for i in 0..count {
        for r in 0..N {
            for c in 0..N {
                let sum: f64 = (0..samples).map(|t| x.get(i, t, r) * x.get(i, t, c)).sum();
                out.matrix_mut(i)[r * N + c] = sum / samples as f64;
            }
        }
    }
    out
}

#[test]
fn held_out_trials_are_spread_evenly_whoever_it_is() {
    // Three people whose trials scatter differently, as people do.
    let scatter = [("near", 400), ("usual", 60), ("far", 20)];
    let count = 60;
    let mut all = Vec::new();
    for (d, (_, samples)) in scatter.iter().enumerate() {
        all.extend(wishart(d as u64 + 1, count, *samples).into_vec());
    }
    let x = MatBatch::from_vec(3 * count, N, N, all).unwrap();
    let names = scatter.map(|(name, _)| name.to_owned()).to_vec();
    let domains = Factor::new("domain", names, (0..3 * count).map(|i| i / count).collect());
    let classes = vec!["a".to_owned(), "b".to_owned()];
    let classes = Factor::new("class", classes, (0..3 * count).map(|i| i % 2).collect());
    let trials = Trials::new(x, classes.unwrap(), domains.unwrap()).unwrap();
    let config = ModelSpec::default();
    let model = FittedModel::fit(&trials, &trials, &config, &mut Silent).unwrap();
    let distances = model.distances().unwrap();
    for (d, (name, samples)) in scatter.iter().enumerate() {
        let held_out = wishart(100 + d as u64, 200, *samples);
        let mut baseline = model.familiarity_baseline(name, None).unwrap().unwrap();
        let mut ranks: Vec<f64> = (0..200)
            .map(|i| {
                let distance = baseline.distance(held_out.matrix(i)).unwrap();
                distances.quantile_of(distance / distances.scale(Some(d)))
            })
            .collect();
        ranks.sort_by(f64::total_cmp);
        // The largest gap between the distribution of the ranks and the uniform one.
        let gap = ranks
            .iter()
            .enumerate()
            .map(|(i, r)| (r - i as f64 / 200.0).abs());
        let gap = gap.fold(0.0, f64::max);
        assert!(gap < 0.25, "{name}: {gap}");
    }
    // By one measure for everybody the near ones would all rank low and the far ones high.
    let ratio = distances.scale(Some(2)) / distances.scale(Some(0));
    assert!(ratio > 2.0, "{ratio}");
    let again: Distances =
        serde_json::from_str(&serde_json::to_string(distances).unwrap()).unwrap();
    assert_eq!(&again, distances);
}

#[test]
fn distances_of_damaged_files_are_refused() {
    for bad in [
        "[]",
        "[1.0, 2.0]",
        "{\"ratios\":[2.0,1.0],\"medians\":[1.0]}",
        "{\"ratios\":[1.0],\"medians\":[null]}",
        "{\"ratios\":[],\"medians\":[1.0]}",
        "{\"ratios\":[1.0],\"medians\":[-1.0]}",
    ] {
        assert!(serde_json::from_str::<Distances>(bad).is_err(), "{bad}");
    }
}

#[test]
fn trials_of_a_file_are_judged_as_windows_of_a_stream_are() {
    let of = |x: MatBatch<f64>, name: &str| {
        let count = x.count();
        let classes = Factor::from_labels((0..count).map(|i| ["a", "b"][i % 2]));
        Trials::new(x, classes, Factor::from_labels(vec![name; count])).unwrap()
    };
    let training = of(wishart(1, 60, 60), "known");
    let model = FittedModel::fit(&training, &training, &ModelSpec::default(), &mut Silent).unwrap();
    // The last ten of thirty trials have ten times the amplitude at two electrodes.
    let mut x = wishart(2, 30, 60);
    for i in 20..30 {
        for (at, value) in x.matrix_mut(i).iter_mut().enumerate() {
            let loud = |c: usize| if c < 2 { 10.0 } else { 1.0 };
            *value *= loud(at / N) * loud(at % N);
        }
    }
    for name in ["known", "new"] {
        let trials = of(x.clone(), name);
        let offline = model.familiarity(&trials).unwrap();
        let mut check = FamiliarityCheck::new(&model, name, UNFAMILIAR)
            .unwrap()
            .unwrap();
        for (i, offline) in offline.iter().enumerate() {
            let live = check.judge(x.matrix(i)).unwrap();
            assert_eq!(*offline, live, "{name} {i}");
            let strange = live.is_some_and(|f| f.unfamiliar);
            assert_eq!(strange, i >= 20, "{name} {i}");
            assert_eq!(live.is_none(), name == "new" && i < 10, "{name} {i}");
            if !strange {
                check.learn(&model, name, x.matrix(i), live).unwrap();
            }
        }
        let judged = model.judge(&of(x.clone(), "known"), None).unwrap();
        assert_eq!(judged.unfamiliar(), (20..30).collect::<Vec<_>>());
    }
}
