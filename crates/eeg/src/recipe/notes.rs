//! What readers noted on many files, told once.
//!
//! Notes that differ only in the name of the file they are on become one: `a.edf and 5 more: …`.
//! Parts of that name in a note (a table that is called after its recording) are written `…`.

use std::path::Path;

/// Notes in the order in which they came first.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

#[derive(Debug)]
struct Note {
    /// The first place it is about.
    place: String,
    text: String,
    /// The text without the name of the file.
    common: String,
    /// Further places.
    more: usize,
}

impl Notes {
    /// Takes a note on the file `path`, which is called `place`.
    pub(super) fn add(&mut self, path: &Path, place: &str, text: &str) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        // The recording of `sub-01_eeg.vhdr` and `sub-01_events.tsv` is `sub-01`.
        let name = stem.rsplit_once('_').map_or(&*stem, |(name, _)| name);
        let common = if name.is_empty() {
            text.to_owned()
        } else {
            text.replace(name, "…")
        };
        match self.0.iter_mut().find(|n| n.common == common) {
            Some(note) => note.more += 1,
            None => self.0.push(Note {
                place: place.to_owned(),
                text: text.to_owned(),
                common,
                more: 0,
            }),
        }
    }

    /// The last note that was new.
    pub(super) fn last(&self) -> String {
        self.0.last().map_or(String::new(), Note::sentence)
    }

    /// One sentence for each.
    pub(super) fn sentences(&self) -> Vec<String> {
        self.0.iter().map(Note::sentence).collect()
    }
}

impl Note {
    fn sentence(&self) -> String {
        match self.more {
            0 => format!("{}: {}", self.place, self.text),
            more => format!("{} and {more} more: {}", self.place, self.common),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_told_once() {
        let mut notes = Notes::default();
        for run in 1..4 {
            let file = format!("sub-01_run-{run}_eeg.edf");
            let table = format!("11 events are those of sub-01_run-{run}_events.tsv");
            notes.add(Path::new(&file), &file, &table);
            notes.add(Path::new(&file), &file, "bad: FC2");
        }
        notes.add(Path::new("a.edf"), "a.edf", "bad: Cz");
        assert_eq!(
            notes.sentences(),
            [
                "sub-01_run-1_eeg.edf and 2 more: 11 events are those of …_events.tsv",
                "sub-01_run-1_eeg.edf and 2 more: bad: FC2",
                "a.edf: bad: Cz",
            ]
        );
        assert_eq!(notes.last(), "a.edf: bad: Cz");
    }
}
