//! Options of a study, and how they meet the configuration file.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use stiefel::eeg::select::ChannelChoice;
use stiefel::study::{Study, StudyConfig};

use crate::failure::Failure;
use crate::settings::Given;
use crate::source::Part;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A .npz of covariances, a dataset of `stiefel data list`, or synthetic:weibo2014
    data: Option<String>,
    /// Where results go [default: a folder of this study and
    /// these data below stiefel-results]
    #[arg(long, short, value_name = "FOLDER")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    part: Part,
    /// Methods, separated by commas [default: all of the study]
    #[arg(long, value_delimiter = ',')]
    methods: Option<Vec<String>>,
    /// What is held out together: trial or block (a whole run)
    #[arg(long)]
    split: Option<String>,
    /// Seeds of split, initial values and batches, separated by commas
    #[arg(long, value_delimiter = ',')]
    seeds: Option<Vec<u64>>,
    /// How the trials of a person without training trials are whitened: pooled, own-mean or causal
    #[arg(long, value_name = "POLICY")]
    adapt: Option<String>,
    #[command(flatten)]
    given: Given,
    /// Threads [default: all cores]
    #[arg(long)]
    pub(super) threads: Option<usize>,
    /// Write the configuration and list the units without running them
    #[arg(long)]
    pub(super) plan: bool,
    /// Print figures as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Replace what another study left in the folder
    #[arg(long)]
    pub(super) overwrite: bool,
}

impl Options {
    /// Defaults, and what the options say.
    pub(super) fn resolve(&self, study: Study) -> Result<StudyConfig, Failure> {
        let Some(data) = &self.data else {
            return Err(Failure::Misuse(
                "no dataset was given; give one, for instance `synthetic:weibo2014`".into(),
            ));
        };
        let given = self.named().chain(self.given.all());
        StudyConfig::with_settings(study, data, given).map_err(|e| self.given.study_failure(e))
    }

    /// Returns what the named options say.
    fn named(&self) -> impl Iterator<Item = (String, Value)> {
        let channels = self.part.channels.clone().map(ChannelChoice::from);
        let all = [
            ("channels", channels.map(|x| json!(x))),
            ("classes", self.part.classes.as_ref().map(|x| json!(x))),
            ("subjects", self.part.subjects.as_ref().map(|x| json!(x))),
            ("duplicates", self.part.duplicates.map(|x| json!(x))),
            ("methods", self.methods.as_ref().map(|x| json!(x))),
            ("split", self.split.as_ref().map(|x| json!(x))),
            ("seeds", self.seeds.as_ref().map(|x| json!(x))),
            ("adapt", self.adapt.as_ref().map(|x| json!(x))),
        ];
        let given = all.into_iter();
        given.filter_map(|(name, value)| Some((name.to_owned(), value?)))
    }
}
