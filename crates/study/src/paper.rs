//! The paper's figures, to be set beside ours (right hand against feet).

use crate::PaperRow;
use crate::config::Study;

/// `(method, bAcc, std, Δ_base, Δ_K1, folds won, H̄, r_d)`.
type Line = (
    &'static str,
    f64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<usize>,
    Option<f64>,
    Option<f64>,
);

const WEIBO: [Line; 3] = [
    ("baseline", 0.773, Some(0.020), None, None, None, None, None),
    (
        "naive",
        0.818,
        Some(0.031),
        Some(0.045),
        Some(0.0),
        Some(0),
        Some(0.836),
        Some(0.281),
    ),
    (
        "dasp",
        0.823,
        Some(0.011),
        Some(0.050),
        Some(0.029),
        Some(4),
        Some(0.674),
        Some(0.710),
    ),
];

const BNCI2015001: [Line; 3] = [
    ("baseline", 0.757, Some(0.017), None, None, None, None, None),
    (
        "naive",
        0.796,
        Some(0.012),
        Some(0.040),
        Some(0.050),
        Some(5),
        Some(0.494),
        Some(0.888),
    ),
    (
        "dasp",
        0.809,
        Some(0.009),
        Some(0.053),
        Some(0.247),
        Some(5),
        Some(0.482),
        Some(0.539),
    ),
];

const BNCI2014001: [Line; 2] = [
    ("baseline", 0.801, Some(0.023), None, None, None, None, None),
    (
        "dasp",
        0.839,
        Some(0.009),
        Some(0.038),
        Some(0.170),
        Some(5),
        Some(0.597),
        Some(0.828),
    ),
];

const ABLATION: [Line; 7] = [
    (
        "ref",
        0.818,
        None,
        Some(0.045),
        Some(0.0),
        None,
        Some(0.836),
        Some(0.281),
    ),
    (
        "b1",
        0.818,
        None,
        Some(0.045),
        Some(0.001),
        None,
        Some(0.973),
        Some(0.288),
    ),
    (
        "b2",
        0.819,
        None,
        Some(0.046),
        Some(0.006),
        None,
        Some(0.768),
        Some(0.278),
    ),
    (
        "b4",
        0.818,
        None,
        Some(0.045),
        Some(0.0),
        None,
        Some(0.853),
        Some(0.386),
    ),
    (
        "b12",
        0.805,
        None,
        Some(0.032),
        Some(0.027),
        None,
        Some(0.884),
        Some(0.335),
    ),
    (
        "dsp",
        0.810,
        None,
        Some(0.037),
        Some(0.016),
        None,
        Some(0.776),
        Some(0.690),
    ),
    (
        "dasp-full",
        0.823,
        None,
        Some(0.050),
        Some(0.029),
        None,
        Some(0.674),
        Some(0.710),
    ),
];

const LOSO: [Line; 5] = [
    ("baseline", 0.779, Some(0.087), None, None, None, None, None),
    ("full", 0.770, Some(0.080), None, None, None, None, None),
    (
        "input-only",
        0.776,
        Some(0.074),
        None,
        None,
        None,
        None,
        None,
    ),
    ("zero", 0.771, Some(0.081), None, None, None, None, None),
    ("nearest", 0.768, Some(0.098), None, None, None, None, None),
];

/// The rows the paper has for a dataset and a study; synthetic data of the same geometry is not its
/// data.
pub(crate) fn rows(dataset: &str, study: Study) -> Vec<PaperRow> {
    let is = |id: &str| dataset == id || dataset.starts_with(&format!("{id}:"));
    let lines: &[Line] = match study {
        Study::Main if is("weibo2014") => &WEIBO,
        Study::Main if is("bnci2015001") => &BNCI2015001,
        Study::Main if is("bnci2014001") => &BNCI2014001,
        Study::Ablation if is("weibo2014") => &ABLATION,
        Study::Loso if is("weibo2014") => &LOSO,
        _ => &[],
    };
    let row =
        |&(method, accuracy, std, over_baseline, proxy_gap, won, entropy, alignment): &Line| {
            PaperRow {
                method: method.into(),
                accuracy,
                std,
                over_baseline,
                proxy_gap,
                folds: won.map(|w| (w, 5)),
                entropy,
                alignment,
            }
        };
    lines.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StudyConfig;

    #[test]
    fn every_figure_stands_beside_a_method() {
        let of = |study| StudyConfig::new(study, "weibo2014").family(60, 9).unwrap();
        let all = |rows: Vec<crate::Named>| -> Vec<String> {
            let own = std::iter::once(of(Study::Main).by_name(crate::roster::BASELINE).unwrap());
            own.chain(rows).map(|m| m.name).collect()
        };
        let found = |dataset: &str, study, methods: &[String]| {
            let rows = rows(dataset, study);
            assert!(!rows.is_empty());
            for row in rows {
                assert!(methods.contains(&row.method), "{study}: {}", row.method);
            }
        };
        let main: Vec<String> = crate::Family::names().into_iter().map(Into::into).collect();
        for dataset in ["weibo2014", "bnci2014001:paper", "bnci2015001"] {
            found(dataset, Study::Main, &main);
        }
        let rows = of(Study::Ablation).ablation(8, 0.1).unwrap();
        found("weibo2014:paper", Study::Ablation, &all(rows));
        found(
            "weibo2014",
            Study::Loso,
            &all(of(Study::Loso).loso().unwrap()),
        );
        assert!(super::rows("synthetic:weibo2014", Study::Main).is_empty());
    }
}
