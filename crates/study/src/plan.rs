//! From a configuration to units of work.

use crate::config::{SplitUnit, Study, StudyConfig};
use crate::dataset::Dataset;
use crate::method::{Family, Named};
use crate::peers::Peer;
use crate::unit::{Unit, identity};
use crate::{Result, StudyError, nuisance};
use std::sync::Arc;
use stiefel_data::split::{Fold, block_folds, cross_domain_folds, loso_folds, session_folds};
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::scaling::ScalingRule;
use stiefel_model::{Factor, Preconditioning, Trials};

/// One division of the trials, and what is held out where it has a name.
#[derive(Debug, Clone)]
pub(crate) struct NamedFold {
    pub(crate) fold: Fold,
    pub(crate) held_out: Option<String>,
}

/// A study ready to run.
#[derive(Debug)]
pub struct Plan {
    /// What was asked for.
    pub config: StudyConfig,
    /// What it runs on.
    pub data: Dataset,
    /// The units, in the order of the table: method, seed, fold.
    pub units: Vec<Unit>,
    /// How trials are split, in words.
    pub protocol: String,
}

impl Plan {
    /// Plans a study on a dataset that is already chosen (see [`crate::load`]).
    pub fn new(config: StudyConfig, data: Dataset) -> Result<Self> {
        config.check()?;
        let data = match config.study {
            Study::Null => nuisance::relabel(data)?,
            Study::Session => by_subject(data)?,
            _ => data,
        };
        let mut units = Vec::new();
        for cell in cells(&config, &data)? {
            add_units(&config, &data, &cell, &mut units)?;
        }
        let protocol = protocol(&config, &data);
        Ok(Self {
            config,
            data,
            units,
            protocol,
        })
    }

    /// The method names in the order of the table.
    pub fn methods(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for unit in &self.units {
            if !names.contains(&unit.name.as_str()) {
                names.push(&unit.name);
            }
        }
        names
    }
}

/// A set of trials with the methods that run on it; all but the scaling study have one.
struct Cell {
    prefix: String,
    trials: Arc<Trials>,
    fingerprint: String,
    methods: Vec<Named>,
}

fn family(config: &StudyConfig, channels: usize, domains: usize) -> Result<Family> {
    let auto = match config.sizing.preset() {
        Some(preset) => preset.recommendation(),
        None => ScalingRule::default().recommend(channels, domains)?,
    };
    let unseen = match config.study {
        Study::Online => UnseenPolicy::Causal {
            kappa: UnseenPolicy::DEFAULT_KAPPA,
        },
        _ => config.unseen,
    };
    Ok(Family {
        auto,
        training: config.training,
        preconditioning: Preconditioning {
            whitening: config.whitening,
            scaling: config.scaling,
            unseen: Some(unseen),
            ..Preconditioning::default()
        },
        orthogonality: config.orthogonality,
        precision: config.precision,
        retrained: config.retrained,
    })
}

fn cells(config: &StudyConfig, data: &Dataset) -> Result<Vec<Cell>> {
    let rule = ScalingRule::default();
    let n = data.trials.channels_count();
    let held_out = matches!(config.study, Study::Loso | Study::Online);
    let domains = data.summary.domains.len();
    // D counts training domains; subjects may have several.
    let least = if held_out {
        let of = &data.summary.subject_of_domain;
        let most = (0..data.summary.subjects.len())
            .map(|s| of.iter().filter(|&&x| x == s).count())
            .max();
        domains - most.unwrap_or(0)
    } else {
        domains
    };
    if config.study == Study::Scaling {
        return scaling_cells(config, data);
    }
    let family = family(config, n, least.max(1))?;
    let methods = match config.study {
        Study::Ablation => {
            let mut rows = vec![family.baseline()];
            rows.extend(family.ablation(rule.rank, rule.lambda_align));
            rows
        }
        Study::Loso => {
            let mut rows = family.loso();
            rows.extend(
                [Peer::TangentLrPooled, Peer::Mdm, Peer::RecentredLr].map(|p| family.peer(p)),
            );
            rows
        }
        Study::Online => {
            let mut rows = family.loso();
            rows.retain(|m| {
                ["baseline", "input-only", "zero", "recommended"].contains(&m.name.as_str())
            });
            rows.push(family.peer(Peer::TangentLrPooled));
            rows
        }
        _ => {
            let names = if config.methods.is_empty() {
                Family::names()
            } else {
                config.methods.iter().map(String::as_str).collect()
            };
            let found: Result<Vec<Named>> = names.into_iter().map(|m| family.by_name(m)).collect();
            found?
        }
    };
    let methods = if config.methods.is_empty() {
        methods
    } else {
        narrowed(methods, &config.methods)?
    };
    Ok(vec![Cell {
        prefix: String::new(),
        trials: Arc::new(data.trials.clone()),
        fingerprint: data.summary.fingerprint.clone(),
        methods,
    }])
}

/// The methods of a study that were asked for by name.
fn narrowed(methods: Vec<Named>, wanted: &[String]) -> Result<Vec<Named>> {
    let known: Vec<String> = methods.iter().map(|m| m.name.clone()).collect();
    if let Some(bad) = wanted.iter().find(|w| !known.contains(w)) {
        return Err(StudyError::setting(
            format!("there is no method \"{bad}\" in this study"),
            format!("its methods are {}", known.join(", ")),
        ));
    }
    Ok(methods
        .into_iter()
        .filter(|m| wanted.contains(&m.name))
        .collect())
}

/// Channel subsets (those of the three montages that the dataset has) times domain counts (a quarter, half, all).
fn scaling_cells(config: &StudyConfig, data: &Dataset) -> Result<Vec<Cell>> {
    use stiefel_eeg::montage::Montage;
    let rule = ScalingRule::default();
    let names = &data.summary.channels;
    let mut montages = vec![(0..names.len()).collect::<Vec<usize>>()];
    for montage in [Montage::Bnci2014001, Montage::Bnci2015001] {
        let at: Option<Vec<usize>> = montage
            .channels()
            .iter()
            .map(|c| names.iter().position(|n| n.eq_ignore_ascii_case(c)))
            .collect();
        if let Some(at) = at
            && at.len() < names.len()
        {
            montages.push(at);
        }
    }
    let all = data.summary.domains.len();
    let mut counts: Vec<usize> = [all / 4, all / 2, all]
        .into_iter()
        .filter(|&d| d >= 2)
        .collect();
    counts.dedup();
    if counts.is_empty() {
        return Err(StudyError::setting(
            format!("the scaling study needs at least two domains, there are {all}"),
            "give a dataset of several people",
        ));
    }
    let mut cells = Vec::new();
    for at in &montages {
        for &count in &counts {
            let domains = data.trials.domains();
            let keep: Vec<usize> = (0..data.trials.len())
                .filter(|&i| domains.indices()[i] < count)
                .collect();
            let part = data.clone().keep(&keep)?;
            let trials = crate::dataset::sub_montage(&part.trials, at, names)?;
            let family = family(config, at.len(), count)?;
            let mut methods = vec![family.baseline()];
            methods.extend(family.scaling(rule.rank, rule.lambda_align));
            let rho = (at.len() * (at.len() + 1)) as f64 / (2 * count) as f64;
            cells.push(Cell {
                prefix: format!("{} ch, D={count}, ρ={rho:.0}: ", at.len()),
                fingerprint: crate::dataset::fingerprint(&trials),
                trials: Arc::new(trials),
                methods,
            });
        }
    }
    Ok(cells)
}

fn add_units(
    config: &StudyConfig,
    data: &Dataset,
    cell: &Cell,
    units: &mut Vec<Unit>,
) -> Result<()> {
    let fingerprint = &cell.fingerprint;
    let mut by_seed = Vec::new();
    for &seed in &config.seeds {
        by_seed.push((seed, folds(config, data, &cell.trials, seed)?));
    }
    for method in &cell.methods {
        for (seed, folds) in &by_seed {
            for (index, named) in folds.iter().enumerate() {
                units.push(Unit {
                    ids: identity(fingerprint, &method.method, &named.fold, index, *seed)?,
                    name: format!("{}{}", cell.prefix, method.name),
                    method: method.method.clone(),
                    trials: Arc::clone(&cell.trials),
                    dataset: fingerprint.clone(),
                    fold: named.fold.clone(),
                    index,
                    held_out: named.held_out.clone(),
                    seed: *seed,
                });
            }
        }
    }
    Ok(())
}

fn folds(
    config: &StudyConfig,
    data: &Dataset,
    trials: &Trials,
    seed: u64,
) -> Result<Vec<NamedFold>> {
    let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
    let unnamed = |folds: Vec<Fold>| {
        let one = |fold| NamedFold {
            fold,
            held_out: None,
        };
        folds.into_iter().map(one).collect()
    };
    Ok(match config.study {
        Study::Loso | Study::Online => {
            let summary = &data.summary;
            let folds = loso_folds(labels, domains, &summary.subject_of_domain, seed)?;
            let one = |fold: Fold| {
                let subject = fold
                    .test
                    .first()
                    .map(|&i| summary.subjects[summary.subject_of_domain[domains[i]]].clone());
                NamedFold {
                    fold,
                    held_out: subject,
                }
            };
            folds.into_iter().map(one).collect()
        }
        Study::Session => {
            let sessions = data.sessions.as_ref().ok_or_else(no_sessions)?;
            let fold = session_folds(labels, domains, sessions.indices(), seed)?;
            unnamed(vec![fold])
        }
        _ => match config.split {
            SplitUnit::Trial => unnamed(cross_domain_folds(labels, domains, seed)?),
            SplitUnit::Block => {
                let runs = trials.runs().map(Factor::indices);
                unnamed(block_folds(labels, domains, runs, seed)?)
            }
        },
    })
}

fn no_sessions() -> StudyError {
    StudyError::setting(
        "the dataset has no sessions",
        "name domains SUBJECT-SESSION or runs SESSION/RUN, or use a dataset with several days",
    )
}

/// The same trials with subjects as domains, the sessions kept beside.
fn by_subject(data: Dataset) -> Result<Dataset> {
    let sessions = data.sessions.clone().ok_or_else(no_sessions)?;
    let subjects = data.subjects();
    let names = &data.summary.subjects;
    let domains = Factor::from_labels(subjects.iter().map(|&s| names[s].as_str()));
    let trials = data.trials.clone().with_domains(domains)?;
    let mut merged = data.with_trials(trials)?;
    merged.sessions = Some(sessions);
    Ok(merged)
}

/// How trials are split, in words.
fn protocol(config: &StudyConfig, data: &Dataset) -> String {
    let block = match data.trials.runs() {
        Some(_) => "whole runs",
        None => "contiguous fifths of each domain (the dataset names no runs)",
    };
    let within = match config.split {
        SplitUnit::Trial => "five folds; in every (domain, class) cell 15 % of the trials, drawn at random, test, another 15 % \
                             validate, the rest train; the five test sets are disjoint"
            .to_owned(),
        SplitUnit::Block => format!("one fold per block: {block} are held out; 15 % of the rest validate"),
    };
    match config.study {
        Study::Loso => format!(
            "one subject held out per fold with all sessions; 15 % of each training cell validate; the held-out subject is whitened by {}",
            config.unseen
        ),
        Study::Online => "one subject held out per fold; its trials are decided one by one in recording order, whitened by the running \
                          mean of the trials seen so far (causal, κ = 10)"
            .into(),
        Study::Session => "trained on each subject's first session (15 % validate), tested on the later ones".into(),
        Study::Null => format!("{within}; labels replaced by the run a trial came from, balanced over the classes"),
        Study::Main | Study::Ablation | Study::Scaling => within,
    }
}
