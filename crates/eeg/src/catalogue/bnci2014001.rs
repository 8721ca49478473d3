//! BNCI 2014-001, also known as BCI competition IV data set 2a.
//!
//! `A{01..09}{T,E}.mat`: per file six runs of 48 trials (and up to three of eye movements, which are passed over), 22 EEG and
//! 3 EOG channels in µV at 250 Hz. A trial starts with a beep; the cue comes 2 s later.

use super::dataset::{Citation, Class, Dataset, DomainUnit, Interval, Licence, Session, Task};
use super::files::{Kind, Origin};

pub(super) const DATASET: Dataset = Dataset {
    id: "bnci2014001",
    name: "BNCI2014_001",
    aliases: &["001-2014", "bciciv2a", "BNCI2014001"],
    title: "Four-class motor imagery on two days (BCI competition IV 2a)",
    licence: Licence {
        name: "CC BY-ND 4.0",
        url: "https://creativecommons.org/licenses/by-nd/4.0/",
        allows: "use and sharing with attribution, commercial use included; changed copies may not be passed on",
    },
    citation: Citation {
        bibtex: "@article{tangermann2012review,\n  \
            author  = {Tangermann, Michael and M{\\\"u}ller, Klaus-Robert and Aertsen, Ad and Birbaumer, Niels and Braun, Christoph \
            and Brunner, Clemens and Leeb, Robert and Mehring, Carsten and Miller, Kai J. and M{\\\"u}ller-Putz, Gernot R. and others},\n  \
            title   = {Review of the {BCI} Competition {IV}},\n  \
            journal = {Frontiers in Neuroscience},\n  \
            volume  = {6},\n  \
            pages   = {55},\n  \
            year    = {2012},\n  \
            doi     = {10.3389/fnins.2012.00055}\n}",
        doi: "10.3389/fnins.2012.00055",
    },
    subjects: 9,
    left_out: &[],
    sessions: &[
        Session::of_all("T", "first day"),
        Session::of_all("E", "second day"),
    ],
    structure: "six runs of 48 trials, 72 of each class",
    tasks: &[Task {
        name: "imagery",
        meaning: "imagined movement of one part of the body",
        runs: &[],
        classes: &[
            Class::new(
                "left_hand",
                "imagined movement of the left hand",
                &["1", "left hand"],
            ),
            Class::new(
                "right_hand",
                "imagined movement of the right hand",
                &["2", "right hand"],
            ),
            Class::new(
                "feet",
                "imagined movement of both feet",
                &["3", "both feet", "foot"],
            ),
            Class::new("tongue", "imagined movement of the tongue", &["4"]),
        ],
    }],
    sampling_rate: 250.0,
    window: Interval {
        start: 2.0,
        end: 6.0,
    },
    window_from: "the start of the trial, 2 s before the cue",
    domain: DomainUnit::Subject,
    notes: &[],
    channel_names: "Fz FC3 FC1 FCz FC2 FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CP1 CPz CP2 CP4 P1 Pz P2 POz",
    origin: Origin::Files {
        url: "https://lampx.tugraz.at/~bci/database/001-2014/A{subject:02}{session}.mat",
        path: "A{subject:02}{session}.mat",
        kind: Kind::Matlab,
        checksums: "",
        mne_key: "BNCI",
        mne: &[
            "MNE-bnci-data/~bci/database/001-2014/A{subject:02}{session}.mat",
            "MNE-bnci-data/database/data-sets/001-2014/A{subject:02}{session}.mat",
        ],
    },
};
