//! Model files of both versions: every byte of version 2 counts, and version 1 still opens.

use crate::model_file::{joined, parts, small};
use crate::models;
use serde_json::{Map, Value};
use stiefel_model::file::{FileProblem, seal};
use stiefel_model::net::Orthogonality;
use stiefel_model::train::Silent;
use stiefel_model::{FitConfig, FittedModel, PooledConfig, Precision};
use stiefel_testkit::rng;

/// A network of either kind and a preset, small.
fn some() -> Vec<FittedModel> {
    let training = models::of_domain(&models::trials(), 3, false);
    let network = |model, precision| FitConfig::Network {
        model: Box::new(model),
        precision,
    };
    let preset = FitConfig::Preset {
        config: Box::new(PooledConfig {
            filters: 3,
            ..PooledConfig::default()
        }),
    };
    let configs = [
        network(small(), Precision::F32),
        network(models::spdnet(Orthogonality::Cayley), Precision::F64),
        preset,
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
            - if model.network::<f32>().is_some() {
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
fn a_file_of_version_2_without_checksum_is_refused() {
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

/// The same model as version 1 wrote it: no checksum, nothing about its origin, no mean weights.
fn version_1(bytes: &[u8]) -> Vec<u8> {
    let (header, data) = parts(bytes);
    let mut header: Map<String, Value> = serde_json::from_str(&header).unwrap();
    let metadata = header["__metadata__"].as_object_mut().unwrap();
    metadata.remove("about");
    metadata.remove("checksum");
    metadata.insert("format_version".into(), "1".into());
    let mut data = data.to_vec();
    if let Some(routing) = header.remove("domains.routing") {
        let at = |i: usize| routing["data_offsets"][i].as_u64().unwrap();
        let (begin, end) = (at(0), at(1));
        data.drain(begin as usize..end as usize);
        for (name, tensor) in &mut header {
            if name == "__metadata__" {
                continue;
            }
            for offset in tensor["data_offsets"].as_array_mut().unwrap() {
                let old = offset.as_u64().unwrap();
                if old >= end {
                    *offset = (old - (end - begin)).into();
                }
            }
        }
    }
    joined(&Value::Object(header).to_string(), &data)
}

#[test]
fn files_of_version_1_open_and_decide_the_same() {
    let training = models::of_domain(&models::trials(), 3, false);
    for model in some() {
        let old = version_1(&model.to_bytes().unwrap());
        let text = String::from_utf8_lossy(&old);
        assert!(!text.contains("checksum") && !text.contains("domains.routing"));
        let opened = FittedModel::from_bytes(&old).unwrap();
        assert_eq!(
            opened.decide(&training, None).unwrap(),
            model.decide(&training, None).unwrap()
        );
        assert_eq!(opened.config(), model.config());
        assert_eq!(opened.channels(), model.channels());
        // It does not remember its trials, and says so.
        let judged = opened.judge(&training, None).unwrap();
        assert!(!judged.remembers && judged.new.is_some());
        assert!(model.judge(&training, None).unwrap().new.is_none());
        // Without the mean weights of the domains every trial keeps its own.
        let (a, b) = (
            opened.report(&training, None, 5).unwrap(),
            model.report(&training, None, 5).unwrap(),
        );
        assert_eq!((a.scores, a.proxy_gap), (b.scores, b.proxy_gap));
        // Saved again it is a file of today.
        let today = opened.to_bytes().unwrap();
        let again = FittedModel::from_bytes(&today).unwrap();
        assert_eq!(again.to_bytes().unwrap(), today);
        assert!(parts(&today).0.contains("checksum"));
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
