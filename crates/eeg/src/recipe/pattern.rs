//! Names of files that tell whose they are and what: `{subject}_{class}_{trial}.csv`.

use std::path::Path;
use std::str::FromStr;

use crate::io::name_text;
use crate::{EegError, Result};

const NAMES: [&str; 6] = ["subject", "session", "run", "class", "trial", "any"];

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Name(&'static str),
}

/// What a name tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileName {
    /// `subject`, or `subject-session`.
    pub domain: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The class of a file that is one trial.
    pub class: Option<String>,
}

/// A pattern of file names: text, and `{subject}`, `{session}`, `{run}`, `{class}`, `{trial}` and
/// `{any}` in it. A pattern with a `/` is compared with as many folders of the path; one with a
/// class says that every file is a trial.
///
/// ```
/// use stiefel_eeg::recipe::NamePattern;
/// let pattern: NamePattern = "{subject}_{class}_{trial}.csv".parse()?;
/// let name = pattern.of("data/anna_left_03.csv".as_ref())?;
/// assert_eq!(name.domain.as_deref(), Some("anna"));
/// assert_eq!(name.class.as_deref(), Some("left"));
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
    pieces: Vec<Piece>,
}

impl FromStr for NamePattern {
    type Err = EegError;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |what: String| {
            let names = NAMES.map(|n| format!("{{{n}}}")).join(", ");
            EegError::setting(
                format!("the pattern \"{text}\" {what}"),
                format!(
                    "give a pattern such as {{subject}}_{{class}}_{{trial}}.csv; the names are \
                     {names}"
                ),
            )
        };
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            if open > 0 {
                pieces.push(Piece::Text(rest[..open].to_string()));
            }
            let close = rest[open..]
                .find('}')
                .ok_or_else(|| bad("has a { without a }".into()))?;
            let name = &rest[open + 1..open + close];
            let known = NAMES.into_iter().find(|n| *n == name);
            let known = known.ok_or_else(|| bad(format!("has the unknown name {{{name}}}")))?;
            if matches!(pieces.last(), Some(Piece::Name(_))) {
                return Err(bad("has nothing between two names".into()));
            }
            pieces.push(Piece::Name(known));
            rest = &rest[open + close + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_string()));
        }
        if !pieces
            .iter()
            .any(|p| matches!(p, Piece::Name("subject" | "class" | "run")))
        {
            return Err(bad("names neither subject, nor class, nor run".into()));
        }
        Ok(Self {
            text: text.to_string(),
            pieces,
        })
    }
}

impl NamePattern {
    /// What the name of a file tells; an error where it does not fit.
    pub fn of(&self, path: &Path) -> Result<FileName> {
        let parts: Vec<String> = path
            .components()
            .map(|c| name_text(c.as_os_str()))
            .collect();
        let depth = self.text.matches('/').count() + 1;
        let name = parts[parts.len().saturating_sub(depth)..].join("/");
        let stem = Path::new(&name).with_extension("");
        // The ending may be left out of the pattern.
        let found = fit(&self.pieces, &name).or_else(|| fit(&self.pieces, &stem.to_string_lossy()));
        let Some(found) = found else {
            return Err(EegError::setting(
                format!("{name} does not fit the pattern {}", self.text),
                "change the pattern, or name only the files that fit",
            ));
        };
        let get = |key: &str| {
            found
                .iter()
                .find(|(k, _)| *k == key)
                .map(|(_, v)| v.clone())
        };
        let domain = match (get("subject"), get("session")) {
            (Some(subject), Some(session)) => Some(format!("{subject}-{session}")),
            (subject, _) => subject,
        };
        Ok(FileName {
            domain,
            run: get("run"),
            class: get("class"),
        })
    }
}

/// The texts at the names of a pattern; a name stands for at least one letter and no folder's end,
/// as few letters as fit.
fn fit(pieces: &[Piece], text: &str) -> Option<Vec<(&'static str, String)>> {
    match pieces {
        [] => text.is_empty().then(Vec::new),
        [Piece::Text(piece), rest @ ..] => fit(rest, text.strip_prefix(piece.as_str())?),
        [Piece::Name(name), rest @ ..] => {
            let ends = text.char_indices().map(|(i, c)| (i + c.len_utf8(), c));
            for (end, letter) in ends {
                if letter == '/' {
                    return None;
                }
                if let Some(mut found) = fit(rest, &text[end..]) {
                    found.insert(0, (*name, text[..end].to_string()));
                    return Some(found);
                }
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_subject_session_class_and_run() {
        for (pattern, path, domain, run, class) in [
            (
                "{subject}_{class}_{trial}.csv",
                "x/anna_left_01.csv",
                Some("anna"),
                None,
                Some("left"),
            ),
            (
                "{subject}/{session}/{class}_{any}",
                "d/s1/2/feet_9.txt",
                Some("s1-2"),
                None,
                Some("feet"),
            ),
            (
                "S{subject}R{run}.edf",
                "S001R04.edf",
                Some("001"),
                Some("04"),
                None,
            ),
        ] {
            let found = pattern
                .parse::<NamePattern>()
                .unwrap()
                .of(path.as_ref())
                .unwrap();
            let text = |t: &Option<String>| t.clone();
            assert_eq!(text(&found.domain).as_deref(), domain, "{pattern}");
            assert_eq!(text(&found.run).as_deref(), run, "{pattern}");
            assert_eq!(text(&found.class).as_deref(), class, "{pattern}");
        }
        let pattern: NamePattern = "{subject}_{class}.csv".parse().unwrap();
        let error = pattern.of("notes.csv".as_ref()).unwrap_err().to_string();
        assert!(error.contains("notes.csv does not fit"), "{error}");
        for bad in [
            "plain.csv",
            "{trial}.csv",
            "{subject}{class}",
            "{who}_{class}",
            "{subject",
        ] {
            assert!(bad.parse::<NamePattern>().is_err(), "{bad}");
        }
    }
}
