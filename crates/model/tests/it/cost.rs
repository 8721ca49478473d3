//! What the extensions cost, printed: `cargo test -p stiefel-model --test it cost -- --ignored
//! --nocapture`.

use std::time::{Duration, Instant};
use stiefel_model::adapt::{TransductiveConfig, Unlabelled, adapt_embedding};
use stiefel_model::net::{
    BarrierKind, DaspConfig, DaspNet, ExpertKind, LossWeights, Network, RoutingRule, Sizes,
};
use stiefel_model::train::Stepper;
use stiefel_model::{AdamConfig, Prepared};
use stiefel_testkit::{random_batch, random_spd};

const N: usize = 60;
const DOMAINS: usize = 9;

fn data() -> Prepared<f32> {
    Prepared::from_parts(
        random_spd(1, 32, N),
        random_batch(2, 32, 1, 40),
        (0..32).map(|i| i % 2).collect(),
        (0..32).map(|i| i % DOMAINS).collect(),
    )
    .unwrap()
}

fn network(change: impl Fn(&mut DaspConfig)) -> DaspNet {
    let sizes = Sizes {
        channels: N,
        classes: 2,
        domains: DOMAINS,
        encoded: 40,
        views: 1,
    };
    let mut config = DaspConfig::default();
    change(&mut config);
    DaspNet::new(sizes, config).unwrap()
}

#[test]
#[ignore = "a measurement, not a test"]
fn a_training_step_and_an_adaptation() {
    let data = data();
    let networks = [
        ("stiefel", network(|_| ())),
        (
            "top-p, p = 1",
            network(|c| c.routing = RoutingRule::TopP { p: 1 }),
        ),
        ("polar", network(|c| c.experts_kind = ExpertKind::Polar)),
        (
            "barrier",
            network(|c| {
                c.experts_kind = ExpertKind::Barrier {
                    kind: BarrierKind::Bounded,
                };
            }),
        ),
        (
            "csp",
            network(|c| {
                c.losses = LossWeights {
                    csp: 0.1,
                    ..c.losses
                };
            }),
        ),
    ];
    let mut steppers: Vec<_> = (networks.iter())
        .map(|(_, net)| {
            let parameters = Network::<f32>::initial(net, 1);
            Stepper::new(AdamConfig::default(), parameters).unwrap()
        })
        .collect();
    let mut best = [Duration::MAX; 5];
    // In turns, so that whatever else the machine does falls on all of them.
    for _ in 0..200 {
        for (i, (_, net)) in networks.iter().enumerate() {
            let start = Instant::now();
            steppers[i].step(net, &data.all()).unwrap();
            best[i] = best[i].min(start.elapsed());
        }
    }
    for ((name, _), time) in networks.iter().zip(best) {
        let ratio = time.as_secs_f64() / best[0].as_secs_f64();
        println!("{name:<14} {time:.2?} per step, {ratio:.2} × stiefel");
    }
    let trials = Unlabelled::from(&data);
    let parameters = Network::<f32>::initial(&networks[0].1, 1);
    let start = Instant::now();
    adapt_embedding(
        &networks[0].1,
        &parameters,
        &trials,
        &TransductiveConfig::default(),
    )
    .unwrap();
    println!("adaptation on 32 trials {:.2?}", start.elapsed());
}
