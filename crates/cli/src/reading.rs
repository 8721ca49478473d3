//! How files are to be read, on the command line.

use clap::Args;
use stiefel::eeg::io::ReadOptions;

use crate::failure::Failure;

/// Choices about files that do not say everything.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Reading {
    /// Read the complete part of files that were cut short
    #[arg(long)]
    pub(crate) partial: bool,
    /// Samples per second, for files that do not say it
    #[arg(long, value_name = "HZ")]
    pub(crate) rate: Option<f64>,
    /// Events from marker channels: off, or some of channel=STI 014,mask=0xff,polarity=falling,threshold=2.5
    #[arg(long, value_name = "RULE")]
    pub(crate) markers: Option<String>,
    /// What the variables of a MATLAB file mean, by path: signal=EEG.data,rate=fs,labels=y,axis=time (also onsets, names, unit)
    #[arg(long, value_name = "PATHS")]
    pub(crate) mat: Option<String>,
    /// The stream of an XDF file that holds the signal, by name, type or number
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<String>,
}

impl Reading {
    /// As the library takes it.
    pub(crate) fn options(&self) -> Result<ReadOptions, Failure> {
        let markers = self.markers.as_deref().map(str::parse).transpose()?;
        Ok(ReadOptions {
            partial: self.partial,
            sampling_rate: self.rate,
            markers: markers.unwrap_or_default(),
            mat: self.mat.as_deref().map(str::parse).transpose()?,
            stream: self.stream.clone(),
            ..ReadOptions::default()
        })
    }
}
