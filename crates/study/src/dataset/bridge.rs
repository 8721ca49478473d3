//! From covariances of recordings to trials of a model.

use crate::Result;
use crate::prepare::{Step, Watch};
use stiefel_eeg::TrialInfo;
use stiefel_eeg::covariance::{Covariances, Pipeline, Prepared};
use stiefel_eeg::signal::{Band, Window};
use stiefel_eeg::synthetic::{Synthetic, SyntheticConfig};
use stiefel_linalg::MatBatch;
use stiefel_model::{Factor, ModelError, Trials};

/// Covariances with their labels, domains, runs and channel names as the trials of a model.
pub fn trials_of(covariances: Covariances) -> Result<Trials> {
    let (data, channels, info) = covariances.into_parts();
    trials_from_parts(data, channels, &info)
}

/// Matrices `count × n × n` with what is known of each.
pub(super) fn trials_from_parts(
    data: Vec<f64>,
    channels: Vec<String>,
    info: &[TrialInfo],
) -> Result<Trials> {
    let n = channels.len();
    let x = MatBatch::from_vec(info.len(), n, n, data).map_err(ModelError::from)?;
    let labels = |f: fn(&TrialInfo) -> &str| Factor::from_labels(info.iter().map(f));
    let trials = Trials::new(x, labels(|t| &t.label), labels(|t| &t.domain))?;
    let trials = if info.iter().all(|t| t.run.is_some()) && !info.is_empty() {
        trials.with_runs(labels(|t| t.run.as_deref().unwrap_or_default()))?
    } else {
        trials
    };
    Ok(trials.with_channels(channels)?)
}

/// A synthetic study from raw signal to trials: band-pass 8–32 Hz, the imagery from half a second after the cue on, sample
/// covariance. A domain is a subject, or a subject-session pair where some subject has several sessions.
///
/// ```
/// use stiefel_eeg::synthetic::SyntheticConfig;
///
/// let two = SyntheticConfig { sessions: vec![1; 2], trials_per_class: 6, ..SyntheticConfig::bnci2015001() };
/// let trials = stiefel_study::synthetic_trials(&two)?;
/// assert_eq!((trials.channels_count(), trials.domains().names().len()), (13, 2));
/// # Ok::<(), stiefel_study::StudyError>(())
/// ```
pub fn synthetic_trials(config: &SyntheticConfig) -> Result<Trials> {
    let (band, window) = ((8.0, 32.0), (0.5, config.imagery));
    let several = config.sessions.iter().any(|&s| s > 1);
    trials_of(prepare_synthetic(config, several, band, window, &mut |_| {})?.covariances)
}

/// The same with the band in hertz and the window in seconds after the cue chosen, sessions as domains of their own or not, and
/// with the rejected trials counted.
pub(super) fn prepare_synthetic(
    config: &SyntheticConfig,
    by_session: bool,
    band: (f64, f64),
    window: (f64, f64),
    watch: &mut Watch<'_>,
) -> Result<Prepared> {
    let labels: Vec<&str> = config.classes.iter().map(|class| class.label()).collect();
    let window = Window::new(window.0, window.1, &labels);
    let pipeline = Pipeline::new(Band::BandPass(band.0, band.1), window);
    let mut prepared = pipeline.start();
    let total = config.sessions.iter().sum::<usize>() * config.runs;
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
        prepared.add(item.recording, &domain, Some(&run))?;
    }
    Ok(prepared.finish()?)
}
