//! Simulated trials: from a generator to covariances.

use stiefel_data::{Recipe, Trials};

use super::{Inputs, run};
use crate::synthetic::SyntheticConfig;
use crate::{EegError, Result};

/// Simulates recordings and prepares them: 8–32 Hz, from half a second after the cue to the end of
/// the imagery.
///
/// ```
/// use stiefel_eeg::synthetic::SyntheticConfig;
///
/// let config = SyntheticConfig {
///     sessions: vec![1; 2],
///     trials_per_class: 4,
///     ..SyntheticConfig::bnci2015001()
/// };
/// let trials = stiefel_eeg::recipe::simulate(&config)?;
/// assert_eq!(
///     (trials.channels_count(), trials.domains().names().len()),
///     (13, 2)
/// );
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn simulate(config: &SyntheticConfig) -> Result<Trials> {
    let mut inputs = Inputs::simulated(config, "simulated")?;
    let recipe = Recipe {
        views: inputs.views(None, None, "broad")?,
        ..Recipe::default()
    };
    Ok(run(&recipe, inputs, &mut |_| {})?.0)
}

/// Returns the generator that a text stands for: `weibo2014,subjects=4,trials=20`.
pub(super) fn generator(text: &str) -> Result<SyntheticConfig> {
    let mut parts = text.split(',');
    let geometry = parts.next().unwrap_or_default();
    let mut config = match geometry {
        "weibo2014" => SyntheticConfig::weibo2014(),
        "bnci2014001" => SyntheticConfig::bnci2014001(),
        "bnci2015001" => SyntheticConfig::bnci2015001(),
        other => {
            return Err(EegError::setting(
                format!("there is no synthetic geometry \"{other}\""),
                "the geometries are weibo2014, bnci2014001 and bnci2015001",
            ));
        }
    };
    for part in parts {
        option(&mut config, part)?;
    }
    Ok(config)
}

fn option(config: &mut SyntheticConfig, part: &str) -> Result<()> {
    let bad = || {
        EegError::setting(
            format!("\"{part}\" is not an option of a synthetic dataset"),
            "the options are subjects=1…100, sessions=1…10, trials=2…1000 (per class and \
             session), seed=N, anatomy=0…3",
        )
    };
    let (key, value) = part.split_once('=').ok_or_else(bad)?;
    let whole = |low: u64, high: u64| {
        let number = value.parse::<u64>().ok();
        number.filter(|x| (low..=high).contains(x)).ok_or_else(bad)
    };
    match key {
        "subjects" => {
            let count = whole(1, 100)? as usize;
            let cycle = config.sessions.clone();
            config.sessions = cycle.into_iter().cycle().take(count).collect();
        }
        "sessions" => config.sessions.fill(whole(1, 10)? as usize),
        "trials" => config.trials_per_class = whole(2, 1000)? as usize,
        "seed" => config.seed = whole(0, u64::MAX)?,
        "anatomy" => {
            let spread = value.parse::<f64>().ok();
            config.anatomy_spread = spread.filter(|x| (0.0..=3.0).contains(x)).ok_or_else(bad)?;
        }
        _ => return Err(bad()),
    }
    Ok(())
}
