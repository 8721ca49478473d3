//! The name that was probably meant.

/// Returns the name with the fewest changed letters, where they are at most a third of it.
pub(super) fn nearest<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let letters = wanted.chars().count();
    let apart = names.iter().map(|name| (distance(wanted, name), name));
    let (least, name) = apart.min_by_key(|(apart, _)| *apart)?;
    (least <= (letters / 3).max(1)).then_some(name)
}

/// Counts the letters that must be put in, taken out or replaced (Levenshtein's distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_changed_letters() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        let names = ["epochs".to_owned(), "experts".to_owned()];
        assert_eq!(nearest("expert", &names), Some("experts"));
        assert_eq!(nearest("learning_rate", &names), None);
    }
}
