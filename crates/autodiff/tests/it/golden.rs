//! Whole models as forward expressions, against an independent implementation: outputs, losses and
//! every gradient.

use stiefel_autodiff::{Axis, Result, Tape, Var};
use stiefel_linalg::MatBatch;
use stiefel_testkit::{Golden, assert_close};

const TOLERANCE: f64 = 1e-9;

/// ReEig threshold of the golden files.
const EPSILON: f64 = 1e-4;

type V<'t> = Var<'t, f64>;

/// A golden file, the tape, and the parameters taken from the file so far.
struct Case<'t> {
    golden: Golden,
    tape: &'t Tape<f64>,
    parameters: Vec<(&'static str, V<'t>)>,
}

impl<'t> Case<'t> {
    fn open(name: &str, tape: &'t Tape<f64>) -> Self {
        let (golden, parameters) = (Golden::open(name), Vec::new());
        Self {
            golden,
            tape,
            parameters,
        }
    }

    fn parameter(&mut self, name: &'static str) -> V<'t> {
        let batch: MatBatch<f64> = self.golden.batch(&format!("p_{name}"));
        let var = self.tape.parameter(&batch).named(name);
        self.parameters.push((name, var));
        var
    }

    fn constant(&self, name: &str) -> V<'t> {
        self.tape.constant(&self.golden.batch(name))
    }

    fn expect(&self, key: &str, var: V<'_>) {
        assert_close(key, var.value().data(), &self.golden.vec(key), TOLERANCE);
    }

    /// Every gradient in the file, none left out.
    fn expect_gradients(&self, loss: V<'_>) -> Result<()> {
        let gradients = self.tape.backward(loss)?;
        let in_file = self.golden.keys().filter(|k| k.starts_with("g_")).count();
        assert_eq!(self.parameters.len(), in_file);
        for &(name, var) in &self.parameters {
            let key = format!("g_{name}");
            let gradient = gradients.get(var).expect("reached by the loss");
            assert_close(&key, gradient.data(), &self.golden.vec(&key), TOLERANCE);
        }
        Ok(())
    }

    /// `upper(log ReEig(Wᵀ X W))·w_cᵀ + b_c`, one row per sample.
    fn logits(&mut self, w: V<'t>) -> Result<V<'t>> {
        let y = w.congruence(self.constant("X"))?;
        if self.golden.has("out_Y") {
            self.expect("out_Y", y);
        }
        let z = y.reeig_log(EPSILON)?.upper()?;
        let logits = z
            .matmul_nt(self.parameter("wc"))?
            .add(self.parameter("bc"))?;
        self.expect("out_logits", logits);
        Ok(logits)
    }
}

/// The SPDNet of one BiMap.
fn baseline(name: &str) {
    let run = || -> Result<()> {
        let tape = Tape::new();
        let mut case = Case::open(name, &tape);
        let w = case.parameter("W");
        let loss = case
            .logits(w)?
            .cross_entropy(&case.golden.indices("y"), None)?;
        case.expect("loss_total", loss);
        case.expect_gradients(loss)
    };
    run().unwrap();
}

/// The filters `W_i` from the routing weights and the experts, and a loss of their own.
type Experts = for<'t> fn(&mut Case<'t>, V<'t>, V<'t>) -> Result<(V<'t>, Option<V<'t>>)>;

/// Query, routing, filters, tail, cross-entropy and alignment: the whole layer.
fn dasp(name: &str, experts: Experts) {
    let run = || -> Result<()> {
        let tape = Tape::new();
        let mut case = Case::open(name, &tape);
        let domain = case
            .parameter("emb")
            .gather_rows(&case.golden.indices("d"))?;
        let input = case.constant("xt").concat(&[domain])?;
        let hidden = input
            .matmul_nt(case.parameter("w1"))?
            .add(case.parameter("b1"))?
            .gelu()?;
        let q = hidden
            .matmul_nt(case.parameter("w2"))?
            .add(case.parameter("b2"))?;
        case.expect("out_q", q);
        let keys = case.parameter("E");
        let m = keys.shape().2 as f64;
        let alpha = q
            .matmul_nt(keys.detach())?
            .scale(1.0 / m.sqrt())?
            .softmax()?;
        case.expect("out_alpha", alpha);
        let w = case.parameter("W");
        let (filters, own_loss) = experts(&mut case, alpha, w)?;
        case.expect("out_W", filters);
        let ce = case
            .logits(filters)?
            .cross_entropy(&case.golden.indices("y"), None)?;
        case.expect("loss_ce", ce);
        let winners = keys.gather_rows(&alpha.argmax())?;
        let cosine = q.detach().cosine(winners)?.mean(Axis::All)?;
        let align = cosine.neg()?.add_scalar(1.0)?.scale(0.05)?;
        case.expect("loss_align", align);
        let mut loss = ce.add(align)?;
        if let Some(own) = own_loss {
            loss = loss.add(own)?;
        }
        case.expect("loss_total", loss);
        case.expect_gradients(loss)
    };
    run().unwrap();
}

/// The tangent mixture `Σ_j α_ij P_base(W_j)` and the anchor it starts from.
fn tangent<'t>(case: &mut Case<'t>, alpha: V<'t>, w: V<'t>) -> Result<(V<'t>, V<'t>)> {
    let base = case.parameter("W_base");
    Ok((base, alpha.mix(base.project_tangent(w)?)?))
}

fn qr<'t>(case: &mut Case<'t>, alpha: V<'t>, w: V<'t>) -> Result<(V<'t>, Option<V<'t>>)> {
    let (base, delta) = tangent(case, alpha, w)?;
    Ok((base.retract_qr(delta)?, None))
}

fn polar<'t>(case: &mut Case<'t>, alpha: V<'t>, w: V<'t>) -> Result<(V<'t>, Option<V<'t>>)> {
    let (base, delta) = tangent(case, alpha, w)?;
    Ok((base.retract_polar(delta)?, None))
}

/// Full-rank experts `Q_j P_j^{1/2}`, the SPD parts mixed by the log-Euclidean mean.
fn full_rank<'t>(case: &mut Case<'t>, alpha: V<'t>, w: V<'t>) -> Result<(V<'t>, Option<V<'t>>)> {
    let (base, delta) = tangent(case, alpha, w)?;
    let l = case.parameter("Lraw").lower_exp_diagonal()?;
    let logs = l.matmul_nt(l)?.symmetrise()?.spd_log()?;
    let root = alpha.mix(logs)?.scale(0.5)?.spd_exp()?;
    Ok((base.retract_qr(delta)?.matmul(root)?, None))
}

/// Unconstrained experts with the barrier `−λ Σ_j log det(W_jᵀW_j)`.
fn barrier<'t>(_: &mut Case<'t>, alpha: V<'t>, w: V<'t>) -> Result<(V<'t>, Option<V<'t>>)> {
    let loss = w.matmul_tn(w)?.log_det()?.sum(Axis::All)?.scale(-0.001)?;
    Ok((alpha.mix(w)?, Some(loss)))
}

#[test]
fn baselines() {
    baseline("baseline_small");
    baseline("baseline_medium");
}

#[test]
fn dasp_by_qr() {
    for name in ["small_dasp_full", "medium_dasp_full", "weibo_dasp_full"] {
        dasp(name, qr);
    }
}

#[test]
fn dasp_by_polar_retraction() {
    dasp("small_polar_retr", polar);
}

#[test]
fn full_rank_experts() {
    dasp("small_polar", full_rank);
    dasp("medium_polar", full_rank);
}

#[test]
fn barrier_experts() {
    dasp("small_barrier", barrier);
}
