//! The single-trial path takes no memory once its buffers have grown.

use crate::support::mixed_trials;
use stiefel_model::precondition::{Preconditioning, Scaling, WhitenScratch};

#[test]
fn single_trials_are_whitened_without_allocation() {
    for n in [3, 13, 22, 64] {
        let trials = mixed_trials(1, 6, n, 2);
        for scaling in [Scaling::PerTrial, Scaling::PerDomain, Scaling::None] {
            let config = Preconditioning {
                scaling,
                ..Preconditioning::default()
            };
            let whitener = config.fit(&trials).unwrap();
            let mut scratch = WhitenScratch::default();
            let mut out = vec![0.0; n * n];
            let mut run = |i: usize| {
                let x = trials.covariances().matrix(i);
                whitener.transform_into(i % 2, x, &mut out, &mut scratch)
            };
            run(0).unwrap();
            let taken = allocation_counter::measure(|| {
                for i in 1..6 {
                    run(i).unwrap();
                }
            });
            assert_eq!(taken.count_total, 0, "n = {n}, {scaling:?}: {taken:?}");
        }
    }
}
