//! Writes the report of an invented study, to see what reports look like: no number in it was
//! measured. With the `summary.json` of a real study as a second argument, its report.
//!
//! `cargo run -p stiefel-study --example report_sample -- FOLDER [SUMMARY]`

use serde_json::json;
use stiefel_eeg::montage::Montage;
use stiefel_model::Measure;
use stiefel_model::diagnostics::{Controls, RoutingReport};
use stiefel_model::metrics::Decisions;
use stiefel_model::precondition::Adaptation;
use stiefel_model::routing_stats::{ExpertDiversity, RoutingStats};
use stiefel_model::train::EpochRecord;
use stiefel_study::{
    Comparison, DatasetSummary, Headline, Made, MeanStd, NewDomains, Outcome, PaperRow, Patterns,
    PersonDifference, RoutingRecord, Row, StudySummary, UnitRecord, UnitScore, report,
};

const METHODS: [(&str, f64, bool); 6] = [
    ("baseline", 0.77, false),
    ("naive", 0.80, true),
    ("DASP", 0.825, true),
    ("ts+lr", 0.79, false),
    ("ts+lr-per-domain", 0.75, false),
    ("mdm", 0.70, false),
];
const FOLDS: usize = 5;
const SEEDS: [u64; 2] = [7, 8];
const DOMAINS: usize = 9;
const EXPERTS: usize = 8;
const TRIALS: usize = 180;

/// Numbers in [0, 1) that look random (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn around(&mut self, middle: f64, width: f64) -> f64 {
        middle + width * (self.roll() + self.roll() + self.roll() - 1.5)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let summary = match std::env::args().nth(2) {
        Some(path) => serde_json::from_slice(&std::fs::read(path)?)?,
        None => sample()?,
    };
    let page = report::write(&summary, folder)?;
    println!("{}", page.display());
    Ok(())
}

fn sample() -> Result<StudySummary, Box<dyn std::error::Error>> {
    let mut dice = Dice(1);
    let mut units = Vec::new();
    for (method, level, routed) in METHODS {
        for seed in SEEDS {
            for fold in 0..FOLDS {
                units.push(unit(&mut dice, (method, level, routed), fold, seed)?);
            }
        }
    }
    let rows: Vec<Row> = METHODS
        .iter()
        .map(|m| row(&mut dice, m.0, &units))
        .collect();
    Ok(StudySummary {
        study: "main (INVENTED NUMBERS)".into(),
        dataset: dataset(),
        protocol: "Invented: 5 folds, each testing on its own 15 % of every (domain, class) cell; \
                   trials split at random."
            .into(),
        settings: json!({"study": "main", "folds": FOLDS, "seeds": SEEDS, "preconditioning": {"tikhonov": {"relative": 1e-8},
            "reference": "euclidean", "unseen": {"policy": "own-mean", "kappa": 10.0}}}),
        code: "0.1.0".into(),
        made: Some(Made::now()?),
        headline: Some(Headline {
            sentence: "INVENTED NUMBERS: DASP reaches 0.825, baseline 0.770.".into(),
            method: "DASP".into(),
            against: "baseline".into(),
        }),
        comparisons: comparisons(&rows),
        rows,
        paper: paper(),
        verdict: vec![
            "INVENTED NUMBERS: this report shows what reports look like; nothing was measured."
                .into(),
            "DASP beats the baseline in 10 of 10 folds.".into(),
            "Routing is not what helps here: with permuted weights the score is as good.".into(),
        ],
        methods: "Invented. Covariances (8–32 Hz, 3–7 s after the cue) were whitened per domain \
                  by the mean of its training trials.\nThe network had 8 experts, trained with \
                  Riemannian Adam (learning rate 0.01, batch 32, at most 40 epochs, patience 10)."
            .into(),
        units,
    })
}

fn dataset() -> DatasetSummary {
    let subjects: Vec<String> = (1..=DOMAINS).map(|s| format!("S{s}")).collect();
    DatasetSummary {
        name: "invented:weibo2014".into(),
        fingerprint: "0".repeat(64),
        quality: stiefel_data::Quality::default(),
        trials: 1260,
        channels: Montage::Weibo2014
            .channels()
            .iter()
            .map(|&c| c.into())
            .collect(),
        places: Montage::Weibo2014
            .channels()
            .iter()
            .map(|c| stiefel_eeg::montage::position(c))
            .collect(),
        classes: vec!["right hand".into(), "feet".into()],
        domains: subjects.clone(),
        rejected: subjects
            .iter()
            .enumerate()
            .map(|(i, s)| (s.clone(), i % 4))
            .collect(),
        subjects,
        subject_of_domain: (0..DOMAINS).collect(),
        preparation: Some("8–32 Hz, 3–7 s after the cue, sample covariance".into()),
        licence: None,
        citation: Some("invented".into()),
    }
}

fn unit(
    dice: &mut Dice,
    (method, level, routed): (&str, f64, bool),
    fold: usize,
    seed: u64,
) -> Result<UnitRecord, Box<dyn std::error::Error>> {
    let truth: Vec<usize> = (0..TRIALS).map(|i| i % 2).collect();
    let domains: Vec<usize> = (0..TRIALS).map(|i| i * DOMAINS / TRIALS).collect();
    let level = dice.around(level, 0.03) + 0.02 * fold as f64 - 0.04;
    let values: Vec<f64> = truth
        .iter()
        .map(|&t| {
            let right = dice.roll() < level;
            0.5 + (dice.roll() / 2.0) * if right == (t == 1) { 1.0 } else { -1.0 }
        })
        .collect();
    let decided: Vec<usize> = values.iter().map(|&v| usize::from(v >= 0.5)).collect();
    let scores = Decisions {
        truth: &truth,
        decided: &decided,
        values: Some(&values),
        classes: 2,
    }
    .scores()?;
    let own = scores.balanced_accuracy.value().unwrap_or(0.5);
    let routing = routed.then(|| {
        let controls = Controls {
            permuted: own - dice.around(0.004, 0.01),
            domain_mean: own - dice.around(0.0, 0.01),
            hard_top1: own - dice.around(0.03, 0.02),
            retrained: Some(own - dice.around(0.005, 0.02)),
        };
        routing(dice, &domains, scores.clone(), own, controls)
    });
    let history = if method.contains("ts") || method == "mdm" {
        Vec::new()
    } else {
        history(dice, level, routed)
    };
    Ok(UnitRecord {
        id: format!("{method}-{fold}-{seed}"),
        code: "0.1.0".into(),
        dataset: "0".repeat(64),
        method: method.into(),
        settings: json!({"method": method, "experts": EXPERTS}),
        fold,
        held_out: None,
        seed,
        outcome: Outcome {
            new_domains: Some(NewDomains {
                names: vec!["S1".into()],
                policy: Some(Adaptation::OwnMean { kappa: 10.0 }),
            }),
            test: (0..TRIALS).collect(),
            probabilities: values.iter().flat_map(|v| [1.0 - v, *v]).collect(),
            notes: if method == "ts+lr" {
                vec!["C = 0.1 chosen on validation.".into()]
            } else {
                Vec::new()
            },
            truth,
            domains,
            decided,
            scores,
            patterns: if routing.is_some() {
                patterns(dice)
            } else {
                Vec::new()
            },
            routing,
            carried: None,
            history,
        },
        seconds: Some(dice.around(3.0, 0.5)),
    })
}

fn history(dice: &mut Dice, level: f64, routed: bool) -> Vec<EpochRecord> {
    let epochs = 18 + (dice.roll() * 22.0) as usize;
    (0..epochs)
        .map(|epoch| {
            let done = 1.0 - (-(epoch as f64) / 6.0).exp();
            EpochRecord {
                epoch,
                losses: vec![
                    ("cross-entropy".into(), dice.around(0.7 - 0.5 * done, 0.02)),
                    ("balance".into(), dice.around(0.02, 0.005)),
                ],
                validation_loss: dice.around(0.7 - 0.25 * done + 0.004 * epoch as f64, 0.02),
                validation_accuracy: dice.around(0.5 + (level - 0.5) * done, 0.02),
                routing_entropy: routed.then(|| dice.around(1.0 - 0.35 * done, 0.02)),
                expert_spread: None,
                routing_gradient: None,
                expert_singular: None,
                routed_singular: None,
                orthonormality: 1e-14,
            }
        })
        .collect()
}

fn routing(
    dice: &mut Dice,
    domains: &[usize],
    scores: stiefel_model::metrics::Scores,
    own: f64,
    controls: Controls,
) -> RoutingRecord {
    let gap = dice.around(0.03, 0.03);
    let domain_weights: Vec<Vec<f64>> = (0..DOMAINS)
        .map(|d| {
            let raw: Vec<f64> = (0..EXPERTS)
                .map(|k| dice.roll() * 0.3 + if k == d % EXPERTS { 1.0 } else { 0.0 })
                .collect();
            let sum: f64 = raw.iter().sum();
            raw.into_iter().map(|w| w / sum).collect()
        })
        .collect();
    let mut angles = vec![vec![0.0; EXPERTS]; EXPERTS];
    for i in 0..EXPERTS {
        for j in 0..i {
            angles[i][j] = dice.around(42.0, 6.0);
            angles[j][i] = angles[i][j];
        }
    }
    RoutingRecord {
        report: RoutingReport {
            rank: None,
            scores,
            proxy_accuracy: Measure::Value(own - gap),
            proxy_gap: Measure::Value(gap),
            stats: Some(RoutingStats {
                entropy: Measure::Value(0.66),
                domain_alignment: Measure::Value(0.4),
                domain_alignment_paper: Measure::Value(0.42),
                mean_weights: vec![1.0 / EXPERTS as f64; EXPERTS],
            }),
            diversity: Some(ExpertDiversity {
                mean_angle: Measure::Value(42.0),
                share_of_largest: Measure::Value(0.47),
                random_mean_angle: Measure::Value(45.0),
            }),
            controls: Some(controls),
        },
        domain_weights,
        queries: domains
            .iter()
            .map(|&d| {
                let angle = d as f64 / DOMAINS as f64 * std::f64::consts::TAU;
                [
                    dice.around(2.0 * angle.cos(), 0.5),
                    dice.around(1.2 * angle.sin(), 0.5),
                ]
            })
            .collect(),
        angles,
    }
}

fn patterns(dice: &mut Dice) -> Vec<Patterns> {
    let places: Vec<[f64; 3]> = Montage::Weibo2014
        .channels()
        .iter()
        .map(|name| stiefel_eeg::montage::position(name).unwrap_or([0.0, 0.0, 1.0]))
        .collect();
    (0..EXPERTS)
        .map(|k| Patterns {
            filter: format!("expert {}", k + 1),
            patterns: (0..2)
                .map(|_| {
                    let centre = [dice.around(0.0, 0.6), dice.around(0.0, 0.5)];
                    let field = |p: &[f64; 3]| {
                        let far = (p[0] - centre[0]).powi(2) + (p[1] - centre[1]).powi(2);
                        (-4.0 * far).exp() - 0.25
                    };
                    places.iter().map(field).collect()
                })
                .collect(),
        })
        .collect()
}

fn mean_std(values: &[f64]) -> MeanStd {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    MeanStd {
        mean,
        std,
        count: values.len(),
    }
}

fn row(dice: &mut Dice, method: &str, units: &[UnitRecord]) -> Row {
    let mine: Vec<&UnitRecord> = units.iter().filter(|u| u.method == method).collect();
    let score = |u: &UnitRecord| u.outcome.scores.balanced_accuracy.value().unwrap_or(0.5);
    let scores: Vec<UnitScore> = mine
        .iter()
        .map(|u| UnitScore {
            fold: u.fold,
            seed: u.seed,
            accuracy: score(u),
        })
        .collect();
    let accuracies: Vec<f64> = scores.iter().map(|s| s.accuracy).collect();
    let accuracy = mean_std(&accuracies);
    let baseline: Vec<f64> = units
        .iter()
        .filter(|u| u.method == METHODS[0].0)
        .map(score)
        .collect();
    let won = accuracies
        .iter()
        .zip(&baseline)
        .filter(|(a, b)| a > b)
        .count();
    let over = accuracy.mean - mean_std(&baseline).mean;
    let gaps: Vec<f64> = mine
        .iter()
        .filter_map(|u| u.outcome.routing.as_ref()?.report.proxy_gap.value())
        .collect();
    let routed = !gaps.is_empty();
    let mut confusion = vec![vec![0; 2]; 2];
    for unit in &mine {
        for (&t, &p) in unit.outcome.truth.iter().zip(&unit.outcome.decided) {
            confusion[t][p] += 1;
        }
    }
    let other = method != METHODS[0].0;
    Row {
        labels: None,
        size: None,
        about: None,
        method: method.into(),
        cell: None,
        roc_auc: Some(MeanStd {
            mean: accuracy.mean + 0.04,
            ..accuracy
        }),
        kappa: Some(MeanStd {
            mean: 2.0 * accuracy.mean - 1.0,
            ..accuracy
        }),
        over_baseline: other.then_some(over),
        folds_won: other.then_some((won, accuracies.len())),
        proxy_gap: routed.then(|| mean_std(&gaps)),
        genuine: routed.then(|| (gaps.iter().filter(|g| **g > 0.01).count(), gaps.len())),
        routing: None,
        entropy: routed.then_some(0.66),
        alignment: routed.then_some(0.4),
        alignment_paper: None,
        controls: if routed {
            let controls = [
                ("uniform", 0.03),
                ("permuted", 0.004),
                ("domain mean", 0.0),
                ("hard top-1", 0.03),
                ("retrained K=1", 0.005),
            ];
            controls
                .map(|(name, less)| (name.to_owned(), accuracy.mean - less))
                .to_vec()
        } else {
            Vec::new()
        },
        units: scores,
        per_subject: (1..=DOMAINS)
            .map(|s| (format!("S{s}"), dice.around(accuracy.mean, 0.12)))
            .collect(),
        confusion,
        seconds: Some(3.0),
        accuracy,
    }
}

fn comparisons(rows: &[Row]) -> Vec<Comparison> {
    let compared = rows.iter().skip(1).enumerate();
    compared
        .map(|(i, row)| Comparison {
            method: row.method.clone(),
            against: rows[0].method.clone(),
            subjects: DOMAINS,
            difference: row.accuracy.mean - rows[0].accuracy.mean,
            interval: None,
            people: (row.per_subject.iter().zip(&rows[0].per_subject))
                .map(|(a, b)| PersonDifference {
                    subject: a.0.clone(),
                    difference: a.1 - b.1,
                    interval: Some((a.1 - b.1 - 0.1, a.1 - b.1 + 0.1)),
                    trials: 20,
                })
                .collect(),
            effect: Some(0.9 - 0.3 * i as f64),
            wilcoxon: Some(0.004 * (i + 1) as f64),
            sign_flip: Some((0.0004 * (1 << (3 * i)) as f64).min(1.0)),
            holm: (i < 4).then_some((0.002 * (1 << (3 * i)) as f64).min(1.0)),
        })
        .collect()
}

fn paper() -> Vec<PaperRow> {
    let row = |method: &str, accuracy, std, gaps: Option<(f64, f64, usize, f64, f64)>| PaperRow {
        method: method.into(),
        accuracy,
        std: Some(std),
        over_baseline: gaps.map(|g| g.0),
        proxy_gap: gaps.map(|g| g.1),
        folds: gaps.map(|g| (g.2, 5)),
        entropy: gaps.map(|g| g.3),
        alignment: gaps.map(|g| g.4),
    };
    vec![
        row("baseline", 0.773, 0.020, None),
        row("naive", 0.818, 0.031, Some((0.045, 0.0, 0, 0.836, 0.281))),
        row("DASP", 0.823, 0.011, Some((0.050, 0.029, 4, 0.674, 0.710))),
    ]
}
