//! Re-referencing: `x_i(t) ← x_i(t) − r(t)` for every EEG channel.
//!
//! `r` is the mean of the EEG channels (average reference), one channel, or the mean of several (linked
//! ears). Channels of other kinds are left alone. Each of these costs one dimension: the average makes the channels sum to
//! zero, a reference channel becomes flat. See [`crate::covariance::Rank`].

use stiefel_formats::electrode::find;

use crate::{Channel, ChannelKind, EegError, Epochs, Recording, Result};

/// What the voltages are measured against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// The mean of all EEG channels.
    Average,
    /// The mean of the named channels; one name for a single electrode.
    Channels(Vec<String>),
}

/// Re-references the EEG channels in place.
pub fn rereference(recording: &mut Recording, reference: &Reference) -> Result<()> {
    let samples = recording.samples();
    let (sources, targets) = plan(recording.channels(), reference)?;
    subtract(recording.data_mut(), samples, &sources, &targets);
    Ok(())
}

/// Re-references the EEG channels of every trial in place.
pub fn rereference_epochs(epochs: &mut Epochs, reference: &Reference) -> Result<()> {
    let (samples, n) = (epochs.samples(), epochs.channels().len());
    let (sources, targets) = plan(epochs.channels(), reference)?;
    for trial in epochs.data_mut().chunks_exact_mut((n * samples).max(1)) {
        subtract(trial, samples, &sources, &targets);
    }
    Ok(())
}

/// The channels that make up the reference, and those it is taken from.
fn plan(channels: &[Channel], reference: &Reference) -> Result<(Vec<usize>, Vec<usize>)> {
    let eeg: Vec<usize> = (0..channels.len())
        .filter(|&i| channels[i].kind == ChannelKind::Eeg)
        .collect();
    let sources = match reference {
        Reference::Average => eeg.clone(),
        Reference::Channels(names) => find(channels, names)?,
    };
    if sources.is_empty() {
        return Err(EegError::Invalid {
            what: format!("there is no channel to make the reference {reference:?} from"),
            remedy: "name at least one reference channel, or mark the channels as EEG".into(),
        });
    }
    Ok((sources, eeg))
}

fn subtract(data: &mut [f64], samples: usize, sources: &[usize], targets: &[usize]) {
    let mut reference = vec![0.0; samples];
    for &source in sources {
        for (r, x) in reference
            .iter_mut()
            .zip(&data[source * samples..(source + 1) * samples])
        {
            *r += x / sources.len() as f64;
        }
    }
    for &target in targets {
        for (x, r) in data[target * samples..(target + 1) * samples]
            .iter_mut()
            .zip(&reference)
        {
            *x -= r;
        }
    }
}
