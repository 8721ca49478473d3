//! How files are to be read, on the command line.

use clap::Args;
use stiefel::eeg::io::ReadOptions;
use stiefel::eeg::recipe::{Input, read_options};

use crate::failure::Failure;

/// Choices about files that do not say everything.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Reading {
    /// Read the complete part of files that were cut short
    #[arg(long)]
    pub(crate) partial: bool,
    /// Samples per second, for files that do not say it
    #[arg(long, value_name = "HZ")]
    pub(crate) sampling_rate: Option<f64>,
    /// Events from marker channels: off, or some of channel=STI
    /// 014,mask=0xff,polarity=falling,threshold=2.5
    #[arg(long, value_name = "RULE")]
    pub(crate) markers: Option<String>,
    /// What the variables of a MATLAB file mean, by path:
    /// signal=EEG.data,rate=fs,labels=y,axis=time (also onsets, names, unit)
    #[arg(long, value_name = "PATHS")]
    pub(crate) mat: Option<String>,
    /// The stream of an XDF file that holds the signal, by name, type or number
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<String>,
    /// The most that the packed parts of a file (gzip, MATLAB, HDF5, npz) may expand to, for
    /// example 4G [default: 2G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_expanded: Option<u64>,
}

/// Bytes, or K, M, G or T of them, in powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = text.split_at(split.unwrap_or(text.len()));
    let power = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let bytes = power.and_then(|p| digits.parse::<u64>().ok()?.checked_mul(1 << p));
    bytes.ok_or_else(|| "give a whole number of bytes, or of K, M, G or T, for example 4G".into())
}

impl Reading {
    /// Returns how files are read, which of them left open.
    pub(crate) fn input(&self) -> Input {
        Input {
            partial: self.partial,
            sampling_rate: self.sampling_rate,
            markers: self.markers.clone(),
            mat: self.mat.clone(),
            stream: self.stream.clone(),
            max_expanded: self.max_expanded,
            ..Input::default()
        }
    }

    /// Returns it as readers take it.
    pub(crate) fn options(&self) -> Result<ReadOptions, Failure> {
        Ok(read_options(&self.input())?)
    }
}
