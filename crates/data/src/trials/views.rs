//! Several covariances of one trial: its views.

use super::Trials;
use crate::{DataError, Preparation, Result};
use std::sync::Arc;
use stiefel_linalg::{MatBatch, MatView};

const OP: &str = "selection of views";

impl Trials {
    /// Adds a view: other covariances of the same channels of the same trials.
    pub fn with_view(mut self, covariances: MatBatch<f64>) -> Result<Self> {
        super::check_covariances(&covariances)?;
        super::definite::check(&covariances, "view")?;
        super::check_count("covariances of a view", self.len(), covariances.count())?;
        super::check_count(
            "channels of a view",
            self.channels_count(),
            covariances.rows(),
        )?;
        self.views.push(Arc::new(covariances));
        Ok(self)
    }

    /// How many views a trial has, at least one.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// The covariances of a view, `count × n × n`; the broad one is 0.
    ///
    /// # Panics
    /// Where there is no such view.
    pub fn view(&self, view: usize) -> &MatBatch<f64> {
        &self.views[view]
    }

    /// The covariances of every view, the broad one first.
    pub fn matrices(&self) -> Vec<MatView<'_, f64>> {
        self.views.iter().map(|view| view.view()).collect()
    }

    /// These views of the same trials, in this order. A trial stays who it is.
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let one = || Factor::from_labels(["a", "a"]);
    /// let trials = Trials::new(MatBatch::identity(2, 3), one(), one())?
    ///     .with_view(MatBatch::identity(2, 3))?;
    /// let second = trials.pick_views(&[1])?;
    /// assert_eq!((second.views(), second.view(0)), (1, trials.view(1)));
    /// assert!(trials.pick_views(&[2]).is_err());
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn pick_views(&self, at: &[usize]) -> Result<Self> {
        let count = self.views();
        if let Some(view) = at.iter().find(|&&view| view >= count) {
            return Err(DataError::Impossible {
                op: OP,
                why: format!("there is no view {view}, there are {count}"),
                remedy: "views are counted from 0",
            });
        }
        if at.is_empty() {
            return Err(DataError::Impossible {
                op: OP,
                why: "no view is left".into(),
                remedy: "keep at least one",
            });
        }
        if at.len() == count && at.iter().enumerate().all(|(i, &v)| i == v) {
            return Ok(self.clone());
        }
        let preparation = match &*self.preparation {
            Preparation::Known(made) if made.views().len() == count => {
                let mut made = made.clone();
                made.recipe.views = at.iter().map(|&v| made.views()[v]).collect();
                Arc::new(Preparation::Known(made))
            }
            _ => Arc::clone(&self.preparation),
        };
        // Trials without recordings are known by their broad view.
        let broad = match (&self.broad, at[0]) {
            (None, 0) => None,
            (None, _) => Some(Arc::clone(&self.views[0])),
            (Some(broad), _) => Some(Arc::clone(broad)),
        };
        Ok(Self {
            views: at.iter().map(|&v| Arc::clone(&self.views[v])).collect(),
            broad,
            preparation,
            ..self.clone()
        })
    }
}
