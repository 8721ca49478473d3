//! The methods of a study, sized and configured alike: by name, and the rows of each study.

use crate::Result;
use crate::method::{Method, Named};
use crate::roster::{self, BASELINE};
use serde_json::{Value, json};
use stiefel_model::kind::DataSizes;
use stiefel_model::network::{LAMBDA_BALANCE, LAMBDA_ENTROPY};
use stiefel_model::precondition::Adaptation;
use stiefel_model::registry::{self, KINDS};
use stiefel_model::{AdaptEmbedding, AdaptPolicy, DspConfig, ModelSpec, TransductiveConfig};

/// Everything the methods of a study share.
#[derive(Debug, Clone)]
pub struct Family {
    /// Channels and training domains.
    pub sizes: DataSizes,
    /// Where the sizes of the networks come from.
    pub sizing: Value,
    /// Settings by name; each method takes those that its kind has.
    pub common: Value,
    /// What is done about the mean of people without training trials.
    pub unseen: Adaptation,
    /// Whether routed methods get the retrained control.
    pub retrained: bool,
}

impl Family {
    /// Returns a kind or a variant with some settings changed, under a name.
    fn method(
        &self,
        name: &str,
        model: &str,
        given: &Value,
        embedding: AdaptEmbedding,
    ) -> Result<Named> {
        let (kind, _) = registry::find(model)?;
        let start = ModelSpec::named(model, &json!({}), self.sizes)?;
        let sizing = json!({ "sizes": self.sizing });
        let start = match start.setting("sizes") {
            Some(_) => ModelSpec::named(model, &sizing, self.sizes)?,
            None => start,
        };
        let mut spec = start.with_known(&self.common)?;
        for (name, value) in given.as_object().into_iter().flatten() {
            spec = spec.with(name, value)?;
        }
        debug_assert_eq!(kind.name(), spec.kind().name());
        // What has no embedding needs nothing in its place.
        let embedded = spec.setting("domain_embedding") == Some(&json!(true));
        Ok(Named {
            name: name.into(),
            method: Method {
                retrained: self.retrained && spec.single_expert()?.is_some(),
                unseen: AdaptPolicy {
                    whitening: self.unseen,
                    embedding: if embedded {
                        embedding
                    } else {
                        AdaptEmbedding::InputOnly
                    },
                },
                spec,
            },
        })
    }

    /// Returns a method by its name: a kind, or a variant of one.
    pub fn by_name(&self, name: &str) -> Result<Named> {
        let name = roster::in_tables(name);
        self.method(name, name, &json!({}), AdaptEmbedding::Initial)
    }

    /// Returns methods by their names.
    pub fn all(&self, names: &[&str]) -> Result<Vec<Named>> {
        names.iter().map(|name| self.by_name(name)).collect()
    }

    /// Returns the seven rows of the ablation.
    pub fn ablation(&self, rank: usize, alignment: f64) -> Result<Vec<Named>> {
        let encoder = encoder(rank);
        let rows = [
            ("ref", json!({})),
            ("b1", json!({ "losses": { "balance": LAMBDA_BALANCE } })),
            ("b2", json!({ "losses": { "entropy": LAMBDA_ENTROPY } })),
            ("b4", json!({ "losses": { "alignment": alignment } })),
            ("b12", json!({ "anchor": "dedicated" })),
            ("dsp", json!({ "anchor": "dedicated", "encoder": encoder })),
            (
                "dasp-full",
                json!({
                    "anchor": "dedicated", "encoder": encoder, "decoupled_keys": true,
                    "losses": { "alignment": alignment },
                }),
            ),
        ];
        let row = |(name, given)| self.method(name, "naive", &given, AdaptEmbedding::Initial);
        rows.into_iter().map(row).collect()
    }

    /// Returns the conditions of the leave-one-subject-out study.
    pub fn loso(&self) -> Result<Vec<Named>> {
        let conditions = [
            ("full", AdaptEmbedding::Initial),
            ("zero", AdaptEmbedding::Zero),
            ("nearest", AdaptEmbedding::NearestTangent),
            ("riemannian-nearest", AdaptEmbedding::NearestRiemannian),
            (
                "transductive",
                AdaptEmbedding::Transductive(TransductiveConfig::default()),
            ),
        ];
        let mut rows = vec![self.by_name(BASELINE)?];
        // All conditions are one training, and one of them needs the means.
        let with_means = json!({ "frechet_means": true });
        for (name, embedding) in conditions {
            rows.push(self.method(name, "dasp", &with_means, embedding)?);
        }
        let blind = json!({ "domain_embedding": false });
        let blind = self.method("input-only", "dasp", &blind, AdaptEmbedding::InputOnly)?;
        rows.insert(2, blind);
        rows.extend(self.all(&roster::LOSO)?);
        Ok(rows)
    }

    /// Returns the routed network with encoder and alignment on and off.
    pub fn scaling(&self, rank: usize, alignment: f64) -> Result<Vec<Named>> {
        let encoder = encoder(rank);
        let given = |aligned: bool, encoder: &Value| {
            json!({
                "decoupled_keys": aligned,
                "losses": { "alignment": if aligned { alignment } else { 0.0 } },
                "encoder": encoder,
            })
        };
        let rows = [
            ("plain", given(false, &Value::Null)),
            ("align", given(true, &Value::Null)),
            ("dsp", given(false, &encoder)),
            ("dsp+align", given(true, &encoder)),
        ];
        let row = |(name, given)| self.method(name, "dasp", &given, AdaptEmbedding::Initial);
        rows.into_iter().map(row).collect()
    }

    /// Returns the peers that take all views of a trial.
    pub fn banks(&self) -> Result<Vec<Named>> {
        self.all(&peers(true))
    }

    /// Returns the networks that take all views of a trial.
    pub fn view_networks(&self) -> Result<Vec<Named>> {
        self.all(&roster::VIEW_NETWORKS)
    }

    /// Lists the methods of the main table; [`by_name`](Self::by_name) knows more.
    pub fn names() -> Vec<&'static str> {
        roster::MAIN.into_iter().chain(peers(false)).collect()
    }
}

/// The encoder of the domains with so many columns.
fn encoder(rank: usize) -> Value {
    json!(DspConfig {
        rank,
        ..DspConfig::default()
    })
}

/// The peers, of all views or of one.
fn peers(all_views: bool) -> Vec<&'static str> {
    let peers = KINDS.iter().filter(|k| k.is_peer());
    let peers = peers.filter(|k| k.takes_views() == all_views);
    peers.map(|k| k.name()).collect()
}
