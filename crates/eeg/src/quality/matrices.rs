//! What covariances tell of electrodes and people: the broad view, person by person.

use stiefel_data::{Amplitudes, Finding, FindingKind, Quality, Trials};

use super::median;
use super::signals::{rounded, sizes};
use crate::Result;
use crate::covariance::Rank;
use crate::montage::position;
use crate::tolerance::{
    BRIDGED, DISCONNECTED, DISCONNECTED_CHANNELS, FLAT_SHARE, NAMES, NAMES_CHANNELS, TOLD_SHARE,
};

/// Returns the amplitudes of trials without a signal, standard deviations, and what they tell.
pub(super) fn amplitudes(trials: &Trials) -> Quality {
    let mut quality = Quality {
        measure: "standard deviation in the unit of the covariances".into(),
        electrodes: trials.channel_names(),
        ..Quality::default()
    };
    let n = trials.channels_count();
    for domain in trials.domains().present() {
        let (name, at) = (trials.domains().name(domain), trials.of_domain(domain));
        let (mut own, mut flat) = (vec![Vec::with_capacity(at.len()); n], vec![0; n]);
        for i in &at {
            let matrix = trials.covariances().matrix(*i);
            let deviations: Vec<f64> = (0..n).map(|c| matrix[c * n + c].max(0.0).sqrt()).collect();
            let middle = median(&mut deviations.clone());
            for (c, x) in deviations.into_iter().enumerate() {
                flat[c] += usize::from(x <= FLAT_SHARE * middle);
                own[c].push(x);
            }
        }
        let each = |figure: fn(&[f64]) -> f64| own.iter().map(|x| rounded(figure(x))).collect();
        quality.amplitudes.push(Amplitudes {
            domain: name.to_owned(),
            median: each(|x| median(&mut x.to_vec())),
            low: each(|x| x.iter().copied().fold(f64::INFINITY, f64::min)),
            high: each(|x| x.iter().copied().fold(0.0, f64::max)),
        });
        let told = |c: &usize| flat[*c] as f64 >= (TOLD_SHARE * at.len() as f64).max(1.0);
        let electrodes: Vec<usize> = (0..n).filter(told).collect();
        for c in electrodes {
            quality.findings.push(Finding {
                share: flat[c] as f64 / at.len() as f64,
                ..finding(
                    FindingKind::Flat,
                    name,
                    vec![quality.electrodes[c].clone()],
                    own[c].iter().copied().fold(f64::INFINITY, f64::min),
                    &quality.measure,
                )
            });
        }
    }
    // Whose unit is not known may be in volts as well.
    let found = sizes(&quality, None, |_| 0.0);
    quality.findings.extend(found);
    quality
}

/// Returns what the covariances of every person tell.
pub(super) fn findings(trials: &Trials) -> Result<Vec<Finding>> {
    let (n, ranks) = (trials.channels_count(), trials.ranks()?);
    let names = trials.channel_names();
    let mut found = Vec::new();
    for domain in trials.domains().present() {
        let (name, at) = (trials.domains().name(domain), trials.of_domain(domain));
        let mut mean = vec![0.0; n * n];
        for &i in &at {
            for (m, x) in mean.iter_mut().zip(trials.covariances().matrix(i)) {
                *m += x / at.len() as f64;
            }
        }
        let deficient = at.iter().filter(|&&i| ranks[i] < n).count();
        if let Some(least) = at.iter().map(|&i| ranks[i]).min().filter(|r| *r < n) {
            let mut measure = format!("of {n}, the least rank is");
            // Flat electrodes and copies are findings of their own.
            if let Some(loss) = Rank::of(&mean, &names, usize::MAX)?.losses.first() {
                measure = format!("{loss}; {measure}");
            }
            found.push(Finding {
                share: deficient as f64 / at.len() as f64,
                ..finding(FindingKind::Rank, name, Vec::new(), least as f64, &measure)
            });
        }
        found.extend(electrodes(&mean, name, &names));
    }
    Ok(found)
}

/// Finds disconnected and bridged electrodes, and names that do not fit, in a mean covariance.
fn electrodes(mean: &[f64], domain: &str, names: &[String]) -> Vec<Finding> {
    let n = names.len();
    let at = |i: usize, j: usize| mean[i * n + j];
    let mut variances: Vec<f64> = (0..n).map(|i| at(i, i)).collect();
    // Of a flat electrode rounding is left, which is like nothing else.
    let least = FLAT_SHARE * FLAT_SHARE * median(&mut variances);
    let alive = |i: &usize| at(*i, *i) > least;
    let alike = |i: usize, j: usize| at(i, j) / (at(i, i) * at(j, j)).sqrt();
    let living: Vec<usize> = (0..n).filter(alive).collect();
    let mut found = Vec::new();
    for (place, &i) in living.iter().enumerate() {
        let others = living.iter().filter(|&&j| j != i);
        let most = others.map(|&j| alike(i, j).abs()).fold(0.0, f64::max);
        if n >= DISCONNECTED_CHANNELS && most < DISCONNECTED {
            let measure = "largest correlation with another";
            let electrodes = vec![names[i].clone()];
            found.push(finding(
                FindingKind::Disconnected,
                domain,
                electrodes,
                most,
                measure,
            ));
        }
        for &j in &living[..place] {
            let difference = (at(i, i) + at(j, j) - 2.0 * at(i, j)).max(0.0);
            let share = difference / at(i, i).min(at(j, j));
            if n > 2 && share < BRIDGED {
                let measure = "variance of the difference as a share of their own";
                let electrodes = vec![names[j].clone(), names[i].clone()];
                found.push(finding(
                    FindingKind::Bridged,
                    domain,
                    electrodes,
                    share,
                    measure,
                ));
            }
        }
    }
    let places: Vec<(usize, [f64; 3])> = (living.iter())
        .filter_map(|&i| Some((i, position(&names[i])?)))
        .collect();
    let fit = fit_of_names(&places, alike);
    if places.len() >= NAMES_CHANNELS && fit > NAMES {
        let measure = "correlation of likeness and distance";
        found.push(finding(
            FindingKind::Names,
            domain,
            Vec::new(),
            fit,
            measure,
        ));
    }
    found
}

/// Returns the correlation, over all pairs of electrodes, of the likeness of their signals with
/// their distance on the head.
fn fit_of_names(places: &[(usize, [f64; 3])], alike: impl Fn(usize, usize) -> f64) -> f64 {
    let mut pairs = Vec::with_capacity(places.len() * places.len() / 2);
    for (k, (i, a)) in places.iter().enumerate() {
        for (j, b) in &places[..k] {
            let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            pairs.push((square.sqrt(), alike(*i, *j)));
        }
    }
    let count = pairs.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| pairs.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let moment =
        |f: &dyn Fn(f64, f64) -> f64| -> f64 { pairs.iter().map(|p| f(p.0 - x, p.1 - y)).sum() };
    moment(&|a, b| a * b) / (moment(&|a, _| a * a) * moment(&|_, b| b * b)).sqrt()
}

fn finding(
    kind: FindingKind,
    domain: &str,
    electrodes: Vec<String>,
    value: f64,
    measure: &str,
) -> Finding {
    Finding {
        kind,
        domain: domain.to_owned(),
        runs: Vec::new(),
        electrodes,
        share: 1.0,
        value: rounded(value),
        measure: measure.to_owned(),
        worthless: false,
    }
}
