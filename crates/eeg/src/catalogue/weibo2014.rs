//! Weibo 2014: simple and compound motor imagery.
//!
//! Three zips of MATLAB files, one per subject: `data` [64 channels × samples × trials] in µV at 200 Hz and `label`. Already cut
//! into trials of 8 s: 2 s pause, 1 s preparation, 4 s imagery (3–7 s), 1 s rest. Of the 64 channels CB1, CB2 (outside the 10-10
//! system) and the two EOG are dropped.

use super::dataset::{Citation, Class, Dataset, DomainUnit, Interval, Licence, Session, Task};
use super::files::{Archive, Origin};

pub(super) const DATASET: Dataset = Dataset {
    id: "weibo2014",
    name: "Weibo2014",
    aliases: &["weibo"],
    title: "Simple and compound motor imagery",
    licence: Licence {
        name: "CC0 1.0",
        url: "https://creativecommons.org/publicdomain/zero/1.0/",
        allows: "anything, without conditions; citing the authors is good practice",
    },
    citation: Citation {
        bibtex: "@article{yi2014evaluation,\n  \
            author  = {Yi, Weibo and Qiu, Shuang and Wang, Kun and Qi, Hongzhi and Zhang, Lixin and Zhou, Peng and He, Feng and Ming, Dong},\n  \
            title   = {Evaluation of {EEG} Oscillatory Patterns and Cognitive Process during Simple and Compound Limb Motor Imagery},\n  \
            journal = {PLOS ONE},\n  \
            volume  = {9},\n  \
            number  = {12},\n  \
            pages   = {e114853},\n  \
            year    = {2014},\n  \
            doi     = {10.1371/journal.pone.0114853}\n}",
        doi: "10.1371/journal.pone.0114853",
    },
    subjects: 10,
    left_out: &[],
    sessions: &[Session::of_all("1", "the only day")],
    structure: "eight sections of 60 trials, ten of each imagery, and one of 80 rest trials",
    tasks: &[Task {
        name: "imagery",
        meaning: "imagined movement of one limb or of two together",
        runs: &[],
        classes: &[
            Class::new("left_hand", "imagined movement of the left hand", &["1"]),
            Class::new("right_hand", "imagined movement of the right hand", &["2"]),
            Class::new(
                "both_hands",
                "imagined movement of both hands",
                &["3", "hands"],
            ),
            Class::new("feet", "imagined movement of both feet", &["4"]),
            Class::new(
                "left_hand_right_foot",
                "imagined movement of left hand and right foot together",
                &["5"],
            ),
            Class::new(
                "right_hand_left_foot",
                "imagined movement of right hand and left foot together",
                &["6"],
            ),
            Class::new("rest", "rest", &["7"]),
        ],
    }],
    sampling_rate: 200.0,
    window: Interval {
        start: 3.0,
        end: 7.0,
    },
    window_from: "the first sample of the trial, 3 s before the cue",
    domain: DomainUnit::Subject,
    notes: &[
        "The files hold trials, not continuous signals: filters run trial by trial.",
        "One archive holds three or four subjects; all of them are unpacked when one is asked for.",
        "The section a trial came from is not in the files.",
    ],
    channel_names: "Fp1 Fpz Fp2 AF3 AF4 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 FT8 \
        T7 C5 C3 C1 Cz C2 C4 C6 T8 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 P7 P5 P3 P1 Pz P2 P4 P6 P8 \
        PO7 PO5 PO3 POz PO4 PO6 PO8 O1 Oz O2",
    origin: Origin::Archives {
        path: "subject_{subject}.mat",
        mne_key: "WEIBO",
        mne: &["MNE-weibo-2014/subject_{subject}.mat"],
        archives: &[
            Archive {
                name: "data0.zip",
                url: "https://dataverse.harvard.edu/api/access/datafile/2499178",
                members: &[(1, "cl"), (2, "cyy"), (3, "kyf"), (4, "lnn")],
            },
            Archive {
                name: "data1.zip",
                url: "https://dataverse.harvard.edu/api/access/datafile/2499182",
                members: &[(5, "ls"), (6, "ry"), (7, "wcf")],
            },
            Archive {
                name: "data2.zip",
                url: "https://dataverse.harvard.edu/api/access/datafile/2499179",
                members: &[(8, "wx"), (9, "yyx"), (10, "zd")],
            },
        ],
    },
};
