//! From a configuration to units of work.

use crate::config::{SplitUnit, Study, StudyConfig};
use crate::family::Family;
use crate::method::Named;
use crate::roster;
use crate::unit::{Unit, identity};
use crate::{DatasetSummary, Result, StudyError, nuisance};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stiefel_data::split::{Fold, loso_folds, session_folds};
use stiefel_data::{Trials, fingerprint, hex};
use stiefel_model::precondition::Adaptation;
use stiefel_model::scaling::ScalingRule;

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
    pub trials: Arc<Trials>,
    /// What is known of them.
    pub summary: DatasetSummary,
    /// The units, in the order of the table: method, seed, fold.
    pub units: Vec<Unit>,
    /// How trials are split, in words.
    pub protocol: String,
}

impl Plan {
    /// Plans a study on a dataset that is already chosen (see [`stiefel_eeg::load`]).
    pub fn new(config: StudyConfig, trials: &Trials) -> Result<Self> {
        config.check()?;
        let trials = match config.study {
            Study::Null => nuisance::relabel(trials)?,
            Study::Session => by_subject(trials)?,
            _ => trials.clone(),
        };
        let summary = DatasetSummary::of(&trials);
        stiefel_eeg::quality::check(&summary.quality)?;
        let trials = Arc::new(trials);
        let mut units = Vec::new();
        for cell in cells(&config, &trials, &summary)? {
            add_units(&config, &cell, &mut units)?;
        }
        let protocol = protocol(&config, &trials) + &left_out(&units);
        Ok(Self {
            config,
            trials,
            summary,
            units,
            protocol,
        })
    }

    /// Returns what makes it this study: the data, wherever they are, and all settings.
    pub fn identity(&self) -> String {
        let config = StudyConfig {
            data: String::new(),
            ..self.config.clone()
        };
        let text = json!([self.summary.fingerprint, config]).to_string();
        hex(&Sha256::digest(text))
    }

    /// Returns where results go unless told otherwise: the study, the name of the data, and eight
    /// digits of the [`identity`](Self::identity), as `stiefel-results/main-weibo2014-1f0c93ab`.
    pub fn default_folder(&self) -> PathBuf {
        let data = &self.config.data;
        let stem = Path::new(data).file_stem();
        let stem = stem.map_or_else(|| data.clone(), |s| s.to_string_lossy().into_owned());
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        let slug: String = stem
            .chars()
            .map(|c| if plain(c) { c } else { '-' })
            .collect();
        let name = format!("{}-{slug}-{}", self.config.study, &self.identity()[..8]);
        PathBuf::from("stiefel-results").join(name)
    }

    /// Labelled trials of each new person behind a row of a study of calibration; none under a
    /// running mean.
    pub(crate) fn labels(&self, method: &str) -> Option<usize> {
        let unit = self.units.iter().find(|u| u.name == method)?;
        let causal = matches!(
            unit.method.unseen_whitening(),
            Some(Adaptation::Causal { .. })
        );
        let domains = unit.trials.domains().indices();
        let first = unit.labelled.first().map(|&i| domains[i]);
        let labels = (unit.labelled.iter()).filter(|&&i| Some(domains[i]) == first);
        (self.config.study == Study::Calibration && !causal).then(|| labels.count())
    }

    /// Channels and domains behind a row of a study of scaling.
    pub(crate) fn size(&self, method: &str) -> Option<(usize, usize)> {
        let unit = self.units.iter().find(|u| u.name == method)?;
        let trials = &unit.trials;
        let size = (trials.channels_count(), trials.domains().present().len());
        (self.config.study == Study::Scaling).then_some(size)
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
    name: Option<String>,
    /// The first trials of each held-out domain that are labelled, and not tested.
    labels: usize,
    trials: Arc<Trials>,
    fingerprint: String,
    methods: Vec<Named>,
}

fn cells(
    config: &StudyConfig,
    trials: &Arc<Trials>,
    summary: &DatasetSummary,
) -> Result<Vec<Cell>> {
    let n = trials.channels_count();
    let held_out = config.study.holds_out_people();
    let domains = summary.domains.len();
    // D counts training domains; subjects may have several.
    let least = if held_out {
        let of = &summary.subject_of_domain;
        let most = (0..summary.subjects.len())
            .map(|s| of.iter().filter(|&&x| x == s).count())
            .max();
        domains - most.unwrap_or(0)
    } else {
        domains
    };
    if config.study == Study::Scaling {
        return scaling_cells(config, trials);
    }
    let family = config.family(n, least.max(1))?;
    if config.study == Study::Calibration {
        return calibration_cells(config, &family, trials, &summary.fingerprint);
    }
    let methods = if config.study.takes_any_method() && !config.methods.is_empty() {
        let names: Vec<&str> = config.methods.iter().map(String::as_str).collect();
        family.all(&names)?
    } else {
        rows(config.study, &family, trials.views() > 1)?
    };
    Ok(vec![Cell {
        name: None,
        labels: 0,
        trials: Arc::clone(trials),
        fingerprint: summary.fingerprint.clone(),
        methods: narrowed(methods, &config.methods)?,
    }])
}

/// The methods that a study runs unless it is told others.
fn rows(study: Study, family: &Family, several_views: bool) -> Result<Vec<Named>> {
    let rule = ScalingRule::default();
    let baseline = || family.by_name(roster::BASELINE);
    let mut rows = Vec::new();
    match study {
        Study::Ablation => {
            rows.push(baseline()?);
            rows.extend(family.ablation(rule.rank, rule.lambda_align)?);
        }
        Study::Scaling => {
            rows.push(baseline()?);
            rows.extend(family.scaling(rule.rank, rule.lambda_align)?);
        }
        Study::Loso => {
            rows.extend(family.loso()?);
            if several_views {
                rows.extend(family.all(&roster::LOSO_VIEWS)?);
            }
        }
        Study::Online => {
            rows.extend(family.loso()?);
            rows.retain(|m| roster::ONLINE.contains(&m.name.as_str()));
        }
        Study::Calibration => {
            rows.extend(family.all(&roster::CALIBRATION)?);
            if several_views {
                rows.extend(family.all(&roster::CALIBRATION_VIEWS)?);
            }
        }
        Study::Main | Study::Session | Study::Null => {
            rows.extend(family.all(&Family::names())?);
            if several_views {
                rows.extend(family.view_networks()?);
                rows.extend(family.banks()?);
            }
        }
    }
    Ok(rows)
}

impl Study {
    /// Lists the methods that it runs unless it is told others; with several views some join them.
    ///
    /// ```
    /// use stiefel_study::Study;
    ///
    /// assert_eq!(Study::Calibration.methods(false)?, ["choir", "recentred-ts+lr"]);
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn methods(self, several_views: bool) -> Result<Vec<String>> {
        // Names do not depend on sizes.
        let family = StudyConfig::new(self, "").family(22, 9)?;
        let rows = rows(self, &family, several_views)?;
        Ok(rows.into_iter().map(|row| row.name).collect())
    }

    /// Tells whether any method can be named, not only those of its rows.
    fn takes_any_method(self) -> bool {
        matches!(self, Self::Main | Self::Session | Self::Null)
    }
}

/// The methods of a study that were asked for by name.
fn narrowed(methods: Vec<Named>, wanted: &[String]) -> Result<Vec<Named>> {
    if wanted.is_empty() {
        return Ok(methods);
    }
    // Two names of one method are that method.
    let wanted: Vec<&str> = (wanted.iter()).map(|w| roster::in_tables(w)).collect();
    let known: Vec<String> = methods.iter().map(|m| m.name.clone()).collect();
    if let Some(bad) = wanted.iter().find(|w| !known.iter().any(|k| k == *w)) {
        return Err(StudyError::setting(
            format!("there is no method \"{bad}\" in this study"),
            format!("its methods are {}", known.join(", ")),
        ));
    }
    Ok(methods
        .into_iter()
        .filter(|m| wanted.contains(&m.name.as_str()))
        .collect())
}

/// People without labels, under the mean of all their trials and under the running one, and with a
/// few labels.
fn calibration_cells(
    config: &StudyConfig,
    family: &Family,
    trials: &Arc<Trials>,
    fingerprint: &str,
) -> Result<Vec<Cell>> {
    let kappa = Adaptation::DEFAULT_KAPPA;
    let mut cells = vec![
        ("no labels".to_owned(), 0, Adaptation::OwnMean { kappa }),
        (
            "no labels, causal".to_owned(),
            0,
            Adaptation::Causal { kappa },
        ),
    ];
    cells.extend([2, 4, 8, 16].map(|labels| {
        let name = format!("{labels} labels");
        (name, labels, Adaptation::OwnMean { kappa })
    }));
    let methods = |policy| -> Result<Vec<Named>> {
        let mut family = family.clone();
        family.unseen = policy;
        family.common["preconditioning"]["unseen"] = json!(policy);
        rows(Study::Calibration, &family, trials.views() > 1)
    };
    let one = |(name, labels, policy): (String, usize, Adaptation)| -> Result<Cell> {
        let methods = narrowed(methods(policy)?, &config.methods)?;
        Ok(Cell {
            name: Some(name),
            labels,
            trials: Arc::clone(trials),
            fingerprint: fingerprint.to_owned(),
            methods,
        })
    };
    cells.into_iter().map(one).collect()
}

/// The first trials of each held-out domain, and the fold without them; nothing where no trial is
/// left to test.
fn labelled(fold: &Fold, trials: &Trials, count: usize) -> Option<(Vec<usize>, Fold)> {
    let domains = trials.domains().indices();
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut first = |&i: &usize| {
        let before = seen.entry(domains[i]).or_default();
        *before += 1;
        *before <= count
    };
    let (known, test): (Vec<usize>, Vec<usize>) = fold.test.iter().partition(|i| first(i));
    let fold = Fold {
        test,
        ..fold.clone()
    };
    (!fold.test.is_empty()).then_some((known, fold))
}

/// Channel subsets (those of the three montages that the dataset has) times domain counts (a
/// quarter, half, all).
fn scaling_cells(config: &StudyConfig, trials: &Trials) -> Result<Vec<Cell>> {
    use stiefel_eeg::montage::Montage;
    let names = trials.channel_names();
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
    let all = trials.domains().names().len();
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
            let domains = trials.domains().indices();
            let keep: Vec<usize> = (0..trials.len()).filter(|&i| domains[i] < count).collect();
            let trials = trials.keep(&keep)?.pick(at)?;
            let family = config.family(at.len(), count)?;
            let methods = rows(Study::Scaling, &family, trials.views() > 1)?;
            let rho = (at.len() * (at.len() + 1)) as f64 / (2 * count) as f64;
            cells.push(Cell {
                name: Some(format!("{} ch, D={count}, ρ={rho:.0}", at.len())),
                labels: 0,
                fingerprint: fingerprint(&trials),
                trials: Arc::new(trials),
                methods: narrowed(methods, &config.methods)?,
            });
        }
    }
    Ok(cells)
}

/// What the table calls a method of a cell.
pub(crate) fn in_cell(cell: Option<&str>, method: &str) -> String {
    cell.map_or_else(|| method.to_owned(), |cell| format!("{cell}: {method}"))
}

/// The name of a method without that of its cell.
pub(crate) fn own_name<'a>(cell: Option<&str>, method: &'a str) -> &'a str {
    let rest = cell.and_then(|cell| method.strip_prefix(cell)?.strip_prefix(": "));
    rest.unwrap_or(method)
}

fn add_units(config: &StudyConfig, cell: &Cell, units: &mut Vec<Unit>) -> Result<()> {
    let fingerprint = &cell.fingerprint;
    let mut by_seed = Vec::new();
    for &seed in &config.seeds {
        by_seed.push((seed, folds(config, &cell.trials, seed)?));
    }
    for method in &cell.methods {
        for (seed, folds) in &by_seed {
            for (index, named) in folds.iter().enumerate() {
                let Some((known, fold)) = labelled(&named.fold, &cell.trials, cell.labels) else {
                    continue;
                };
                let known = Fold {
                    train: known,
                    validation: Vec::new(),
                    test: fold.test.clone(),
                };
                let known = known.apart(&cell.trials)?.0.train;
                units.push(Unit {
                    ids: identity(fingerprint, &method.method, (&fold, &known), index, *seed)?,
                    name: in_cell(cell.name.as_deref(), &method.name),
                    cell: cell.name.clone(),
                    method: method.method.clone(),
                    trials: Arc::clone(&cell.trials),
                    dataset: fingerprint.clone(),
                    fold,
                    labelled: known,
                    index,
                    held_out: named.held_out.clone(),
                    seed: *seed,
                });
            }
        }
    }
    Ok(())
}

/// The folds of a study on some trials.
fn folds(config: &StudyConfig, trials: &Trials, seed: u64) -> Result<Vec<NamedFold>> {
    let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
    let unnamed = |folds: Vec<Fold>| {
        let one = |fold| NamedFold {
            fold,
            held_out: None,
        };
        folds.into_iter().map(one).collect()
    };
    Ok(match config.study {
        Study::Loso | Study::Online | Study::Calibration => {
            let subjects = trials.subjects();
            let folds = loso_folds(labels, domains, &trials.subject_of_domain(), seed)?;
            let one = |fold: Fold| -> Result<NamedFold> {
                Ok(NamedFold {
                    held_out: fold.test.first().map(|&i| subjects.label(i).to_owned()),
                    fold: fold.apart(trials)?.0,
                })
            };
            folds.into_iter().map(one).collect::<Result<_>>()?
        }
        Study::Session => {
            let sessions = trials.sessions().ok_or_else(no_sessions)?;
            let fold = session_folds(labels, domains, sessions.indices(), seed)?;
            unnamed(vec![fold.apart(trials)?.0])
        }
        _ => unnamed(config.split.folds(trials, seed)?),
    })
}

fn no_sessions() -> StudyError {
    StudyError::setting(
        "the dataset has no sessions",
        "name domains SUBJECT-SESSION or runs SESSION/RUN, or use a dataset with several days",
    )
}

/// Sessions of a subject as one domain.
fn by_subject(trials: &Trials) -> Result<Trials> {
    let sessions = trials.sessions().ok_or_else(no_sessions)?;
    let merged = trials.clone().with_domains(trials.subjects())?;
    Ok(merged.with_sessions(sessions)?)
}

/// How many trials of a fold share samples with held-out ones, in words.
fn left_out(units: &[Unit]) -> String {
    let of = |unit: &Unit| {
        let (fold, labelled) = (&unit.fold, unit.labelled.len());
        let used = fold.train.len() + fold.validation.len() + fold.test.len() + labelled;
        unit.trials.len().saturating_sub(used)
    };
    match units.iter().map(of).max() {
        None | Some(0) => String::new(),
        Some(most) => format!(
            "; windows overlap: up to {most} trials of a fold share samples with held-out ones \
             and are left out of training and validation"
        ),
    }
}

/// How trials are split, in words.
fn protocol(config: &StudyConfig, trials: &Trials) -> String {
    let block = match trials.runs() {
        Some(_) => "whole runs",
        None => "contiguous fifths of each domain (the dataset names no runs)",
    };
    let within = match config.split {
        SplitUnit::Trial => "five folds; in every (domain, class) cell 15 % of the trials, drawn \
                             at random, are for testing, another 15 % for validation, and the \
                             rest for training; the five test sets are disjoint"
            .to_owned(),
        SplitUnit::Block => {
            format!("one fold per block: {block} are held out; 15 % of the rest are for validation")
        }
    };
    match config.study {
        Study::Loso => format!(
            "one subject held out per fold with all sessions; 15 % of each training cell are for \
             validation; the held-out subject is whitened by {}",
            config.adapt
        ),
        Study::Online => "one subject held out per fold; its trials are decided one by one in \
                          recording order, whitened by the running mean of the trials seen so far \
                          (causal, κ = 10)"
            .into(),
        Study::Calibration => "one subject held out per fold; of its trials, in recording order, \
                               none or the first 2, 4, 8 or 16 are labelled and the others are \
                               tested; it is recentred by the mean of all its trials or, where it \
                               says causal, of the trials so far (κ = 10)"
            .into(),
        Study::Session => "trained on each subject's first session (15 % of it for validation), \
                           tested on the later ones"
            .into(),
        Study::Null => format!(
            "{within}; labels are replaced by the run that a trial came from, balanced over the \
             classes"
        ),
        Study::Main | Study::Ablation | Study::Scaling => within,
    }
}
