//! The command line: one command, at most one file, and options with a value.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// What a command accepts.
pub(crate) struct Accepted {
    /// Whether a file may follow the command.
    pub(crate) file: bool,
    /// Options that stand alone.
    pub(crate) flags: &'static [&'static str],
    /// Options followed by a value.
    pub(crate) options: &'static [&'static str],
}

/// What followed the command.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// The file, where one was given.
    pub(crate) file: Option<PathBuf>,
    flags: Vec<String>,
    options: BTreeMap<String, String>,
}

impl Arguments {
    /// Reads what follows the command, or says what does not belong there.
    pub(crate) fn read(
        words: impl IntoIterator<Item = String>,
        accepted: &Accepted,
    ) -> Result<Self, String> {
        let mut read = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if accepted.flags.contains(&word.as_str()) {
                read.flags.push(word);
            } else if accepted.options.contains(&word.as_str()) {
                let value = words
                    .next()
                    .ok_or_else(|| format!("{word} needs a value"))?;
                read.options.insert(word, value);
            } else if accepted.file && read.file.is_none() && !word.starts_with('-') {
                read.file = Some(word.into());
            } else {
                return Err(format!("{word:?} does not belong here"));
            }
        }
        Ok(read)
    }

    /// Whether a flag was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    /// The value of an option as it stands.
    pub(crate) fn text(&self, option: &str) -> Option<&str> {
        self.options.get(option).map(String::as_str)
    }

    /// The value of an option as a number.
    pub(crate) fn number<N: FromStr>(&self, option: &str) -> Result<Option<N>, String> {
        self.text(option)
            .map(|text| {
                text.parse()
                    .map_err(|_| format!("{option} needs a number, not {text:?}"))
            })
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTED: Accepted = Accepted {
        file: true,
        flags: &["--json"],
        options: &["--rounds"],
    };

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(line.split_whitespace().map(str::to_owned), &ACCEPTED)
    }

    #[test]
    fn reads_a_file_flags_and_values_in_any_order() {
        let read = read("--rounds 7 x.npy --json").expect("all of it is accepted");
        assert_eq!(read.file, Some(PathBuf::from("x.npy")));
        assert!(read.has("--json"));
        assert_eq!(read.number::<usize>("--rounds"), Ok(Some(7)));
        assert_eq!(read.text("--mean"), None);
    }

    #[test]
    fn says_what_does_not_belong() {
        for (line, part) in [
            ("--jsn", "--jsn"),
            ("a.npy b.npy", "b.npy"),
            ("--rounds", "needs a value"),
        ] {
            let error = read(line).expect_err("not accepted");
            assert!(error.contains(part), "{error}");
        }
        let many = read("--rounds many").expect("read as it stands");
        assert!(
            many.number::<usize>("--rounds")
                .is_err_and(|e| e.contains("many"))
        );
    }
}
