//! Studies of any shape, for reports.

use serde_json::json;
use stiefel_eeg::montage::position;
use stiefel_model::Measure;
use stiefel_model::diagnostics::{Carried, CarriedBy, Controls, RoutingReport};
use stiefel_model::metrics::{Decisions, Scores};
use stiefel_model::precondition::Adaptation;
use stiefel_model::routing_stats::{ExpertDiversity, RoutingStats};
use stiefel_model::train::EpochRecord;
use stiefel_study::{
    Comparison, DatasetSummary, Headline, Made, MeanStd, NewDomains, Outcome, PaperRow, Patterns,
    PersonDifference, RoutingRecord, Row, StudySummary, UnitRecord, UnitScore,
};

/// The shape of a study; names are used as they are.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// Methods, and whether they route.
    pub methods: Vec<(String, bool)>,
    pub folds: usize,
    pub seeds: Vec<u64>,
    pub domains: Vec<String>,
    pub classes: Vec<String>,
    pub channels: Vec<String>,
    pub experts: usize,
    /// Every number that is drawn, in turn.
    pub numbers: Vec<f64>,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            methods: vec![("baseline".into(), false), ("DASP".into(), true)],
            folds: 3,
            seeds: vec![7, 8],
            domains: names("S", 4),
            classes: vec!["right hand".into(), "feet".into()],
            channels: ["Fz", "C3", "Cz", "C4", "Pz"].map(String::from).to_vec(),
            experts: 4,
            numbers: (1..40).map(|i| f64::from(i * 17 % 40) / 40.0).collect(),
        }
    }
}

pub(super) fn names(stem: &str, count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("{stem}{i}")).collect()
}

/// Gives the first method views that carry its decision, of everybody and of every domain, as CHOIR
/// has them.
pub(super) fn with_views(mut summary: StudySummary) -> StudySummary {
    let (channels, views) = (summary.dataset.channels.len(), 6);
    let of = |name: &str| CarriedBy {
        name: name.into(),
        shares: vec![1.0 / views as f64; views],
        patterns: vec![vec![(1..=channels).map(|c| c as f64).collect(); 2]; views],
    };
    let carried = Carried {
        views: (1..=views)
            .map(|v| format!("{v} to {} Hz", 2 * v))
            .collect(),
        shared: of("everybody"),
        people: summary.dataset.domains.iter().map(|d| of(d)).collect(),
    };
    summary.units[0].outcome.carried = Some(carried);
    summary
}

/// Numbers in turn.
struct Numbers<'a>(std::iter::Cycle<std::slice::Iter<'a, f64>>);

impl Numbers<'_> {
    fn next(&mut self) -> f64 {
        self.0.next().copied().unwrap_or(0.5)
    }

    fn list(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }

    fn mean_std(&mut self) -> MeanStd {
        let (mean, std) = (self.next(), self.next() / 10.0);
        MeanStd {
            mean,
            std,
            count: 6,
        }
    }
}

pub(super) fn study(shape: &Shape) -> StudySummary {
    let mut x = Numbers(shape.numbers.iter().cycle());
    let mut units = Vec::new();
    for (method, routed) in &shape.methods {
        for &seed in &shape.seeds {
            for fold in 0..shape.folds {
                units.push(unit(shape, &mut x, method, *routed, fold, seed));
            }
        }
    }
    let rows: Vec<Row> = shape
        .methods
        .iter()
        .map(|m| row(shape, &mut x, &m.0, m.1))
        .collect();
    let comparison = |x: &mut Numbers<'_>, method: &String| Comparison {
        method: method.clone(),
        against: shape.methods[0].0.clone(),
        subjects: shape.domains.len(),
        difference: 0.03,
        interval: Some((x.next() - 0.5, x.next())),
        people: (shape.domains.iter())
            .map(|subject| {
                let difference = x.next() - 0.5;
                PersonDifference {
                    subject: subject.clone(),
                    difference,
                    interval: Some((difference - 0.2, difference + 0.2)),
                    trials: 30,
                }
            })
            .collect(),
        effect: None,
        wilcoxon: Some(0.2),
        sign_flip: Some(0.01),
        holm: None,
    };
    let comparisons: Vec<Comparison> = (shape.methods.iter().skip(1))
        .map(|m| comparison(&mut x, &m.0))
        .collect();
    StudySummary {
        study: "main".into(),
        dataset: dataset(shape),
        protocol: "5 folds".into(),
        settings: json!({"preconditioning": {"unseen": {"policy": "own-mean", "kappa": 10.0}}}),
        code: "0.1.0".into(),
        rows,
        headline: comparisons.first().map(|c| Headline {
            sentence: format!("{} is better than {}.", c.method, c.against),
            method: c.method.clone(),
            against: c.against.clone(),
        }),
        comparisons,
        made: Some(Made {
            date: "2026-03-01 14:05 UTC".into(),
            system: "linux x86_64".into(),
            processor: Some("A processor".into()),
            threads: 2,
            instructions: "avx2".into(),
        }),
        paper: vec![PaperRow {
            method: "DASP".into(),
            accuracy: 0.823,
            std: Some(0.011),
            over_baseline: Some(0.05),
            proxy_gap: Some(0.029),
            folds: Some((4, 5)),
            entropy: Some(0.674),
            alignment: None,
        }],
        verdict: vec!["Routing is not what helps here.".into()],
        methods: "Covariances were whitened.".into(),
        units,
    }
}

fn dataset(shape: &Shape) -> DatasetSummary {
    DatasetSummary {
        name: "test data".into(),
        fingerprint: "ab".repeat(32),
        quality: stiefel_data::Quality::default(),
        trials: 100,
        channels: shape.channels.clone(),
        places: shape.channels.iter().map(|c| position(c)).collect(),
        classes: shape.classes.clone(),
        domains: shape.domains.clone(),
        subjects: shape.domains.clone(),
        subject_of_domain: (0..shape.domains.len()).collect(),
        rejected: shape.domains.iter().map(|d| (d.clone(), 2)).collect(),
        preparation: None,
        licence: Some("CC BY 4.0".into()),
        citation: None,
    }
}

fn scores() -> Scores {
    let (truth, decided) = (&[0, 1, 1, 0], &[0, 1, 0, 0]);
    let decisions = Decisions {
        truth,
        decided,
        values: None,
        classes: 2,
    };
    decisions.scores().unwrap()
}

fn unit(
    shape: &Shape,
    x: &mut Numbers<'_>,
    method: &str,
    routed: bool,
    fold: usize,
    seed: u64,
) -> UnitRecord {
    let trials = 3 * shape.domains.len();
    let domains: Vec<usize> = (0..trials).map(|i| i / 3).collect();
    let epochs = 5 + fold;
    let history = (0..epochs).map(|epoch| EpochRecord {
        epoch,
        losses: vec![
            ("cross-entropy".into(), x.next()),
            ("balance".into(), x.next()),
        ],
        validation_loss: x.next(),
        validation_accuracy: x.next(),
        routing_entropy: routed.then(|| x.next()),
        expert_spread: None,
        routing_gradient: None,
        expert_singular: None,
        routed_singular: None,
        orthonormality: 0.0,
    });
    let history = history.collect();
    UnitRecord {
        id: format!("{method}{fold}{seed}"),
        code: "0.1.0".into(),
        dataset: "ab".repeat(32),
        method: method.into(),
        settings: json!({"name": method}),
        fold,
        held_out: None,
        seed,
        outcome: Outcome {
            new_domains: Some(NewDomains {
                names: vec!["S1".into()],
                policy: Some(Adaptation::OwnMean { kappa: 10.0 }),
            }),
            test: (0..trials).collect(),
            truth: vec![0; trials],
            decided: vec![0; trials],
            probabilities: vec![0.5; 2 * trials],
            scores: scores(),
            carried: None,
            routing: routed.then(|| routing(shape, x, trials)),
            patterns: patterns(shape, x, routed),
            notes: vec!["C was chosen on validation.".into()],
            domains,
            history,
        },
        seconds: Some(1.0),
    }
}

fn routing(shape: &Shape, x: &mut Numbers<'_>, trials: usize) -> RoutingRecord {
    let k = shape.experts;
    RoutingRecord {
        report: RoutingReport {
            rank: None,
            scores: scores(),
            proxy_accuracy: Measure::Value(0.7),
            proxy_gap: Measure::Value(x.next() / 10.0),
            stats: Some(RoutingStats {
                entropy: Measure::Value(0.6),
                domain_alignment: Measure::undefined("the weights are constant"),
                domain_alignment_paper: Measure::Value(0.42),
                mean_weights: vec![1.0 / k as f64; k],
            }),
            diversity: Some(ExpertDiversity {
                mean_angle: Measure::Value(40.0),
                share_of_largest: Measure::undefined("square experts"),
                random_mean_angle: Measure::Value(45.0),
            }),
            controls: Some(Controls {
                permuted: x.next(),
                domain_mean: x.next(),
                hard_top1: x.next(),
                retrained: None,
            }),
        },
        domain_weights: shape.domains.iter().map(|_| x.list(k)).collect(),
        queries: (0..trials).map(|_| [x.next(), x.next()]).collect(),
        angles: (0..k).map(|_| x.list(k)).collect(),
    }
}

fn patterns(shape: &Shape, x: &mut Numbers<'_>, routed: bool) -> Vec<Patterns> {
    let count = if routed { shape.experts } else { 1 };
    let mut one = |filter: String| Patterns {
        filter,
        patterns: vec![x.list(shape.channels.len()), x.list(shape.channels.len())],
    };
    (0..count)
        .map(|k| one(format!("filter {}", k + 1)))
        .collect()
}

fn row(shape: &Shape, x: &mut Numbers<'_>, method: &str, routed: bool) -> Row {
    let unit = |(seed, fold): (u64, usize), accuracy| UnitScore {
        fold,
        seed,
        accuracy,
    };
    let pairs = shape
        .seeds
        .iter()
        .flat_map(|&s| (0..shape.folds).map(move |f| (s, f)));
    Row {
        labels: None,
        size: None,
        about: Some(format!("what {method} is")),
        method: method.into(),
        cell: None,
        accuracy: x.mean_std(),
        roc_auc: Some(x.mean_std()),
        kappa: Some(x.mean_std()),
        over_baseline: Some(x.next()),
        folds_won: Some((2, 6)),
        proxy_gap: routed.then(|| x.mean_std()),
        genuine: routed.then_some((1, 6)),
        routing: None,
        entropy: routed.then(|| x.next()),
        alignment: None,
        alignment_paper: None,
        controls: if routed {
            vec![("permuted".into(), x.next())]
        } else {
            Vec::new()
        },
        units: pairs.map(|p| unit(p, x.next())).collect(),
        per_subject: shape
            .domains
            .iter()
            .map(|d| (d.clone(), x.next()))
            .collect(),
        confusion: vec![vec![7; shape.classes.len()]; shape.classes.len()],
        seconds: Some(1.5),
    }
}
