//! What the methods of the tables are, in a line each.

use crate::config::Study;
use stiefel_model::registry;

/// What a method of a study is, in a line, by its name in the table.
///
/// ```
/// use stiefel_study::{Study, about};
///
/// assert_eq!(
///     about(Study::Ablation, "b2").unwrap(),
///     "ref with the entropy loss"
/// );
/// assert_eq!(about(Study::Main, "my own"), None);
/// ```
pub fn about(study: Study, name: &str) -> Option<String> {
    let told = match (study, name) {
        (Study::Ablation, "dsp") => "b12 with queries from the frozen encoder of the domains",
        (Study::Scaling, "dsp") => "routed, queries from the frozen encoder of the domains",
        _ => match ABOUT.iter().find(|(n, _)| *n == name) {
            Some((_, about)) => about,
            None => registry::about(name)?,
        },
    };
    Some(told.to_owned())
}

/// Names and what they stand for.
const ABOUT: [(&str, &str); 15] = [
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
        for name in Family::names().into_iter().chain(registry::names()) {
            assert!(about(Study::Main, name).is_some(), "{name}");
        }
        assert_ne!(about(Study::Ablation, "dsp"), about(Study::Scaling, "dsp"));
        let mut all: Vec<&str> = ABOUT.iter().map(|a| a.0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), ABOUT.len(), "each name once");
    }
}
