//! Model files that were damaged: every byte counts.

use crate::model_file::{joined, parts, small};
use crate::models;
use serde_json::{Map, Value};
use stiefel_model::choir::ChoirConfig;
use stiefel_model::file::{FileProblem, seal};
use stiefel_model::kind::DataSizes;
use stiefel_model::net::Orthogonality;
use stiefel_model::train::Silent;
use stiefel_model::{FittedModel, Model, ModelSpec, NetworkSettings, Precision};
use stiefel_testkit::rng;

/// A network of either kind, CHOIR and a peer, small.
fn some() -> Vec<FittedModel> {
    let training = models::of_domain(&models::trials(), 3, false);
    let network = |model, precision| NetworkSettings::new(model, precision).into();
    let choir = ChoirConfig {
        filters: 3,
        ..ChoirConfig::default()
    };
    let sizes = DataSizes {
        channels: 7,
        domains: 3,
    };
    let peer = ModelSpec::named("ts+lr", &().into(), sizes).unwrap();
    let configs: [ModelSpec; 4] = [
        network(small(), Precision::F32),
        network(models::spdnet(Orthogonality::Cayley), Precision::F64),
        choir.into(),
        peer,
    ];
    let fit = |config| FittedModel::fit(&training, &training, &config, &mut Silent);
    configs.into_iter().map(|c| fit(c).unwrap()).collect()
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    use rand::RngExt;
    let mut rng = rng(19);
    for model in some() {
        let mut bytes = model.to_bytes().unwrap();
        for at in 0..bytes.len() {
            // One bit of each byte, and now and then another byte altogether.
            let good = bytes[at];
            let other = if at % 4 == 0 { rng.random() } else { 0 };
            for bad in [good ^ (1 << rng.random_range(0..8)), good ^ 32, other] {
                bytes[at] = bad;
                let read = FittedModel::from_bytes(&bytes);
                assert_eq!(read.is_ok(), bad == good, "byte {at}: {good} became {bad}");
            }
            bytes[at] = good;
        }
        assert!(FittedModel::from_bytes(&bytes).is_ok());
    }
}

#[test]
fn a_number_that_would_be_possible_is_refused_too() {
    // The last value of the file moves by its last bit: nothing but the checksum can tell.
    for model in some() {
        let mut bytes = model.to_bytes().unwrap();
        let last = bytes.len()
            - if model.get::<Model<f32>>().is_some() {
                4
            } else {
                8
            };
        bytes[last] ^= 1;
        let found = FittedModel::from_bytes(&bytes).unwrap_err();
        assert!(matches!(found, FileProblem::Checksum { .. }), "{found}");
        assert!(found.to_string().contains("copy it again"), "{found}");
        // Sealed, it is another model.
        seal(&mut bytes);
        let other = FittedModel::from_bytes(&bytes).unwrap();
        assert_ne!(other.to_bytes().unwrap(), model.to_bytes().unwrap());
    }
}

#[test]
fn a_file_without_checksum_is_refused() {
    for model in some() {
        let bytes = model.to_bytes().unwrap();
        let (header, data) = parts(&bytes);
        let mut header: Map<String, Value> = serde_json::from_str(&header).unwrap();
        let metadata = header["__metadata__"].as_object_mut().unwrap();
        metadata.remove("checksum");
        let bytes = joined(&Value::Object(header).to_string(), data);
        let found = FittedModel::from_bytes(&bytes).unwrap_err().to_string();
        assert!(found.contains("checksum is missing"), "{found}");
    }
}

#[test]
fn sealing_a_sealed_file_changes_nothing() {
    for model in some() {
        let bytes = model.to_bytes().unwrap();
        let mut again = bytes.clone();
        seal(&mut again);
        assert!(again == bytes);
        // As another tool would write it: spaces between, other keys first.
        let (header, data) = parts(&bytes);
        let header: Value = serde_json::from_str(&header).unwrap();
        let mut spaced = joined(&serde_json::to_string_pretty(&header).unwrap(), data);
        assert!(FittedModel::from_bytes(&spaced).is_ok());
        spaced[20] ^= 1;
        assert!(FittedModel::from_bytes(&spaced).is_err());
    }
    // What has no place for a checksum stays.
    for rubbish in [&b""[..], b"MZ", &[255; 40], b"\x02\0\0\0\0\0\0\0{}tensors"] {
        let mut bytes = rubbish.to_vec();
        seal(&mut bytes);
        assert_eq!(bytes, rubbish);
    }
}

#[test]
fn mean_weights_of_another_size_are_refused() {
    let model = &some()[0];
    let bytes = model.to_bytes().unwrap();
    let (header, data) = parts(&bytes);
    assert!(header.contains("\"shape\":[3,3]"), "{header}");
    for shape in ["[9,1]", "[1,9]", "[9]", "[1,3,3]"] {
        let other = header.replacen("\"shape\":[3,3]", &format!("\"shape\":{shape}"), 1);
        let found = FittedModel::from_bytes(&joined(&other, data)).unwrap_err();
        assert!(found.to_string().contains("domains.routing"), "{found}");
    }
}
