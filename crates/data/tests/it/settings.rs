//! Settings read from schemas.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stiefel_data::settings::{SettingError, Settings, check};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Example {
    /// How many there are,
    /// at most.
    #[schemars(range(min = 1, max = 9))]
    count: usize,
    /// A share.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    share: f64,
    /// Two numbers.
    pair: [f64; 2],
    /// A choice.
    way: Way,
    /// What may be absent.
    part: Option<Part>,
    /// A number that may be absent.
    #[schemars(range(min = 0.0))]
    limit: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum Way {
    /// Straight on.
    Straight,
    /// Around.
    Around {
        /// By how much.
        #[serde(default = "two")]
        #[schemars(range(min = 1.0))]
        by: f64,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Part {
    /// Whether it is.
    on: bool,
    /// How many there are of it.
    count: usize,
}

fn two() -> f64 {
    2.0
}

impl Default for Example {
    fn default() -> Self {
        Self {
            count: 3,
            share: 0.5,
            pair: [0.0, 1.0],
            way: Way::Straight,
            part: None,
            limit: None,
        }
    }
}

fn example() -> Settings {
    Settings::of("the example", &Example::default())
}

#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn set(name: &str, value: Value) -> Result<Example, SettingError> {
    let tree = example().with(&json!({ name: value }))?;
    Ok(serde_json::from_value(tree).unwrap())
}

#[test]
fn doc_lines_ranges_and_defaults_are_those_of_the_type() {
    let all = example();
    let count = all.find("count").unwrap();
    assert_eq!(count.about, "How many there are, at most.");
    assert_eq!(count.values, "a whole number from 1 to 9");
    assert_eq!(count.default, json!(3));
    let values = |name| &*all.find(name).unwrap().values;
    assert_eq!(values("share"), "a number above 0 and at most 1");
    assert_eq!(values("pair"), "a list of 2, each a number");
    assert_eq!(values("limit"), "a number of at least 0 or none");
    assert_eq!(
        values("way"),
        "one of straight, {\"by\": a number of at least 1, \"kind\": \"around\"}"
    );
    assert_eq!(
        values("part"),
        "{\"count\": a whole number, \"on\": true or false} or none"
    );
}

#[test]
fn values_are_set_completed_and_checked() {
    let default = Example::default();
    let around = Way::Around { by: 2.0 };
    assert_eq!(
        set("way", json!("around")).unwrap(),
        Example {
            way: around,
            ..default.clone()
        }
    );
    let part = Some(Part { on: true, count: 0 });
    assert_eq!(
        set("part", json!({ "on": true })).unwrap(),
        Example {
            part,
            ..default.clone()
        }
    );
    assert_eq!(set("limit", json!("none")).unwrap(), default);
    for (name, value) in [
        ("count", json!(0)),
        ("count", json!(10)),
        ("count", json!(-1)),
        ("count", json!(1.5)),
        ("count", json!("three")),
        ("share", json!(0)),
        ("share", json!(1.5)),
        ("share", json!("none")),
        ("pair", json!([1.0])),
        ("pair", json!([1.0, "b"])),
        ("way", json!("back")),
        ("way", json!({ "kind": "around", "by": 0 })),
        ("way", json!({ "kind": "around", "bye": 3 })),
        ("part", json!({ "off": true })),
        ("limit", json!(-1)),
        ("limits", json!(1)),
        // What is absent has no settings of its own.
        ("part.on", json!(true)),
        ("on", json!(true)),
    ] {
        let error = set(name, value.clone()).unwrap_err();
        assert!(error.name().starts_with(name), "{name} = {value}: {error}");
    }
}

#[test]
fn a_typed_value_is_checked_against_the_same_ranges() {
    let bad = Example {
        share: f64::NAN,
        ..Example::default()
    };
    assert_eq!(check("the example", &bad).unwrap_err().name(), "share");
    assert_eq!(check("the example", &Example::default()), Ok(()));
}
