//! The frozen query encoder: `x̃ = x P`, `P` of size `p × r` with orthonormal columns, `p =
//! n(n+1)/2`.
//!
//! The columns of `P` are, for training tangent vectors `x_i` of domains `d` with `n_d` trials and
//! means `μ_d`:
//! 1. eigenvectors of the between-domain scatter `S_B = Σ_d n_d (μ_d − μ)(μ_d − μ)ᵀ`, largest
//!    first; its rank is at most D − 1;
//! 2. beyond that rank, the leading principal directions of the within-domain scatter `Σ_i (x_i −
//!    μ_{d_i})(x_i − μ_{d_i})ᵀ` in the orthogonal complement of the first ([`Fill::Within`]), or
//!    nothing ([`Fill::BetweenOnly`]).
//!
//! The entry of largest magnitude of each column is positive. Vectors are not centred when they are
//! encoded. Source: the paper, equation (DSP), and its "additional within-domain structure".
//!
//! Fitted on training tangent vectors only, then frozen.

mod rows;

use crate::{ModelError, Result};
use rows::{Rows, with_positive_peaks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_linalg::{MatBatch, MatRef, MatView, Op, Scalar, leading_directions, product};

const OP: &str = "DSP encoder";

/// What follows the between-domain directions where more columns are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Leading principal directions of the within-domain scatter.
    Within,
    /// Nothing: stop at the rank of the between-domain scatter.
    BetweenOnly,
}

/// How many columns, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DspConfig {
    /// Columns asked for; fewer where the data span fewer.
    #[schemars(range(min = 1))]
    pub rank: usize,
    /// What follows the between-domain directions.
    pub fill: Fill,
}

impl Default for DspConfig {
    fn default() -> Self {
        Self {
            rank: 40,
            fill: Fill::Within,
        }
    }
}

/// A fitted encoder; made by [`DspConfig::fit`].
#[derive(Debug, Clone, PartialEq)]
pub struct DspEncoder {
    /// `1 × p × r`.
    projection: MatBatch<f64>,
    between: usize,
}

impl DspConfig {
    /// Fits on training tangent vectors (`count × 1 × p`) and their domains.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::dsp::DspConfig;
    ///
    /// // Two domains that differ along the second axis, and vary along the first.
    /// let x = MatBatch::from_vec(
    ///     4,
    ///     1,
    ///     3,
    ///     vec![
    ///         1.0, 5.0, 0.0, //
    ///         -1.0, 5.0, 0.0, //
    ///         2.0, -5.0, 0.0, //
    ///         -2.0, -5.0, 0.0,
    ///     ],
    /// )?;
    /// let encoder = DspConfig::default().fit(x.view(), &[0, 0, 1, 1])?;
    /// assert_eq!((encoder.outputs(), encoder.between()), (2, 1));
    /// let code = encoder.encode(x.view())?;
    /// assert!(
    ///     (code.get(3, 0, 0) + 5.0).abs() < 1e-14 && (code.get(3, 0, 1) + 2.0).abs() < 1e-14
    /// );
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn fit(&self, training: MatView<'_, f64>, domains: &[usize]) -> Result<DspEncoder> {
        let rows = Rows::new(training, domains)?;
        if self.rank == 0 {
            return Err(ModelError::Parameter {
                op: OP,
                name: "the number of columns",
                value: 0.0,
                expected: "at least 1 (turn the encoder off instead)",
            });
        }
        let p = training.cols();
        let none = MatBatch::zeros(1, p, 0);
        let total = rows.total_square();
        let between = leading_directions(rows.between().view(), self.rank, total, none.view())?;
        let left = self.rank - between.cols();
        let mut columns = between.clone();
        if self.fill == Fill::Within && left > 0 {
            let rest = rows.within(between.view())?;
            let within = leading_directions(rest.view(), left, total, between.view())?;
            let all = between.cols() + within.cols();
            columns = MatBatch::from_fn(1, p, all, |_, r, c| match c.checked_sub(between.cols()) {
                None => between.get(0, r, c),
                Some(c) => within.get(0, r, c),
            });
        }
        if columns.cols() == 0 {
            return Err(self.nothing(&rows));
        }
        with_positive_peaks(&mut columns);
        Ok(DspEncoder {
            between: between.cols(),
            projection: columns,
        })
    }

    fn nothing(&self, rows: &Rows) -> ModelError {
        let (domains, trials) = (rows.domains(), rows.trials());
        match self.fill {
            Fill::BetweenOnly => ModelError::Impossible {
                op: OP,
                why: format!(
                    "the means of {domains} domain(s) do not differ, so there is no \
                     between-domain direction"
                ),
                remedy: "train on at least two domains, fill with within-domain directions, or \
                         turn the encoder off",
            },
            Fill::Within => ModelError::Impossible {
                op: OP,
                why: format!("{trials} tangent vector(s) of {domains} domain(s) do not differ"),
                remedy: "train on more trials, or turn the encoder off",
            },
        }
    }
}

impl DspEncoder {
    /// The length `p` of a tangent vector.
    pub fn inputs(&self) -> usize {
        self.projection.rows()
    }

    /// The number of columns `r`.
    pub fn outputs(&self) -> usize {
        self.projection.cols()
    }

    /// How many of the columns are between-domain directions; the others are within-domain.
    pub fn between(&self) -> usize {
        self.between
    }

    /// Returns the encoder of columns `1 × p × r` that were fitted elsewhere, of which the first
    /// `between` are between-domain directions.
    pub fn from_columns(projection: MatBatch<f64>, between: usize) -> Result<Self> {
        let op = "DSP encoder";
        projection.view().check_finite(op)?;
        let (count, inputs, outputs) = projection.shape();
        if count == 1 && (1..=inputs).contains(&outputs) && between <= outputs {
            return Ok(Self {
                projection,
                between,
            });
        }
        Err(ModelError::Impossible {
            op,
            why: format!("{inputs} inputs, {outputs} columns, {between} of them between domains"),
            remedy: "give at most as many columns as inputs, and count those between domains",
        })
    }

    /// `P`, as `1 × p × r`.
    pub fn projection(&self) -> &MatBatch<f64> {
        &self.projection
    }

    /// `x̃_i = x_i P` for vectors `count × 1 × p`; gives `count × 1 × r`.
    pub fn encode<T: Scalar>(&self, x: MatView<'_, T>) -> Result<MatBatch<T>> {
        let (count, rows, p) = x.shape();
        if (rows, p) != (1, self.inputs()) {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!(
                    "vectors of {rows} × {p} values, fitted on 1 × {}",
                    self.inputs()
                ),
                remedy: "pass the tangent vectors of the channels it was fitted on",
            });
        }
        // The vectors lie one after the other: one product for all of them.
        let all = MatRef::new(count, p, x.data()).view();
        let code = product(all, Op::N, self.projection.cast::<T>().view(), Op::N)?;
        Ok(MatBatch::from_vec(
            count,
            1,
            self.outputs(),
            code.into_vec(),
        )?)
    }
}
