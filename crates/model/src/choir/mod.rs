//! CHOIR, *Common Head, Own Increments, Riemannian*: one model for people it knows, people it has
//! never seen, and people it has just met.
//!
//! A trial has `V ≥ 1` views `X_v` (`n × n`; [`Trials`](crate::Trials)), each shrunk, `X ← (1−s)X +
//! s·(tr X/n)·I`. With `β(A) = A·tr A/‖A‖_F²`:
//!
//! ```text
//! person    M_v = mean of X_v over their trials
//! anchor    W (n × k): top eigenvectors of mean_p S_p²,  S_p = class difference of the means of β(M_0^{-1/2} X_0 M_0^{-1/2})
//! frame     U_v = V_v (V_vᵀ M_v V_v)^{-1/2},  V_v = M_0^{-1/2} W[:, :k_v]                                        n × k_v
//! features  z_v = upper(log β(U_vᵀ X_v U_v)) − the person's mean, times √(ω_v/(Σω·mean‖z_v‖²)); z = [z_0 … z_{V−1}]        length p
//! shared    w_0 = (FᵀF + I/v_0)⁻¹ Fᵀ t,   t = 2·(1[y = c] − 1/C), F the rows z of all people                       L × p
//! own       δ = v_δ F_lᵀ (I + v_δ F_l F_lᵀ)⁻¹ (t_l − F_l w_0),   F_l the labelled rows of one person                     L × p
//! decision  s = (w_0 + δ)·z,   P(class) = softmax(a·s),  a slope `a` for the number of labelled trials behind δ
//! ```
//!
//! `w_0` is everybody's, `δ` is what the labelled trials of one person add: for a person of the
//! training set all of them, for a new one those of [`Choir::calibrate`], from two on, and none at
//! all. Two classes have one score (that of class 1), more have one each. Classes are
//! weighted alike within each person. Everything is solved in closed form, without a seed.
//!
//! **A new person** has no mean of their own yet. With `M̄_v` the training people's mean of `M_v/tr
//! M_v`, `m` the mean of the `t` trials known so far and `κ` trials' worth of trust in the others
//! ([`Adaptation`](crate::precondition::Adaptation)):
//!
//! ```text
//! M_v = (κ·tr(m_v)·M̄_v + Σ_{i≤t} X_i)/(κ + t),    centre = Σ_{i≤t} z_i/(1 + t)
//! ```
//!
//! Own-mean takes all trials at hand, causal those up to the one decided, pooled none (`M̄_v`, and
//! no centre). Features of trials that were seen before are computed again whenever the frame
//! moves.
//!
//! **Probabilities.** The slopes come from training people held out in turn: with `A_pp` a person's
//! block of the hat matrix of `w_0`, `t − (I − A_pp)⁻¹ r_p` are the scores of weights fitted
//! without that person, exactly; to them `δ` of a part of the person's trials is added and the
//! others are scored, or each trial in turn. The anchor and the scales are not fitted again for it.
//! A single person cannot be held out from others: their trials are then left out one by one, with
//! `w_0 = 0`, and that slope is taken for everybody.

mod calibrate;
mod config;
mod features;
mod fit;
mod kind;
mod link;
mod model;
mod new_person;
mod report;
mod ridge;
mod stored;
mod workspace;

pub use config::ChoirConfig;
pub use kind::ChoirKind;
pub use link::Link;
pub use model::{Choir, Person};
pub use new_person::NewPerson;

const OP: &str = "CHOIR";
