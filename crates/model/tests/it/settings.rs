//! Settings of every kind, described by their schema.

use serde_json::{Value, json};
use stiefel_data::settings::{SettingError, Settings};
use stiefel_model::kind::DataSizes;
use stiefel_model::net::DaspConfig;
use stiefel_model::{AdamConfig, ModelError, ModelSpec, registry};

const SIZES: DataSizes = DataSizes {
    channels: 22,
    domains: 9,
};

fn settings(name: &str) -> Settings {
    registry::settings(name, SIZES).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn refused(name: &str, given: Value) -> SettingError {
    match ModelSpec::named(name, &given, SIZES) {
        Err(ModelError::Setting(error)) => error,
        other => panic!("{name} {given}: {other:?}"),
    }
}

#[test]
fn every_setting_has_a_doc_line_and_values_and_its_own_name() {
    for name in registry::names() {
        let settings = settings(name);
        for setting in settings.all() {
            let path = &setting.path;
            // A group within a choice has the doc line of the choice.
            let told = setting.is_group || setting.about.ends_with('.');
            assert!(told, "{name}.{path}: {setting:?}");
            assert!(!setting.about.contains("]("), "{name}.{path}: {setting:?}");
            assert_ne!(setting.values, "nothing", "{name}.{path}");
            assert_eq!(settings.find(&setting.name).unwrap(), setting);
            assert_eq!(settings.find(path).unwrap(), setting);
        }
    }
}

#[test]
fn defaults_are_in_range_and_one_leaves_them_as_they_are() {
    for name in registry::names() {
        let settings = settings(name);
        settings.check(settings.defaults()).unwrap();
        for setting in settings.all() {
            let given = json!({ &setting.path: &setting.default });
            let spec = ModelSpec::named(name, &given, SIZES).unwrap();
            assert_eq!(spec.settings(), settings.defaults(), "{name} {given}");
        }
    }
}

#[test]
fn wrong_names_values_and_ranges_are_named_as_they_were_given() {
    for (model, given, name, sentence) in [
        (
            "dasp",
            json!({ "experts": 0 }),
            "experts",
            "must be a whole number of at least 1",
        ),
        (
            "dasp",
            json!({ "experts": 2.5 }),
            "experts",
            "must be a whole number of at least 1",
        ),
        (
            "choir",
            json!({ "own": "many" }),
            "own",
            "must be a number of at least 0",
        ),
        (
            "choir",
            json!({ "own": null }),
            "own",
            "must be a number of at least 0",
        ),
        (
            "choir",
            json!({ "shrinkage": 1 }),
            "shrinkage",
            "must be a number above 0 and below 1",
        ),
        (
            "choir",
            json!({ "view_weights": [1, 0] }),
            "view_weights",
            "must be a list, each a number above 0",
        ),
        (
            "dasp",
            json!({ "learning_rate": 0 }),
            "learning_rate",
            "must be a number above 0",
        ),
        (
            "spdnet",
            json!({ "training": { "adam": { "beta1": 1 } } }),
            "training.adam.beta1",
            "must be a number of at least 0 and below 1",
        ),
        (
            "dasp",
            json!({ "anchor": "here" }),
            "anchor",
            "must be one of dedicated, first, barycenter, routed-barycenter",
        ),
        (
            "dasp",
            json!({ "head": { "kind": "routed", "ridge": -1 } }),
            "head.ridge",
            "must be a number of at least 0",
        ),
        (
            "mdm",
            json!({ "tikhonov": { "relative": 0 } }),
            "tikhonov.relative",
            "must be a number above 0",
        ),
    ] {
        let error = refused(model, given);
        assert_eq!((error.name(), &*error.sentence()), (name, sentence));
    }
    let error = refused("dasp", json!({ "expert": 4 }));
    assert_eq!(error.name(), "expert");
    let start = "dasp has no such setting; did you mean experts? its settings are anchor, ";
    assert!(error.sentence().starts_with(start), "{error}");
    let error = refused("dasp", json!({ "training": { "epoch": 4 } }));
    assert!(
        error.to_string().contains("did you mean epochs?"),
        "{error}"
    );
}

#[test]
fn choices_are_set_by_name_and_completed() {
    let spec = |name: &str, given: Value| ModelSpec::named(name, &given, SIZES).unwrap();
    let value = |name, given, setting| spec(name, given).setting(setting).unwrap().clone();
    let head = value("dasp", json!({ "head": "routed" }), "head");
    assert_eq!(head, json!({ "kind": "routed", "ridge": 1e-3 }));
    let policy = value("mdm", json!({ "unseen": "own-mean" }), "unseen");
    assert_eq!(policy, json!({ "policy": "own-mean", "kappa": 10.0 }));
    let norm = value(
        "spdnet",
        json!({ "batch_norm": { "bias": false } }),
        "batch_norm",
    );
    assert_eq!(norm["momentum"], json!(0.1));
    assert_eq!(
        value("dasp", json!({ "encoder": "none" }), "encoder"),
        Value::Null
    );
    assert_eq!(
        value("dasp", json!({ "tikhonov": "none" }), "tikhonov"),
        json!("none")
    );
    let rank = value("dasp", json!({ "encoder": { "rank": 7 } }), "encoder");
    assert_eq!(rank, json!({ "rank": 7, "fill": "within" }));
    assert_eq!(
        value("routed-head", json!({ "ridge": 1 }), "ridge"),
        json!(1.0)
    );
    let shared = json!({ "kind": "shared" });
    assert_eq!(
        value("routed-head", json!({ "head": "shared" }), "head"),
        shared
    );
    let nested = json!({ "architecture": { "head": { "kind": "shared" } } });
    assert_eq!(value("routed-head", nested, "head"), shared);
}

#[test]
fn typed_configurations_are_checked_against_the_ranges_of_their_schema() {
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let config = AdamConfig {
            learning_rate: bad,
            ..AdamConfig::default()
        };
        assert!(
            matches!(config.check(), Err(ModelError::Setting(_))),
            "{bad}"
        );
    }
    let config = DaspConfig {
        experts: 0,
        ..DaspConfig::default()
    };
    assert!(stiefel_data::settings::check("dasp", &config).is_err());
}
