//! Dates of files as seconds since 1970-01-01T00:00:00, in the time that the file was written by.

/// Seconds since 1970 of a date of the Gregorian calendar, or `None` where there is no such date.
///
/// Days are counted in years that start in March, so that the leap day comes last.
pub(crate) fn unix_seconds(date: [i64; 3], time: [f64; 3]) -> Option<f64> {
    let [year, month, day] = date;
    let [hour, minute, second] = time;
    let in_range = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0.0..24.0).contains(&hour)
        && (0.0..60.0).contains(&minute)
        && (0.0..61.0).contains(&second);
    if !in_range {
        return None;
    }
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some(days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

/// The whole numbers of a text, whatever stands between them.
pub(crate) fn numbers(text: &str) -> Vec<i64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_seconds() {
        assert_eq!(unix_seconds([1970, 1, 1], [0.0; 3]), Some(0.0));
        // date -u -d '2000-03-01 12:00:01' +%s
        assert_eq!(
            unix_seconds([2000, 3, 1], [12.0, 0.0, 1.0]),
            Some(951_912_001.0)
        );
        assert_eq!(unix_seconds([2024, 2, 29], [0.0; 3]), Some(1_709_164_800.0));
        assert_eq!(unix_seconds([1969, 12, 31], [23.0, 59.0, 59.0]), Some(-1.0));
        assert_eq!(unix_seconds([2024, 13, 1], [0.0; 3]), None);
    }
}
