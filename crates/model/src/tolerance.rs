//! Thresholds of models, each with its reason.

/// ReEig threshold: eigenvalues are clamped from below to this (SPDNet, Huang & Van Gool 2017).
pub const REEIG_EPSILON: f64 = 1e-4;

/// Routing weights of a sample must sum to one within this: softmax in f32 over some hundred
/// experts is well inside.
pub const SIMPLEX_SUM: f64 = 1e-4;

/// Routing weights whose standard deviation over samples (all experts together) is below this are
/// constant: it is the rounding of a softmax in f32, and a ratio of variances of rounding means
/// nothing.
pub const CONSTANT_ROUTING: f64 = 1e-7;

/// CSP filters: what of a filter must be new, as a share of its length, for it to widen the basis.
/// Filters that repeat each other agree to the rounding of their generalised eigenproblem, some
/// 1e-10.
pub const NEW_DIRECTION: f64 = 1e-6;

/// Newton's method close to a minimum: a step that leaves more than this share of the gradient does
/// not converge any more.
pub const NO_GAIN: f64 = 0.5;

/// Newton steps before giving up; 5 to 10 are usual.
pub const NEWTON_STEPS: usize = 100;

/// Logistic regression: conjugate-gradient iterations per step at most; what they found by then is
/// still a direction downhill.
pub const LOGISTIC_ITERATIONS: usize = 1000;

/// Logistic regression: a fit ends at this share of the gradient at zero, or earlier only where
/// rounding leaves no further step and [`LOGISTIC_ENOUGH`] is met.
pub const LOGISTIC_GRADIENT: f64 = 1e-12;

/// Logistic regression: the largest share of the gradient at zero that counts as a minimum.
pub const LOGISTIC_ENOUGH: f64 = 1e-10;

/// Link of scores to probabilities: the smallest and the largest slope. Below the first every class
/// is equally probable to a thousandth, and decisions still follow the scores; beyond the second a
/// score of 0.1 is certain to 4e-5.
pub const LINK_SLOPES: (f64, f64) = (1e-3, 1e2);

/// Link of scores to probabilities: a step below this share of the slope ends the search, which
/// gains a digit or more a step.
pub const LINK_STEP: f64 = 1e-12;

/// Scores and their differences closer than this share are equal: they are the same fractions
/// summed in another order.
pub const EQUAL_SCORES: f64 = 1e-12;

/// Routing entropy `H̄` below which routing counts as sharp (the paper's "Routing Diagnostics").
pub const SHARP_ENTROPY: f64 = 0.70;

/// Domain alignment `r_d` above which routing counts as structured by domain (the paper's "Routing
/// Diagnostics").
pub const STRUCTURED_ALIGNMENT: f64 = 0.10;

/// Verdict on routing: a difference of balanced accuracy up to this is none. It is the paper's
/// threshold of `Δ_K1`; one threshold for the gap and for the controls keeps the verdict from
/// contradicting itself.
pub const ROUTING_GAIN: f64 = 0.01;

/// Verdict on routing: percent of the sets of test trials (folds) whose `Δ_K1` must exceed
/// [`ROUTING_GAIN`]. The paper asks for 3 of 5.
pub const ROUTING_FOLDS_PERCENT: usize = 60;

/// Verdict on routing: the fewest trials that can tell two decoders apart. Where five trials
/// differ, all in favour of one decoder, the sign test has p = 2/2⁵ = .06; six have p = 2/2⁶ = .03.
/// Fewer can never be significant, whatever the other trials are.
pub const TELLING_TRIALS: usize = 6;

/// The quantile of the training trials' distances to their own domain's mean that is the baseline
/// of what is familiar.
pub const FAMILIAR_QUANTILE: f64 = 0.99;

/// A window is unfamiliar beyond this many times the distance at [`FAMILIAR_QUANTILE`]. On
/// EEGMMIDB, 64 channels, trained on two runs of a person and tried on the third: 24 of the 26
/// people of 1–26 have no window beyond it (the two others change between runs: 3.3 % of all
/// windows), 26 of the 27 of 27–53 (0.5 %); 78 and 73 % of the windows of somebody else are beyond
/// it, and 83 and 91 % of those with ten times the power at eight electrodes.
pub const UNFAMILIAR: f64 = 1.5;

/// Windows of a new domain that must be known before the distance to their mean says something;
/// fewer leave out directions.
pub const FAMILIAR_WINDOWS: usize = 10;

/// Unlabelled windows after which a running mean changes no more. Each further one would move it by
/// less than a five-hundredth, and what a session keeps must not grow for ever.
pub const ADAPTATION_WINDOWS: usize = 500;
