//! BNCI 2015-001: a brain-computer interface that calibrates itself.
//!
//! `S{01..12}{A,B}.mat`, and `C` for subjects 8 to 11: 28 subject-sessions. 13 channels in µV at 512 Hz.

use super::dataset::{Citation, Class, Dataset, DomainUnit, Interval, Licence, Session, Task};
use super::files::{Kind, Origin};

pub(super) const DATASET: Dataset = Dataset {
    id: "bnci2015001",
    name: "BNCI2015_001",
    aliases: &["001-2015", "BNCI2015001"],
    title: "Right hand against feet with feedback, on two or three days",
    licence: Licence {
        name: "CC BY-NC-ND 4.0",
        url: "https://creativecommons.org/licenses/by-nc-nd/4.0/",
        allows: "use and sharing with attribution; no commercial use, and changed copies may not be passed on",
    },
    citation: Citation {
        bibtex: "@article{faller2012autocalibration,\n  \
            author  = {Faller, Josef and Vidaurre, Carmen and Solis-Escalante, Teodoro and Neuper, Christa and Scherer, Reinhold},\n  \
            title   = {Autocalibration and Recurrent Adaptation: Towards a Plug and Play Online {ERD-BCI}},\n  \
            journal = {IEEE Transactions on Neural Systems and Rehabilitation Engineering},\n  \
            volume  = {20},\n  \
            number  = {3},\n  \
            pages   = {313--319},\n  \
            year    = {2012},\n  \
            doi     = {10.1109/TNSRE.2012.2189584}\n}",
        doi: "10.1109/TNSRE.2012.2189584",
    },
    subjects: 12,
    left_out: &[],
    sessions: &[
        Session::of_all("A", "first day"),
        Session::of_all("B", "second day"),
        Session {
            label: "C",
            meaning: "third day, subjects 8 to 11",
            subjects: Some((8, 11)),
        },
    ],
    structure: "200 trials, 100 of each class",
    tasks: &[Task {
        name: "imagery",
        meaning: "sustained imagined movement",
        runs: &[],
        classes: &[
            Class::new(
                "right_hand",
                "imagined palmar grip of the right hand",
                &["1", "right hand", "hand"],
            ),
            Class::new(
                "feet",
                "imagined plantar extension of both feet",
                &["2", "both feet", "foot"],
            ),
        ],
    }],
    sampling_rate: 512.0,
    window: Interval {
        start: 0.0,
        end: 5.0,
    },
    window_from: "the trial's mark in the file",
    domain: DomainUnit::SubjectSession,
    notes: &[],
    channel_names: "FC3 FCz FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CPz CP4",
    origin: Origin::Files {
        url: "https://lampx.tugraz.at/~bci/database/001-2015/S{subject:02}{session}.mat",
        path: "S{subject:02}{session}.mat",
        kind: Kind::Matlab,
        checksums: "",
        mne_key: "BNCI",
        mne: &[
            "MNE-bnci-data/~bci/database/001-2015/S{subject:02}{session}.mat",
            "MNE-bnci-data/database/data-sets/001-2015/S{subject:02}{session}.mat",
        ],
    },
};
