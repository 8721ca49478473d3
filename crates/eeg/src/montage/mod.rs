//! Electrode names, their places on the head, and the channel sets of public datasets.
//!
//! Names are compared without regard to case, trailing dots (`"Fc5."`), an `EEG` prefix (`"EEG
//! Fz"`, `"EEG-Fz"`), a reference suffix (`"C3-REF"`, `"C3-LE"`), and with the older 10–20 names
//! `T3 = T7`, `T4 = T8`, `T5 = P7`, `T6 = P8`.

mod positions;

use stiefel_formats::electrode::key;

pub use positions::{Position, position, positions};

/// The 10–10 spelling of an electrode's name; names that are no electrode are only trimmed.
///
/// ```
/// use stiefel_eeg::montage::canonical;
/// assert_eq!(canonical("Fc5."), "FC5");
/// assert_eq!(canonical("EEG T3-REF"), "T7");
/// assert_eq!(canonical(" EOG-left "), "EOG-left");
/// ```
pub fn canonical(name: &str) -> String {
    let key = key(name);
    positions()
        .iter()
        .find(|p| p.name.eq_ignore_ascii_case(&key))
        .map_or_else(|| name.trim().to_string(), |p| p.name.clone())
}

/// The EEG channels of a public dataset, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Montage {
    /// BNCI 2014-001 (BCI competition IV 2a): 22 channels.
    Bnci2014001,
    /// BNCI 2015-001: 13 channels.
    Bnci2015001,
    /// Weibo 2014: 60 channels.
    Weibo2014,
    /// PhysioNet EEG Motor Movement/Imagery: 64 channels.
    Eegmmidb,
}

impl Montage {
    /// All montages.
    pub const ALL: [Self; 4] = [
        Self::Bnci2014001,
        Self::Bnci2015001,
        Self::Weibo2014,
        Self::Eegmmidb,
    ];

    /// The name used on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bnci2014001 => "bnci2014001",
            Self::Bnci2015001 => "bnci2015001",
            Self::Weibo2014 => "weibo2014",
            Self::Eegmmidb => "eegmmidb",
        }
    }

    /// The montage of that name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|m| m.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The names of its channels.
    pub fn channels(self) -> Vec<&'static str> {
        let names = match self {
            Self::Bnci2014001 => {
                "Fz FC3 FC1 FCz FC2 FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CP1 CPz CP2 CP4 P1 Pz P2 POz"
            }
            Self::Bnci2015001 => "FC3 FCz FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CPz CP4",
            Self::Weibo2014 => {
                "Fp1 Fpz Fp2 AF3 AF4 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 \
                 FT8 T7 C5 C3 C1 Cz C2 C4 C6 T8 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 P7 P5 P3 P1 Pz \
                 P2 P4 P6 P8 PO7 PO5 PO3 POz PO4 PO6 PO8 O1 Oz O2"
            }
            Self::Eegmmidb => {
                "FC5 FC3 FC1 FCz FC2 FC4 FC6 C5 C3 C1 Cz C2 C4 C6 CP5 CP3 CP1 CPz CP2 CP4 CP6 Fp1 \
                 Fpz Fp2 AF7 AF3 AFz AF4 AF8 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FT8 T7 T8 T9 T10 TP7 \
                 TP8 P7 P5 P3 P1 Pz P2 P4 P6 P8 PO7 PO3 POz PO4 PO8 O1 Oz O2 Iz"
            }
        };
        names.split_ascii_whitespace().collect()
    }
}
