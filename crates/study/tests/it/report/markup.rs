//! Whether markup is balanced and free of numbers that are none.

/// HTML elements without an end.
const VOID: [&str; 3] = ["meta", "link", "!doctype"];

/// Tags are balanced, attributes quoted, and no number reads `NaN`.
pub(super) fn check(markup: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        // The style sheet has child selectors, the script arrows; everything else must have escaped
        // its brackets.
        if text.contains('>') && !matches!(open.last(), Some(&("style" | "script"))) {
            return Err(format!("a bare > in {text:?}"));
        }
        numbers(text)?;
        let tag = &rest[start + 1..];
        let end = tag_end(tag).ok_or_else(|| format!("a tag without end: {tag:.60}"))?;
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        rest = after;
        numbers(inside)?;
        let name = inside
            .trim_start_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap_or_default();
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '!') || name.is_empty() {
            return Err(format!("not a tag: <{inside:.60}>"));
        }
        if inside.starts_with('/') {
            match open.pop() {
                Some(last) if last == name => (),
                last => return Err(format!("</{name}> closes {last:?}")),
            }
        } else if !inside.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    numbers(rest)?;
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("never closed: {open:?}"))
    }
}

/// The `>` outside quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quoted = false;
    for (i, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return Some(i),
            '<' => return None,
            _ => (),
        }
    }
    None
}

fn numbers(text: &str) -> Result<(), String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    match words
        .into_iter()
        .find(|w| ["NaN", "inf", "Infinity", "undefined"].contains(w))
    {
        Some(word) => Err(format!("{word} in {text:.200}")),
        None => Ok(()),
    }
}

#[test]
fn the_checker_can_fail() {
    assert_eq!(check("<p a=\"b\">1 &lt; 2<br/></p>"), Ok(()));
    for bad in [
        "<p>",
        "<p></a>",
        "<p a=\"NaN\"></p>",
        "<p>inf</p>",
        "<p>a > b</p>",
        "<p",
        "<<p></p>",
        "<p a=\"<\"></p>",
    ] {
        assert!(check(bad).is_err(), "{bad}");
    }
}
