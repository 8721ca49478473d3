//! Text in columns, and text under a heading.

/// The width that long text is wrapped to.
const WIDTH: usize = 100;
/// Letters of a line on a screen that nobody made wider.
pub(crate) const SCREEN: usize = 80;

/// Rows of cells, each column as wide as its widest cell. The first row is the heading.
pub(crate) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        let cells = rows.iter().filter_map(|row| row.get(c));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// `name   text`, the text wrapped and indented by `indent`; line breaks in it are kept.
pub(crate) fn entry(name: &str, text: &str, indent: usize) -> String {
    within(WIDTH, name, text, indent)
}

/// An [`entry`] on lines of at most `width` letters.
pub(crate) fn within(width: usize, name: &str, text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        lines.extend(wrap(paragraph, width.saturating_sub(indent)));
    }
    let head = |i: usize| if i == 0 { name } else { "" };
    let lines = lines.iter().enumerate();
    let lines = lines.map(|(i, line)| format!("{:<indent$}{line}", head(i)).trim_end().to_string());
    lines.collect::<Vec<_>>().join("\n")
}

/// Breaks a line at blanks; a word that is too long stays whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    // Indented lines (BibTeX) keep their shape.
    if text.starts_with(' ') || text.chars().count() <= width {
        return vec![text.to_string()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > width
        {
            lines.push(word.to_string());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        let table = columns(&[row(["a", "b"]), row(["µµµ", "cc"])]);
        assert_eq!(table, "a    b\nµµµ  cc");
        assert_eq!(columns(&[]), "");
    }

    #[test]
    fn long_text_is_wrapped_and_indented() {
        let text = entry("name", &"word ".repeat(30), 8);
        assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
        assert!(
            text.starts_with("name    word")
                && text.lines().nth(1).unwrap().starts_with("        word")
        );
        assert_eq!(entry("n", "", 4), "");
        let narrow = within(SCREEN, "name", &"word ".repeat(30), 8);
        assert!(narrow.lines().all(|l| l.chars().count() <= SCREEN));
    }
}
