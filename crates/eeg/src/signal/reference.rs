//! Re-referencing: `x_i(t) ← x_i(t) − r(t)` for every channel.
//!
//! `r` is the mean of the channels (average reference), one channel, or the mean of several (linked
//! ears). Choose the EEG channels first: every channel of the signal is re-referenced. A reference
//! that is made of these channels costs one dimension: the average makes them sum to zero, a
//! reference channel becomes flat. See [`crate::covariance::Rank`].

use stiefel_data::Reference;
use stiefel_formats::electrode::find;

use crate::{Channel, EegError, Epochs, Recording, Result};

/// Re-references the channels in place.
///
/// ```
/// use stiefel_data::Reference;
/// use stiefel_eeg::signal::rereference;
/// # use stiefel_eeg::{Channel, ChannelKind, Recording};
/// # let channels = ["C3", "C4"].map(|name| Channel { name: name.into(), kind: ChannelKind::Eeg, unit: "µV".into() });
/// let mut recording = Recording::new(channels.to_vec(), 100.0, vec![1.0, 2.0, 3.0, 6.0], vec![])?;
/// rereference(&mut recording, &Reference::Average)?;
/// assert_eq!(recording.data(), [-1.0, -2.0, 1.0, 2.0]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn rereference(recording: &mut Recording, reference: &Reference) -> Result<()> {
    let samples = recording.samples();
    let sources = sources(recording.channels(), reference)?;
    subtract(recording.data_mut(), samples, &sources);
    Ok(())
}

/// Re-references the channels of every trial in place.
pub fn rereference_epochs(epochs: &mut Epochs, reference: &Reference) -> Result<()> {
    let (samples, n) = (epochs.samples(), epochs.channels().len());
    let sources = sources(epochs.channels(), reference)?;
    for trial in epochs.data_mut().chunks_exact_mut((n * samples).max(1)) {
        subtract(trial, samples, &sources);
    }
    Ok(())
}

/// Returns the channels that make up the reference; none leave the signal as it is.
pub(crate) fn sources(channels: &[Channel], reference: &Reference) -> Result<Vec<usize>> {
    Ok(match reference {
        Reference::AsRecorded => Vec::new(),
        Reference::Average => (0..channels.len()).collect(),
        Reference::Channels(names) if names.is_empty() => {
            return Err(EegError::setting(
                "the reference names no electrode",
                "name at least one, or keep the reference of the recording",
            ));
        }
        Reference::Channels(names) => find(channels, names)?,
    })
}

/// Takes the mean of the rows `sources` off every row.
fn subtract(data: &mut [f64], samples: usize, sources: &[usize]) {
    if sources.is_empty() || samples == 0 {
        return;
    }
    let mut reference = vec![0.0; samples];
    for &source in sources {
        for (r, x) in reference
            .iter_mut()
            .zip(&data[source * samples..(source + 1) * samples])
        {
            *r += x / sources.len() as f64;
        }
    }
    for row in data.chunks_exact_mut(samples) {
        for (x, r) in row.iter_mut().zip(&reference) {
            *x -= r;
        }
    }
}
