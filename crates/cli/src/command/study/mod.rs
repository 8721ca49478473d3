//! `stiefel study …`: the paper's tables.

mod options;
mod report;
mod run_unit;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use stiefel::study::{Plan, SplitUnit, Store, Study, StudyConfig, conclude, run, table};

use crate::bar::Units;
use crate::failure::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::source::load;
use crate::table::entry;
use crate::voice::note;
use options::Options;

#[derive(Debug, Args)]
#[command(
    after_help = "If a study is stopped, give the same command again: it continues where it \
                  stopped."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    which: Which,
}

/// A study, one unit of one, or its report. The studies and what they are about come from the
/// library.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one, and it is read once"
)]
enum Which {
    Study(Study, Options),
    RunUnit(run_unit::Arguments),
    Report(report::Arguments),
}

const RUN_UNIT: &str = "run-unit";
const REPORT: &str = "report";

impl Subcommand for Which {
    fn augment_subcommands(command: Command) -> Command {
        let one = |study: Study| {
            // Options that are shared describe themselves where nothing else does.
            let command = Options::augment_args(Command::new(study.name()));
            command.about(study.about()).after_help(methods_of(study))
        };
        let studies = Study::ALL.map(one);
        let report = Command::new(REPORT).about("Write the report of a finished study again");
        let unit = Command::new(RUN_UNIT).about("Run one unit of a planned study, for schedulers");
        command
            .subcommands(studies)
            .subcommand(report::Arguments::augment_args(report))
            .subcommand(run_unit::Arguments::augment_args(unit))
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        [RUN_UNIT, REPORT].contains(&name) || name.parse::<Study>().is_ok()
    }
}

/// The methods of a study, for its help.
fn methods_of(study: Study) -> String {
    let [one, several] = [false, true].map(|several| study.methods(several).unwrap_or_default());
    let more: Vec<String> = several.into_iter().filter(|m| !one.contains(m)).collect();
    let more = match &more[..] {
        [] => String::new(),
        more => format!("; with several views also {}", more.join(", ")),
    };
    let text = format!("Methods without --methods: {}{more}.", one.join(", "));
    entry("", &text, 0).trim_start().to_owned()
}

impl FromArgMatches for Which {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, given) = matches.subcommand().ok_or_else(missing)?;
        match name.parse() {
            Ok(study) => Options::from_arg_matches(given).map(|o| Self::Study(study, o)),
            Err(_) if name == REPORT => {
                report::Arguments::from_arg_matches(given).map(Self::Report)
            }
            Err(_) => run_unit::Arguments::from_arg_matches(given).map(Self::RunUnit),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        match self.which {
            Which::Study(which, options) => study(which, &options, output),
            Which::RunUnit(arguments) => arguments.run(output),
            Which::Report(arguments) => arguments.run(output),
        }
    }
}

fn study(which: Study, options: &Options, output: &mut Output) -> Outcome {
    let plan = planned(options.resolve(which)?)?;
    let folder = options.output.clone();
    let folder = folder.unwrap_or_else(|| plan.default_folder());
    let store = Store::claim(&folder, &plan, output.configuration(), options.overwrite)?;
    if options.plan {
        return list(&plan, &folder, options.json, output);
    }
    let summary = finish(&plan, &store, options.threads)?;
    if options.json {
        let mut figures = serde_json::to_value(&summary).map_err(crate::failure::unexpected)?;
        if let Some(map) = figures.as_object_mut() {
            map.remove("units");
        }
        return output.json(&figures);
    }
    output.line(&table::text(&summary))?;
    output.line(&format!("report: {}", folder.join("report.html").display()))
}

/// Loads the data and plans the units.
pub(crate) fn planned(config: StudyConfig) -> Result<Plan, crate::failure::Failure> {
    let trials = load(&config.data, &config.choice)?;
    let random = config.split == SplitUnit::Trial && !config.study.has_own_folds();
    let order = trials
        .label_order()
        .filter(|order| random && order.is_blocked());
    if let Some(order) = order {
        note(&format!(
            "{order}: classes come in stretches, and trials drawn at random have neighbours in \
             training; --split block holds out whole runs"
        ));
    }
    Ok(Plan::new(config, &trials)?)
}

/// Runs what is missing and writes summary and report.
pub(crate) fn finish(
    plan: &Plan,
    store: &Store,
    threads: Option<usize>,
) -> Result<stiefel::study::StudySummary, crate::failure::Failure> {
    let progress = Units::new();
    let cancel = interrupt::cancel()?;
    let records = run(plan, store, threads.unwrap_or(0), &cancel, &progress)?;
    Ok(conclude(plan, store, records)?)
}

/// The units of a plan, a line each.
fn list(plan: &Plan, folder: &std::path::Path, json: bool, output: &mut Output) -> Outcome {
    if json {
        let units: Vec<_> = plan
            .units
            .iter()
            .enumerate()
            .map(|(i, u)| {
                serde_json::json!({"index": i, "id": u.ids.unit, "method": u.name, "fold": u.index, "seed": u.seed})
            })
            .collect();
        return output.json(&serde_json::json!({"folder": folder, "units": units}));
    }
    for (i, unit) in plan.units.iter().enumerate() {
        let id = &unit.ids.unit[..12];
        output.line(&format!(
            "{i:>5}  {id}  fold {:>2}  seed {:>3}  {}",
            unit.index, unit.seed, unit.name
        ))?;
    }
    output.line(&format!(
        "\n{} units in {}; run one with `stiefel study run-unit {} INDEX`, and all that are \
         missing with the same command without --plan",
        plan.units.len(),
        folder.display(),
        folder.display()
    ))
}
