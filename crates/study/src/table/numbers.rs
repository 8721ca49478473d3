//! Figures that never read `NaN` or `-0.000`.

/// Returns a number with that many digits; `–` where there is none.
pub(crate) fn figure(x: impl Into<Option<f64>>, digits: usize) -> String {
    match x.into().filter(|x| x.is_finite()) {
        Some(x) if x.abs() >= 1e6 => format!("{x:.2e}").replace('-', "−"),
        Some(x) => {
            let text = format!("{:.digits$}", x.abs());
            let zero = text.chars().all(|c| matches!(c, '0' | '.'));
            if x < 0.0 && !zero {
                format!("−{text}")
            } else {
                text
            }
        }
        None => "–".into(),
    }
}

/// Returns a difference, with its sign.
pub(crate) fn signed(x: impl Into<Option<f64>>, digits: usize) -> String {
    let text = figure(x, digits);
    let positive = text.chars().any(|c| c.is_ascii_digit() && c != '0');
    if positive && !text.starts_with('−') {
        format!("+{text}")
    } else {
        text
    }
}

/// Returns a p-value.
pub(crate) fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => "<0.001".into(),
        p => figure(p, 3),
    }
}

/// Returns a field of a CSV file: the shortest text that reads as the same number.
pub(super) fn field(value: Option<f64>) -> String {
    let finite = value.filter(|v| v.is_finite());
    finite.map_or_else(String::new, |v| v.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_a_sign_and_never_a_negative_zero() {
        assert_eq!(figure(-0.0001, 3), "0.000");
        assert_eq!(figure(-0.25, 2), "−0.25");
        assert_eq!(figure(f64::NAN, 2), "–");
        assert_eq!(figure(f64::INFINITY, 2), "–");
        assert_eq!(figure(None, 2), "–");
        assert_eq!(signed(0.0501, 3), "+0.050");
        assert_eq!(signed(-0.05, 3), "−0.050");
        assert_eq!(signed(0.0001, 3), "0.000");
        assert_eq!(signed(None, 3), "–");
        assert_eq!(p_value(Some(0.00001)), "<0.001");
        assert_eq!(
            (field(Some(0.1)), field(Some(f64::NAN))),
            ("0.1".into(), String::new())
        );
    }
}
