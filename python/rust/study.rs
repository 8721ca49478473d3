//! Studies for Python: `stiefel._core.StudyData` (what is shipped to other machines) and
//! `stiefel._core.StudyPlan` (units of work).

use crate::array::give;
use crate::error::{study_error, value_error};
use crate::labelled::Labelled;
use crate::threads::pool;
use crate::watch::watched;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use stiefel::data::{Factor, Origin, Trials, fingerprint};
use stiefel::eeg::load;
use stiefel::eeg::select::Selection;
use stiefel::model::Measure;
use stiefel::study::{
    CODE, Cancel, Plan, SplitUnit, Store, Study, StudyConfig, StudyError, StudyObserver,
    SubjectScore, UnitRecord, conclude, execute, missing, run, subject_scores, table,
};

/// A dataset, chosen.
#[pyclass(module = "stiefel._core", name = "StudyData", frozen)]
pub(crate) struct PyStudyData {
    trials: Trials,
    fingerprint: String,
}

impl PyStudyData {
    fn new(trials: Trials) -> Self {
        Self {
            fingerprint: fingerprint(&trials),
            trials,
        }
    }
}

/// Loads a source by name or path, and takes the part that is wanted.
#[pyfunction]
fn load_study_data(py: Python<'_>, config: &str) -> PyResult<PyStudyData> {
    let config = parsed(config)?;
    let trials = py.detach(|| load(&config.data, &config.choice));
    Ok(PyStudyData::new(trials.map_err(crate::error::eeg_error)?))
}

/// Names and indices of subjects, sessions and runs, where known.
type Factors = [Option<(Vec<String>, Vec<usize>)>; 3];

/// The folds of a study on trials: places that train, validate and test.
#[pyfunction]
#[allow(
    clippy::type_complexity,
    reason = "a list of tuples for Python to unpack"
)]
fn folds(
    data: &PyStudyData,
    split: &str,
    seed: u64,
) -> PyResult<Vec<(Vec<usize>, Vec<usize>, Vec<usize>)>> {
    let split: SplitUnit = split.parse().map_err(study_error)?;
    let folds = split.folds(&data.trials, seed).map_err(study_error)?;
    Ok(folds
        .into_iter()
        .map(|f| (f.train, f.validation, f.test))
        .collect())
}

/// A dataset from what Python has, or from what [`PyStudyData::__reduce__`] gave.
#[pyfunction]
fn study_data(
    trials: Labelled<'_>,
    factors: Factors,
    origin: &str,
    choice: Option<&str>,
) -> PyResult<PyStudyData> {
    let mut trials = trials.trials()?;
    let factor = |(names, indices)| Factor::new("name", names, indices).map_err(value_error);
    let [subjects, sessions, runs] = factors;
    if let Some(subjects) = subjects {
        trials = trials
            .with_subjects(factor(subjects)?)
            .map_err(value_error)?;
    }
    if let Some(sessions) = sessions {
        trials = trials
            .with_sessions(factor(sessions)?)
            .map_err(value_error)?;
    }
    if let Some(runs) = runs {
        trials = trials.with_runs(factor(runs)?).map_err(value_error)?;
    }
    let origin: Origin = serde_json::from_str(origin).map_err(value_error)?;
    trials = trials.with_origin(origin);
    if let Some(choice) = choice {
        let choice: Selection = serde_json::from_str(choice).map_err(value_error)?;
        trials = choice.of(&trials).map_err(crate::error::eeg_error)?;
    }
    Ok(PyStudyData::new(trials))
}

#[pymethods]
impl PyStudyData {
    /// Arrays and names, which travel without being copied into text.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let trials = &self.trials;
        let factor = |f: &Factor| (f.names().to_vec(), f.indices().to_vec());
        let (class_names, classes) = factor(trials.classes());
        let (domain_names, domains) = factor(trials.domains());
        let state = PyDict::new(py);
        state.set_item("x", give(py, crate::array::together(trials)?)?)?;
        state.set_item("views", trials.views())?;
        state.set_item("classes", classes)?;
        state.set_item("class_names", class_names)?;
        state.set_item("domains", domains)?;
        state.set_item("domain_names", domain_names)?;
        state.set_item("channels", trials.channels().map(<[String]>::to_vec))?;
        state.set_item("weights", trials.weights().map(<[f64]>::to_vec))?;
        let preparation = serde_json::to_string(trials.preparation()).map_err(value_error)?;
        state.set_item("preparation", preparation)?;
        let origin = serde_json::to_string(trials.origin()).map_err(value_error)?;
        let rebuild = py.import("stiefel._dask")?.getattr("received")?;
        let factors = (
            factor(&trials.subjects()),
            trials.sessions().as_ref().map(factor),
            trials.runs().map(factor),
        );
        let arguments = (state, factors, origin, None::<String>).into_pyobject(py)?;
        Ok((rebuild, arguments.into_any()))
    }

    /// SHA-256 of everything in it.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// A study ready to run.
#[pyclass(module = "stiefel._core", name = "StudyPlan", frozen)]
pub(crate) struct PyStudyPlan {
    plan: Plan,
}

fn parsed(config: &str) -> PyResult<StudyConfig> {
    serde_json::from_str(config).map_err(value_error)
}

/// The configuration of a study with settings given by name, as JSON.
#[pyfunction]
fn study_configuration(study: &str, data: &str, settings: &str) -> PyResult<String> {
    let study: Study = study.parse().map_err(study_error)?;
    let settings: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(settings).map_err(value_error)?;
    let config = StudyConfig::with_settings(study, data, settings).map_err(study_error)?;
    serde_json::to_string(&config).map_err(value_error)
}

/// What a study tells while it runs.
enum News {
    Begin(usize, usize),
    Finished(String, usize, u64, Option<f64>),
}

/// Passes what happens on to the thread that may talk to Python.
struct Reporter(Mutex<Sender<News>>);

impl Reporter {
    fn send(&self, news: News) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens after an error of the callback: the study is about to stop.
        let _ = sender.send(news);
    }
}

impl StudyObserver for Reporter {
    fn begin(&self, units: usize, kept: usize) {
        self.send(News::Begin(units, kept));
    }

    fn finished(&self, record: &UnitRecord) {
        let score = record.outcome.scores.balanced_accuracy.value();
        let method = record.method.clone();
        self.send(News::Finished(method, record.fold, record.seed, score));
    }
}

#[pymethods]
impl PyStudyPlan {
    #[new]
    fn new(py: Python<'_>, config: &str, data: &PyStudyData) -> PyResult<Self> {
        let config = parsed(config)?;
        let plan = py.detach(|| Plan::new(config, &data.trials));
        Ok(Self {
            plan: plan.map_err(study_error)?,
        })
    }

    /// Identity, method, fold and seed of each unit.
    #[getter]
    fn units(&self) -> Vec<(&str, &str, usize, u64)> {
        let units = self.plan.units.iter();
        units
            .map(|u| (u.ids.unit.as_str(), u.name.as_str(), u.index, u.seed))
            .collect()
    }

    /// Where results go unless told otherwise.
    #[getter]
    fn default_folder(&self) -> PathBuf {
        self.plan.default_folder()
    }

    /// Takes a folder for its results; one that holds another study is refused.
    fn claim(&self, py: Python<'_>, folder: PathBuf, overwrite: bool) -> PyResult<()> {
        let claimed = py.detach(|| Store::claim(folder, &self.plan, &Value::Null, overwrite));
        claimed.map(drop).map_err(study_error)
    }

    /// Places of the units without a record, together where they share their training.
    fn missing(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<Vec<usize>>> {
        py.detach(|| Ok(missing(&self.plan, &Store::open(folder)?)))
            .map_err(study_error)
    }

    /// Computes units that share their training, on one thread; their records as JSON, and the
    /// seconds they took.
    fn execute(&self, py: Python<'_>, places: Vec<usize>) -> PyResult<Vec<(String, Option<f64>)>> {
        let unit = |&i: &usize| {
            let found = self.plan.units.get(i).cloned();
            found.ok_or_else(|| value_error(format!("there is no unit {i}")))
        };
        let units: Vec<_> = places.iter().map(unit).collect::<PyResult<_>>()?;
        let pool = pool(1)?;
        let records = py
            .detach(|| pool.install(|| execute(&units, &Cancel::default())))
            .map_err(study_error)?;
        let told = |r: UnitRecord| Ok((serde_json::to_string(&r).map_err(value_error)?, r.seconds));
        records.into_iter().map(told).collect()
    }

    /// Keeps a record that was computed elsewhere, and gives its score.
    fn keep(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        record: &str,
        seconds: Option<f64>,
    ) -> PyResult<Option<f64>> {
        let mut record: UnitRecord = serde_json::from_str(record).map_err(value_error)?;
        record.seconds = seconds;
        if !self.plan.units.iter().any(|u| u.ids.unit == record.id) {
            return Err(value_error(format!(
                "{} is no unit of this study; was it computed with other data or another version \
                 of stiefel?",
                record.id
            )));
        }
        py.detach(|| Store::open(folder)?.keep(&record))
            .map_err(study_error)?;
        Ok(record.outcome.scores.balanced_accuracy.value())
    }

    /// Computes what is missing, writes summary and report; the table as text, and a dictionary per
    /// unit, subject and session.
    fn run<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        threads: usize,
        on_begin: Bound<'py, PyAny>,
        on_unit: Bound<'py, PyAny>,
    ) -> PyResult<(String, Vec<Bound<'py, PyDict>>)> {
        let cancel = Cancel::default();
        let work = |sender: Sender<News>| -> Result<_, StudyError> {
            let store = Store::open(folder)?;
            let observer = Reporter(Mutex::new(sender));
            let records = run(&self.plan, &store, threads, &cancel, &observer)?;
            let scores = subject_scores(&self.plan, &records)?;
            let summary = conclude(&self.plan, &store, records)?;
            Ok((table::text(&summary), scores))
        };
        let tell = |news| {
            match news {
                News::Begin(units, kept) => on_begin.call1((units, kept))?,
                News::Finished(method, fold, seed, score) => {
                    on_unit.call1((method, fold, seed, score))?
                }
            };
            Ok(())
        };
        let (text, scores) = watched(py, work, || cancel.cancel(), tell)?.map_err(study_error)?;
        let rows: PyResult<Vec<_>> = scores.iter().map(|s| self.row(py, s)).collect();
        Ok((text, rows?))
    }
}

impl PyStudyPlan {
    fn row<'py>(&self, py: Python<'py>, score: &SubjectScore) -> PyResult<Bound<'py, PyDict>> {
        let summary = &self.plan.summary;
        let figure = |m: &Measure| m.value().unwrap_or(f64::NAN);
        let row = PyDict::new(py);
        row.set_item("balanced_accuracy", figure(&score.scores.balanced_accuracy))?;
        row.set_item("accuracy", figure(&score.scores.confusion.accuracy()))?;
        row.set_item("roc_auc", figure(&score.scores.roc_auc))?;
        row.set_item("kappa", figure(&score.scores.kappa))?;
        row.set_item("time", score.seconds.unwrap_or(f64::NAN))?;
        row.set_item("samples", score.training)?;
        row.set_item("samples_test", score.test)?;
        row.set_item("n_classes", summary.classes.len())?;
        row.set_item("subject", &score.subject)?;
        row.set_item("session", &score.session)?;
        row.set_item("channels", score.channels)?;
        row.set_item("dataset", &summary.name)?;
        row.set_item("pipeline", &score.method)?;
        row.set_item("fold", score.fold)?;
        row.set_item("seed", score.seed)?;
        Ok(row)
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("study_code", CODE)?;
    module.add_class::<PyStudyData>()?;
    module.add_class::<PyStudyPlan>()?;
    module.add_function(wrap_pyfunction!(load_study_data, module)?)?;
    module.add_function(wrap_pyfunction!(study_data, module)?)?;
    module.add_function(wrap_pyfunction!(folds, module)?)?;
    module.add_function(wrap_pyfunction!(study_configuration, module)?)
}
