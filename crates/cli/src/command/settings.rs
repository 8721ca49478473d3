//! `stiefel help settings`: the settings of a model or a study.

use clap::Args;
use stiefel::model::kind::DataSizes;
use stiefel::model::registry;
use stiefel::study::{Study, StudyConfig};

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::settings::listed;

/// Sizes of the data that defaults are shown for: those of BNCI2014001.
pub(super) const SHOWN: DataSizes = DataSizes {
    channels: 22,
    domains: 9,
};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The name of a model or a study
    names: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        output.line(settings(&names)?.trim_end())
    }
}

/// Lists the settings of a model or a study.
fn settings(names: &[&str]) -> Result<String, Failure> {
    let studies = Study::ALL.map(Study::name).join(", ");
    let [name] = names else {
        return Err(Failure::Misuse(format!(
            "give the name of a model ({}) or of a study ({studies})",
            registry::names().join(", ")
        )));
    };
    if let Ok(study) = name.parse::<Study>() {
        return Ok(listed(
            &format!("Settings of the study {study}, for `stiefel study {study} --set`:"),
            &StudyConfig::settings(study),
        ));
    }
    let found = registry::settings(name, SHOWN).map_err(|error| match error {
        error if registry::find(name).is_err() => {
            Failure::Misuse(format!("{error}; studies: {studies}"))
        }
        error => error.into(),
    })?;
    Ok(listed(
        &format!(
            "Settings of the model {name}, for `stiefel train --model {name} --set`. Defaults are \
             those for {} channels and {} people:",
            SHOWN.channels, SHOWN.domains
        ),
        &found,
    ))
}
