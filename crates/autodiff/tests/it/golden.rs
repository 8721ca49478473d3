//! Whole models as forward expressions, against an independent implementation: outputs, losses and every gradient.

use stiefel_autodiff::{Axis, Gradients, Result, Tape, Var};
use stiefel_testkit::{Golden, assert_close};

const TOLERANCE: f64 = 1e-9;

/// ReEig threshold of the golden files.
const EPSILON: f64 = 1e-4;

/// `upper(log ReEig(Wᵀ X W))·w_cᵀ + b_c`, one row per sample.
fn tail<'t>(
    w: Var<'t, f64>,
    x: Var<'t, f64>,
    wc: Var<'t, f64>,
    bc: Var<'t, f64>,
) -> Result<(Var<'t, f64>, Var<'t, f64>)> {
    let y = w.congruence(x)?;
    let z = y.reeig_log(EPSILON)?.upper()?;
    Ok((y, z.matmul_nt(wc)?.add(bc)?))
}

type Retraction = for<'t> fn(Var<'t, f64>, Var<'t, f64>) -> Result<Var<'t, f64>>;

/// `qf(W + Δ)` from the operations it is made of: `AᵀA = LLᵀ`, `Q = A L⁻ᵀ`.
fn composed<'t>(w: Var<'t, f64>, delta: Var<'t, f64>) -> Result<Var<'t, f64>> {
    let a = w.add(delta)?;
    let l = a.matmul_tn(a)?.cholesky()?;
    l.solve_lower(a.transpose()?)?.transpose()
}

fn compare(golden: &Golden, gradients: &Gradients<f64>, parameters: &[(&str, Var<'_, f64>)]) {
    for &(name, var) in parameters {
        let key = format!("g_{name}");
        let gradient = gradients.get(var).expect("reached");
        assert_close(&key, gradient.data(), &golden.vec(&key), TOLERANCE);
    }
}

fn value(golden: &Golden, key: &str, var: Var<'_, f64>) {
    assert_close(key, var.value().data(), &golden.vec(key), TOLERANCE);
}

fn baseline(name: &str) -> Result<()> {
    let golden = Golden::open(name);
    let tape = Tape::new();
    let parameter = |key: &str| tape.parameter(&golden.batch(&format!("p_{key}")));
    let (w, wc, bc) = (parameter("W"), parameter("wc"), parameter("bc"));
    let x = tape.constant(&golden.batch("X"));
    let (_, logits) = tail(w, x, wc, bc)?;
    let loss = logits.cross_entropy(&golden.indices("y"), None)?;
    value(&golden, "out_logits", logits);
    value(&golden, "loss_total", loss);
    compare(
        &golden,
        &tape.backward(loss)?,
        &[("W", w), ("wc", wc), ("bc", bc)],
    );
    Ok(())
}

/// The full layer: query, routing, tangent mixing, retraction, BiMap, tail and the alignment loss.
fn dasp(name: &str, qf: Retraction) -> Result<()> {
    let golden = Golden::open(name);
    let tape = Tape::new();
    let names = [
        "w1", "b1", "w2", "b2", "emb", "E", "W", "W_base", "wc", "bc",
    ];
    let p = names.map(|key| tape.parameter(&golden.batch(&format!("p_{key}"))));
    let [w1, b1, w2, b2, emb, keys, w, base, wc, bc] = p;
    let constant = |key: &str| tape.constant(&golden.batch::<f64>(key));
    let m = keys.shape().2 as f64;

    let domain = emb.gather_rows(&golden.indices("d"))?;
    let hidden = constant("xt")
        .concat(&[domain])?
        .matmul_nt(w1)?
        .add(b1)?
        .gelu()?;
    let q = hidden.matmul_nt(w2)?.add(b2)?;
    let alpha = q
        .matmul_nt(keys.detach())?
        .scale(1.0 / m.sqrt())?
        .softmax()?;
    let delta = base.project_tangent(w)?;
    let filters = qf(base, alpha.mix(delta)?)?;
    let (y, logits) = tail(filters, constant("X"), wc, bc)?;
    let ce = logits.cross_entropy(&golden.indices("y"), None)?;
    let winners = keys.gather_rows(&alpha.argmax())?;
    let align = q.detach().cosine(winners)?.mean(Axis::All)?;
    let align = align.neg()?.add_scalar(1.0)?.scale(0.05)?;
    let loss = ce.add(align)?;

    for (key, var) in [
        ("out_q", q),
        ("out_alpha", alpha),
        ("out_W", filters),
        ("out_Y", y),
        ("out_logits", logits),
        ("loss_ce", ce),
        ("loss_align", align),
        ("loss_total", loss),
    ] {
        value(&golden, key, var);
    }
    let parameters: Vec<_> = names.into_iter().zip(p).collect();
    compare(&golden, &tape.backward(loss)?, &parameters);
    Ok(())
}

#[test]
fn baseline_small() {
    baseline("baseline_small").unwrap();
}

#[test]
fn baseline_medium() {
    baseline("baseline_medium").unwrap();
}

#[test]
fn small_dasp_full() {
    dasp("small_dasp_full", composed).unwrap();
    dasp("small_dasp_full", |w, delta| w.retract_qr(delta)).unwrap();
}

#[test]
fn medium_dasp_full() {
    dasp("medium_dasp_full", composed).unwrap();
    dasp("medium_dasp_full", |w, delta| w.retract_qr(delta)).unwrap();
}
