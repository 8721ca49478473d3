//! What the methods of the tables are, in a line each.

use crate::config::Study;

/// What a method of a study is, in a line, by its name in the table.
///
/// ```
/// use stiefel_study::{Study, about};
///
/// assert_eq!(about(Study::Ablation, "b2").unwrap(), "ref with the entropy loss");
/// assert_eq!(about(Study::Main, "my own"), None);
/// ```
pub fn about(study: Study, name: &str) -> Option<String> {
    let told = match (study, name) {
        (Study::Ablation, "dsp") => "b12 with queries from the frozen encoder of the domains",
        (Study::Scaling, "dsp") => "routed, queries from the frozen encoder of the domains",
        _ => ABOUT.iter().find(|(n, _)| *n == name)?.1,
    };
    Some(told.to_owned())
}

/// Names and what they stand for.
const ABOUT: [(&str, &str); 42] = [
    (
        "recommended",
        "preset: filters of every view, a head partly everybody's, partly each person's own",
    ),
    (
        "recommended-1",
        "preset on one view: one discriminative filter, a head partly everybody's, partly each person's own",
    ),
    (
        "recommended-1-train-only",
        "recommended-1 without the validation trials in its last fit",
    ),
    (
        "pooled-head",
        "recommended-1 with the same head for everybody",
    ),
    ("baseline", "SPDNet: one filter for everybody"),
    (
        "spdnet+bn",
        "SPDNet with batch normalisation of each domain",
    ),
    (
        "naive",
        "routing around the first expert, without encoder and alignment",
    ),
    ("dasp", "the paper's routed network"),
    (
        "spdnet-views",
        "SPDNet on all views: a filter of each, one head",
    ),
    (
        "dasp-views",
        "dasp on all views: a pool of experts of each, one routing of the trial, one head",
    ),
    ("dasp-per-view", "dasp-views with a routing of each view"),
    ("dasp+bn", "dasp with batch normalisation of each domain"),
    ("polar", "dasp, experts with a scale of their own"),
    (
        "barrier",
        "dasp, experts of any scale, with a loss that keeps their rank",
    ),
    ("top-2", "dasp with the two strongest experts of each trial"),
    (
        "csp",
        "dasp with each person's common spatial patterns as targets",
    ),
    ("routed-head", "dasp, whose head is routed too"),
    ("near-anchor", "dasp, experts that start near the anchor"),
    ("near-anchor+head", "near-anchor, whose head is routed too"),
    (
        "ts+lr",
        "peer: tangent space and logistic regression for everybody",
    ),
    (
        "ts+lr-per-domain",
        "peer: tangent space and logistic regression, one for each person",
    ),
    (
        "mdm",
        "peer: nearest class mean on the covariances as they are",
    ),
    (
        "recentred-ts+lr",
        "peer: everybody recentred, then tangent space and logistic regression",
    ),
    (
        "recentred-mdm",
        "peer: everybody recentred, then the nearest class mean",
    ),
    ("fb-ts+lr", "peer on all views: ts+lr"),
    ("fb-ts+lr-per-domain", "peer on all views: ts+lr-per-domain"),
    ("fb-recentred-ts+lr", "peer on all views: recentred-ts+lr"),
    (
        "ref",
        "naive routing: anchored at the first expert, coupled keys, no auxiliary loss",
    ),
    ("b1", "ref with the balance loss"),
    ("b2", "ref with the entropy loss"),
    ("b4", "ref with the alignment loss"),
    ("b12", "ref with an anchor of its own"),
    (
        "dasp-full",
        "dsp with the alignment loss and decoupled keys",
    ),
    ("full", "dasp; a new person has the initial embedding"),
    ("input-only", "dasp without embeddings of people"),
    ("zero", "dasp; a new person has no embedding"),
    (
        "nearest",
        "dasp; a new person has the embedding of the nearest one in the tangent space",
    ),
    (
        "riemannian-nearest",
        "dasp; a new person has the embedding of the nearest one by Riemannian distance",
    ),
    (
        "transductive",
        "dasp; the embedding of a new person is fitted to their unlabelled trials",
    ),
    ("plain", "routed, neither encoder nor alignment"),
    ("align", "routed with the alignment loss and decoupled keys"),
    (
        "dsp+align",
        "routed with encoder, alignment loss and decoupled keys",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn every_method_that_a_study_can_run_is_explained() {
        let names = [Family::names(), Family::models()].concat();
        for name in names {
            assert!(about(Study::Main, name).is_some(), "{name}");
        }
        for peer in crate::peers::Peer::ALL {
            assert!(about(Study::Main, peer.name()).is_some(), "{peer}");
        }
        assert_ne!(about(Study::Ablation, "dsp"), about(Study::Scaling, "dsp"));
        let mut all: Vec<&str> = ABOUT.iter().map(|a| a.0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), ABOUT.len(), "each name once");
    }
}
