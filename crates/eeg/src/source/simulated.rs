//! Simulated trials: from a generator to covariances.

use stiefel_data::{Origin, Preparation, Steps, Trials, View};

use crate::catalogue::DomainUnit;
use crate::covariance::Pipeline;
use crate::prepare::{Step, Watch};
use crate::signal::{Band, Window};
use crate::synthetic::{Synthetic, SyntheticConfig};
use crate::{EegError, Result};

/// Simulates recordings and prepares them: 8–32 Hz, from half a second after the cue to the end of the imagery.
///
/// ```
/// use stiefel_eeg::synthetic::SyntheticConfig;
///
/// let config = SyntheticConfig { sessions: vec![1; 2], trials_per_class: 4, ..SyntheticConfig::bnci2015001() };
/// let trials = stiefel_eeg::simulate(&config)?;
/// assert_eq!((trials.channels_count(), trials.domains().names().len()), (13, 2));
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn simulate(config: &SyntheticConfig) -> Result<Trials> {
    let view = View {
        band: [8.0, 32.0],
        window: [0.5, config.imagery],
    };
    simulate_as(config, "simulated", view, &mut |_| {})
}

pub(super) fn simulate_as(
    config: &SyntheticConfig,
    name: &str,
    view: View,
    watch: &mut Watch<'_>,
) -> Result<Trials> {
    let labels: Vec<&str> = config.classes.iter().map(|class| class.label()).collect();
    let ([low, high], [from, to]) = (view.band, view.window);
    let window = Window::new(from, to, &labels);
    let pipeline = Pipeline::new(Band::BandPass(low, high), window);
    let mut preparing = pipeline.start();
    let total = config.sessions.iter().sum::<usize>() * config.runs;
    // People who came once are not told apart by session.
    let by_session =
        config.domain == DomainUnit::SubjectSession && config.sessions.iter().any(|&s| s > 1);
    for (done, item) in Synthetic::new(config.clone())?.recordings().enumerate() {
        let item = item?;
        let subject = format!("S{:02}", item.subject + 1);
        watch(Step {
            done,
            total,
            what: &subject,
        });
        let domain = if by_session {
            format!("{subject}-{}", item.session + 1)
        } else {
            subject
        };
        let run = format!("{}/{}", item.session + 1, item.run + 1);
        preparing.add(item.recording, &domain, Some(&run))?;
    }
    let made = preparing.finish()?;
    let steps = Steps {
        views: vec![view],
        order: pipeline.order,
        phase: pipeline.phase,
        recorded_rate: config.sampling_rate,
        rate: config.sampling_rate,
        reference: "as recorded".into(),
        channels: config.channels.clone(),
        estimator: pipeline.estimator,
        rejection: Some(pipeline.deviations),
        unit: "µV".into(),
        classes: pipeline.window.classes.clone(),
        trialwise: false,
    };
    let rejected = (made.rejection.domains.iter()).map(|d| (d.domain.clone(), d.rejected));
    let origin = Origin {
        name: name.into(),
        rejected: rejected.collect(),
        ..Origin::default()
    };
    Ok((made.trials)
        .with_preparation(Preparation::Made(Box::new(steps)))
        .with_origin(origin))
}

/// The generator behind `weibo2014,subjects=4,trials=20`.
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
            "the options are subjects=1…100, sessions=1…10, trials=2…1000 (per class and session), seed=N, anatomy=0…3",
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
