//! PhysioNet EEG Motor Movement/Imagery Database (EEGMMIDB) 1.0.0.
//!
//! `S{sss}/S{sss}R{rr}.edf`: EDF+ with 64 channels at 160 Hz. Of the fourteen runs the imagery runs are used: 4, 8, 12 (left against
//! right fist) and 6, 10, 14 (both fists against both feet). `T0` marks rest, `T1` and `T2` the two movements. The SHA-256 of every file
//! is known.

use super::dataset::{
    Citation, Class, Dataset, DomainUnit, Interval, LeftOut, Licence, Session, Task,
};
use super::files::{Kind, Origin};

const SLOW: &str = "recorded at 128 Hz, everyone else at 160 Hz";
const REST: Class = Class::new("rest", "rest between two movements", &["T0"]).on_request();

pub(super) const DATASET: Dataset = Dataset {
    id: "eegmmidb",
    name: "EEGMMIDB",
    aliases: &["PhysionetMI", "Physionet_MI", "eegbci", "physionet"],
    title: "PhysioNet EEG Motor Movement/Imagery, the imagery runs",
    licence: Licence {
        name: "ODC-By 1.0",
        url: "https://opendatacommons.org/licenses/by/1-0/",
        allows: "use, sharing and changed copies, commercial use included, with attribution",
    },
    citation: Citation {
        bibtex: "@article{schalk2004bci2000,\n  \
            author  = {Schalk, Gerwin and McFarland, Dennis J. and Hinterberger, Thilo and Birbaumer, Niels and Wolpaw, Jonathan R.},\n  \
            title   = {{BCI2000}: A General-Purpose Brain-Computer Interface ({BCI}) System},\n  \
            journal = {IEEE Transactions on Biomedical Engineering},\n  \
            volume  = {51},\n  \
            number  = {6},\n  \
            pages   = {1034--1043},\n  \
            year    = {2004},\n  \
            doi     = {10.1109/TBME.2004.827072}\n}\n\
            @article{goldberger2000physiobank,\n  \
            author  = {Goldberger, Ary L. and Amaral, Luis A. N. and Glass, Leon and Hausdorff, Jeffrey M. and Ivanov, Plamen Ch. \
            and Mark, Roger G. and Mietus, Joseph E. and Moody, George B. and Peng, Chung-Kang and Stanley, H. Eugene},\n  \
            title   = {{PhysioBank}, {PhysioToolkit}, and {PhysioNet}},\n  \
            journal = {Circulation},\n  \
            volume  = {101},\n  \
            number  = {23},\n  \
            pages   = {e215--e220},\n  \
            year    = {2000},\n  \
            doi     = {10.1161/01.CIR.101.23.e215}\n}",
        doi: "10.1109/TBME.2004.827072",
    },
    subjects: 109,
    left_out: &[
        LeftOut {
            subject: 88,
            reason: SLOW,
        },
        LeftOut {
            subject: 92,
            reason: SLOW,
        },
        LeftOut {
            subject: 100,
            reason: SLOW,
        },
    ],
    sessions: &[Session::of_all("1", "the only day")],
    structure: "three runs of about 15 trials per task",
    tasks: &[
        Task {
            name: "hands-feet",
            meaning: "imagined opening and closing of both fists, or movement of both feet",
            runs: &[6, 10, 14],
            classes: &[
                Class::new(
                    "both_hands",
                    "imagined movement of both fists",
                    &["T1", "hands"],
                ),
                Class::new("feet", "imagined movement of both feet", &["T2"]),
                REST,
            ],
        },
        Task {
            name: "left-right",
            meaning: "imagined opening and closing of the left or right fist",
            runs: &[4, 8, 12],
            classes: &[
                Class::new("left_hand", "imagined movement of the left fist", &["T1"]),
                Class::new("right_hand", "imagined movement of the right fist", &["T2"]),
                REST,
            ],
        },
    ],
    sampling_rate: 160.0,
    window: Interval {
        start: 0.5,
        end: 3.5,
    },
    window_from: "the cue",
    domain: DomainUnit::Subject,
    notes: &[
        "Classes of different tasks come from different runs: a decoder told to separate them (right hand against feet) can \
         learn the run instead. Hold out whole runs, or stay within one task.",
        "Rest (T0) is taken only when it is named as a class.",
    ],
    channel_names: "FC5 FC3 FC1 FCz FC2 FC4 FC6 C5 C3 C1 Cz C2 C4 C6 CP5 CP3 CP1 CPz CP2 CP4 CP6 \
        Fp1 Fpz Fp2 AF7 AF3 AFz AF4 AF8 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FT8 T7 T8 T9 T10 TP7 TP8 \
        P7 P5 P3 P1 Pz P2 P4 P6 P8 PO7 PO3 POz PO4 PO8 O1 Oz O2 Iz",
    origin: Origin::Files {
        url: "https://physionet.org/files/eegmmidb/1.0.0/S{subject:03}/S{subject:03}R{run:02}.edf",
        path: "S{subject:03}/S{subject:03}R{run:02}.edf",
        kind: Kind::Edf,
        checksums: include_str!("eegmmidb_sha256.txt"),
        mne_key: "EEGBCI",
        mne: &[
            "MNE-eegbci-data/files/eegmmidb/1.0.0/S{subject:03}/S{subject:03}R{run:02}.edf",
            "MNE-eegbci-data/physiobank/database/eegmmidb/S{subject:03}/S{subject:03}R{run:02}.edf",
        ],
    },
};
