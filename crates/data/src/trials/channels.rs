//! Channels of trials by name.

use super::Trials;
use crate::{DataError, Result};

impl Trials {
    /// Picks channels by name, in the order of the names, and calls them by these names. Case makes
    /// no difference where no name is exactly the same.
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let one = || Factor::from_labels(["a"]);
    /// let trials = Trials::new(
    ///     MatBatch::from_fn(1, 2, 2, |_, r, c| [2.0, 0.5, 3.0][r + c]),
    ///     one(),
    ///     one(),
    /// )?
    /// .with_channels(vec!["C3".into(), "CZ".into()])?;
    /// let turned = trials.pick_named(&["Cz".into(), "C3".into()])?;
    /// assert_eq!(turned.covariances().matrix(0), [3.0, 0.5, 0.5, 2.0]);
    /// assert_eq!(turned.channels().unwrap(), ["Cz", "C3"]);
    /// assert!(trials.pick_named(&["Oz".into()]).is_err());
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn pick_named(&self, names: &[String]) -> Result<Self> {
        let own = self.channel_names();
        let at = channel_places(&own, names).map_err(|missing| DataError::Impossible {
            op: "selection of channels",
            why: format!(
                "there is no channel {missing}; there are {}",
                own.join(", ")
            ),
            remedy: "name channels of the trials",
        })?;
        self.pick(&at)?.with_channels(names.to_vec())
    }
}

/// Finds the place of each wanted channel among those that are there; the error is the first one
/// that is missing. Case makes no difference where no name is exactly the same.
///
/// ```
/// use stiefel_data::channel_places;
///
/// assert_eq!(
///     channel_places(&["C3", "CZ", "C4"], &["Cz", "C3"]),
///     Ok(vec![1, 0])
/// );
/// assert_eq!(channel_places(&["C3"], &["C3", "Oz"]), Err("Oz".to_owned()));
/// ```
pub fn channel_places(
    given: &[impl AsRef<str>],
    wanted: &[impl AsRef<str>],
) -> std::result::Result<Vec<usize>, String> {
    let place = |name: &str| {
        let exact = given.iter().position(|own| own.as_ref() == name);
        let alike = || (given.iter()).position(|own| own.as_ref().eq_ignore_ascii_case(name));
        exact.or_else(alike).ok_or_else(|| name.to_owned())
    };
    wanted.iter().map(|name| place(name.as_ref())).collect()
}
