//! When and where a summary was made: the part of a report that differs from run to run.

use crate::Result;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// Date, machine and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Coordinated universal time, as `2026-03-01 14:05 UTC`.
    pub date: String,
    /// Operating system and architecture.
    pub system: String,
    /// The processor, where the system tells its name.
    pub processor: Option<String>,
    /// Threads that the machine offers.
    pub threads: usize,
    /// The instructions that the kernels ran on.
    pub instructions: String,
}

impl Made {
    /// Here and now.
    ///
    /// ```
    /// let made = stiefel_study::Made::now()?;
    /// assert!(made.date.ends_with(" UTC") && made.threads > 0);
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn now() -> Result<Self> {
        let set = stiefel_linalg::instruction_set().map_err(stiefel_model::ModelError::from)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Self {
            date: date(since.map_or(0, |d| d.as_secs())),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            processor: std::fs::read_to_string("/proc/cpuinfo")
                .ok()
                .and_then(|text| processor(&text)),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            instructions: set.to_string(),
        })
    }
}

/// The name in Linux's list of processors.
fn processor(text: &str) -> Option<String> {
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Seconds since 1970 as a date of the Gregorian calendar. Years are counted from March, so that a
/// leap day is the last of its year; four centuries have 146,097 days.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of the year 0.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 {
        (400 * era + year, month + 3)
    } else {
        (400 * era + year + 1, month - 9)
    };
    let (hour, minute) = (rest / 3_600, rest % 3_600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_709_210_096, "2024-02-29 12:34 UTC"),
            (1_767_225_599, "2025-12-31 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }

    #[test]
    fn the_processor_is_the_first_of_the_list() {
        let text = "processor\t: 0\nmodel name\t: A processor @ 3 GHz\n\nprocessor\t: 1\nmodel \
                    name\t: Another\n";
        assert_eq!(processor(text).as_deref(), Some("A processor @ 3 GHz"));
        assert_eq!(processor("model name\t: \n"), None);
        assert_eq!(processor("processor\t: 0\n"), None);
    }
}
