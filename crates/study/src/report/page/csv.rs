//! Tables as text with commas (RFC 4180): full figures, an empty field where there is none.

use std::fmt::Write;

/// A line in the making.
#[derive(Debug, Default)]
pub(super) struct Csv(String);

impl Csv {
    /// Begins with the line of the names.
    pub(super) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self::default();
        table.line(names.into_iter().map(text));
        table
    }

    /// A line of fields that are written already.
    pub(super) fn line(&mut self, fields: impl IntoIterator<Item = String>) {
        let fields: Vec<String> = fields.into_iter().collect();
        self.0.push_str(&fields.join(","));
        self.0.push_str("\r\n");
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A field of text.
pub(super) fn text(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A field with a number; the shortest text that reads as the same one.
pub(super) fn number(value: Option<f64>) -> String {
    let finite = value.filter(|v| v.is_finite());
    finite.map_or_else(String::new, |v| v.to_string())
}

/// A link that saves the table, which is in the page itself.
pub(super) fn link(file: &str, table: &str) -> String {
    let mut encoded = String::with_capacity(table.len() * 2);
    for byte in table.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    format!(
        "<a class=\"csv\" download=\"{file}\" href=\"data:text/csv;charset=utf-8,{encoded}\">Save as CSV</a>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut table = Csv::new(["method", "value"]);
        table.line([text("a,\"b\"\nc"), number(Some(0.1))]);
        table.line([text("plain"), number(Some(f64::NAN))]);
        assert_eq!(
            table.finish(),
            "method,value\r\n\"a,\"\"b\"\"\nc\",0.1\r\nplain,\r\n"
        );
    }

    #[test]
    fn links_hold_the_table() {
        let link = link("t.csv", "é,\"\r\n");
        assert!(
            link.contains("charset=utf-8,%C3%A9%2C%22%0D%0A\""),
            "{link}"
        );
    }
}
