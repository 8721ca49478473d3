//! Memory for samples, asked for before it is taken: too much is an error, not the end of the
//! process.

use std::path::Path;

use crate::{FormatError, Result, zeros};

/// Below so many bytes the system is not asked.
const SMALL: u128 = 1 << 26;

/// Returns `count · each` zeros, or an error that names `path` where they cannot be had.
pub fn zeros(count: usize, each: usize, path: &Path) -> Result<Vec<f64>> {
    let values = (count as u128).saturating_mul(each as u128);
    check(values.saturating_mul(size_of::<f64>() as u128), path)?;
    Ok(zeros::zeros(values as usize))
}

/// Refuses what the machine cannot give.
pub(crate) fn check(bytes: u128, path: &Path) -> Result<()> {
    let fits = bytes <= SMALL || (bytes <= available() && can_be_reserved(bytes));
    if fits {
        return Ok(());
    }
    Err(FormatError::OutOfMemory {
        path: path.to_path_buf(),
        bytes,
    })
}

/// Whether the allocator takes the request; a limit on the process shows here.
fn can_be_reserved(bytes: u128) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    usize::try_from(bytes).is_ok_and(|n| probe.try_reserve_exact(n).is_ok())
}

/// What the system says it can still give, in bytes; everything where it does not say.
fn available() -> u128 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u128>().ok());
    kilobytes.map_or(u128::MAX, |k| k * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_machine_has_is_an_error() {
        let path = Path::new("huge.edf");
        let error = zeros(1 << 40, 1 << 10, path).unwrap_err();
        assert!(matches!(error, FormatError::OutOfMemory { .. }), "{error}");
        assert!(error.to_string().starts_with("huge.edf: "), "{error}");
        assert!(zeros(usize::MAX, usize::MAX, path).is_err());
        assert_eq!(zeros(3, 2, path).unwrap(), [0.0; 6]);
    }
}
