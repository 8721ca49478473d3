//! The model file: what comes back is what was saved, and no damage gets through or runs away with
//! memory.

use crate::models;
use rand::RngExt;
use std::path::{Path, PathBuf};
use stiefel_linalg::Scalar;
use stiefel_model::file::{FORMAT_VERSION, FileProblem, kind_of, seal};
use stiefel_model::net::{Anchor, Orthogonality, Retraction};
use stiefel_model::scaling::ScalingRule;
use stiefel_model::{FittedModel, Model, ModelConfig, ModelError};

/// Runs `f`; the most bytes it had reserved at one time.
fn peak<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let mut result = None;
    let taken = allocation_counter::measure(|| result = Some(f()));
    (result.expect("it ran"), taken.bytes_max)
}

/// A folder of its own, gone with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("model-file-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("model.safetensors")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn small() -> ModelConfig {
    models::dasp(Anchor::Dedicated, Retraction::Qr, true, true)
}

/// A saved model, as bytes.
fn saved(config: &ModelConfig, folder: &Folder) -> Vec<u8> {
    let training = models::of_domain(&models::trials(), 3, false);
    let model = models::fit::<f64>(&training, config);
    FittedModel::from(model).save(folder.file(), true).unwrap();
    std::fs::read(folder.file()).unwrap()
}

fn load(folder: &Folder, bytes: &[u8]) -> Result<FittedModel, ModelError> {
    std::fs::write(folder.file(), bytes).unwrap();
    FittedModel::load(folder.file())
}

fn problem(folder: &Folder, bytes: &[u8]) -> FileProblem {
    match load(folder, bytes) {
        Err(ModelError::File { path, problem }) => {
            assert_eq!(path, folder.file());
            problem
        }
        other => panic!("expected an error about the file, got {other:?}"),
    }
}

/// The header's text and the tensors behind it.
pub(crate) fn parts(bytes: &[u8]) -> (String, &[u8]) {
    let size = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let text = String::from_utf8(bytes[8..8 + size].to_vec()).unwrap();
    (text, &bytes[8 + size..])
}

/// A file of these parts with the checksum they have: what is wrong with it is meant.
pub(crate) fn joined(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    seal(&mut bytes);
    bytes
}

/// With one piece of its header changed.
fn changed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let (header, data) = parts(bytes);
    assert!(header.contains(from), "{from} in {header}");
    joined(&header.replacen(from, to, 1), data)
}

fn round_trip<T: Scalar>(config: &ModelConfig, folder: &Folder) {
    let all = models::trials();
    let training = models::of_domain(&all, 3, false);
    let rule = ScalingRule::default().recommend(7, 3).unwrap();
    let model = FittedModel::from(models::fit::<T>(&training, config));
    let fitted = model.with_about(|about| about.scaling = Some(rule));
    fitted.save(folder.file(), true).unwrap();
    let loaded = FittedModel::load(folder.file()).unwrap();
    let network = |model| FittedModel::get::<Model<T>>(model).unwrap();
    let (model, again) = (network(&fitted), network(&loaded));
    assert_eq!(loaded.scaling(), fitted.scaling());
    assert_eq!(
        again.evaluate(&training).unwrap(),
        model.evaluate(&training).unwrap()
    );
    assert_eq!(again.parameters(), model.parameters());
    assert_eq!(again.frontend(), model.frontend());
    assert_eq!(again.domain_means(), model.domain_means());
    assert_eq!(
        (again.config(), again.sizes()),
        (model.config(), model.sizes())
    );
    assert_eq!(
        (again.classes(), again.domains()),
        (model.classes(), model.domains())
    );
    assert_eq!(
        (again.channels(), again.record()),
        (model.channels(), model.record())
    );
    assert_eq!(kind_of(folder.file()).as_deref(), Some(fitted.name()));
    let spec = loaded.spec().unwrap();
    assert_eq!(spec.setting("precision"), Some(&T::NAME.into()));
    let trials = (0..4).map(|d| loaded.model().trial_count(d));
    assert_eq!(trials.collect::<Vec<_>>(), [15, 15, 15, 0]);
    assert_eq!(
        loaded.decide(&training, None).unwrap(),
        fitted.decide(&training, None).unwrap()
    );
    // Saved again, the same bytes.
    let bytes = std::fs::read(folder.file()).unwrap();
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
}

#[test]
fn what_comes_back_is_what_was_saved_to_the_bit() {
    let folder = Folder::new("round-trip");
    for config in models::all() {
        round_trip::<f64>(&config, &folder);
        round_trip::<f32>(&config, &folder);
    }
    // No temporary file is left.
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn a_file_is_read_in_its_own_precision() {
    let folder = Folder::new("precision");
    let bytes = saved(&small(), &folder);
    let model = FittedModel::load(folder.file()).unwrap();
    assert!(model.get::<Model<f64>>().is_some() && model.get::<Model<f32>>().is_none());
    // Said to be of another one, its tensors are not.
    let precision = |name| changed(&bytes, "\\\"precision\\\":\\\"f64\\\"", name);
    let found = problem(&folder, &precision("\\\"precision\\\":\\\"f32\\\""));
    assert!(matches!(found, FileProblem::Tensor { .. }), "{found}");
    let found = problem(&folder, &precision("\\\"precision\\\":\\\"f16\\\""));
    assert!(found.to_string().contains("f16"), "{found}");
}

#[test]
fn truncation_anywhere_is_an_error() {
    let folder = Folder::new("truncation");
    let bytes = saved(&small(), &folder);
    for length in 0..bytes.len() {
        std::fs::write(folder.file(), &bytes[..length]).unwrap();
        assert!(FittedModel::load(folder.file()).is_err(), "{length} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(
        problem(&folder, &longer),
        FileProblem::Length { .. }
    ));
}

#[test]
fn no_mutation_panics_or_runs_away_with_memory() {
    let folder = Folder::new("mutation");
    let bytes = saved(&small(), &folder);
    let header = parts(&bytes).0.len() + 8;
    let mut rng = stiefel_testkit::rng(11);
    let mut refused = 0;
    for round in 0..20_000 {
        let mut bad = bytes.clone();
        // Most of them where they hurt: in the header.
        let range = if round % 4 == 0 { bytes.len() } else { header };
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..range);
            match rng.random_range(0..4) {
                0 => bad[at] = rng.random(),
                1 => bad[at] = b"0123456789-.,:\"[]{}e"[rng.random_range(0..20)],
                2 => bad[at] ^= 1 << rng.random_range(0..8),
                _ => {
                    let from = rng.random_range(0..range);
                    bad[at] = bytes[from];
                }
            }
        }
        // The checksum would refuse them all: what is behind it is meant.
        seal(&mut bad);
        std::fs::write(folder.file(), &bad).unwrap();
        let (loaded, used) = peak(|| FittedModel::load(folder.file()));
        refused += usize::from(loaded.is_err());
        assert!(
            used < 30 * bytes.len() as u64 + 100_000,
            "round {round}: {used} bytes"
        );
    }
    // What got through changed a number into another possible one.
    assert!(refused > 14_000, "{refused} refused");
}

#[test]
fn sizes_that_no_file_holds_are_refused_before_memory_is_reserved() {
    let folder = Folder::new("sizes");
    let bytes = saved(&small(), &folder);
    let huge = u64::MAX.to_string();
    for (from, to) in [
        ("\\\"channels\\\":7", format!("\\\"channels\\\":{huge}")),
        ("\\\"channels\\\":7", "\\\"channels\\\":4000000000".into()),
        ("\\\"experts\\\":3", "\\\"experts\\\":100000000000".into()),
        ("\\\"embedding\\\":5", "\\\"embedding\\\":4000000000".into()),
        ("\\\"encoded\\\":6", format!("\\\"encoded\\\":{huge}")),
        ("\\\"filters\\\":4", "\\\"filters\\\":7".into()),
        ("\\\"classes\\\":2", "\\\"classes\\\":3".into()),
        ("\\\"domains\\\":4", "\\\"domains\\\":5".into()),
        ("\"shape\":[3,7,7]", format!("\"shape\":[{huge},7,7]")),
        ("\"shape\":[3,7,7]", "\"shape\":[3,49,1]".into()),
        ("\"data_offsets\":[0,", format!("\"data_offsets\":[{huge},")),
    ] {
        let bad = changed(&bytes, from, &to);
        let (_, used) = peak(|| problem(&folder, &bad));
        assert!(used < 30 * bytes.len() as u64 + 100_000, "{to}");
    }
    let mut bad = bytes.clone();
    bad[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(problem(&folder, &bad), FileProblem::Length { .. }));
}

#[test]
fn other_formats_kinds_and_files_are_named() {
    let folder = Folder::new("newer");
    let bytes = saved(&small(), &folder);
    for other in [0, 2] {
        let version = format!("\"format_version\":\"{other}\"");
        let found = problem(
            &folder,
            &changed(&bytes, "\"format_version\":\"1\"", &version),
        );
        let named = matches!(
            found,
            FileProblem::Version {
                found,
                supported: FORMAT_VERSION,
                ..
            } if found == other
        );
        assert!(named, "{found}");
    }
    let unknown = changed(&bytes, "\"kind\":\"dasp\"", "\"kind\":\"oracle\"");
    let found = problem(&folder, &unknown);
    assert!(matches!(found, FileProblem::Kind { .. }), "{found}");
    let said = found.to_string();
    assert!(
        said.contains("\"oracle\"") && said.contains("choir, dasp"),
        "{said}"
    );
    let other = changed(&bytes, "\"format\":\"stiefel-model\"", "\"format\":\"pt\"");
    assert!(matches!(
        problem(&folder, &other),
        FileProblem::NotAModel(_)
    ));
    assert!(matches!(problem(&folder, b"MZ"), FileProblem::NotAModel(_)));
    let plain = joined("{}", &[]);
    assert!(matches!(
        problem(&folder, &plain),
        FileProblem::NotAModel(_)
    ));
    let twice = changed(&bytes, "\"whitener.0.scales\"", "\"whitener.0.means\"");
    assert!(problem(&folder, &twice).to_string().contains("twice"));
    let missing = FittedModel::load(folder.0.join("nowhere")).unwrap_err();
    assert!(missing.to_string().contains("nowhere"), "{missing}");
    assert!(FittedModel::load(&folder.0).is_err());
}

/// Writes values over the beginning of a tensor.
pub(crate) fn overwrite(bytes: &[u8], tensor: &str, values: &[f64]) -> Vec<u8> {
    let (header, data) = parts(bytes);
    let json: serde_json::Value = serde_json::from_str(&header).unwrap();
    let begin = json[tensor]["data_offsets"][0].as_u64().unwrap() as usize;
    let mut data = data.to_vec();
    for (i, value) in values.iter().enumerate() {
        data[begin + 8 * i..][..8].copy_from_slice(&value.to_le_bytes());
    }
    joined(&header, &data)
}

#[test]
fn tensors_that_cannot_be_right_are_named() {
    let folder = Folder::new("tensors");
    let bytes = saved(&small(), &folder);
    for (tensor, value, says) in [
        ("parameter.head.w", f64::NAN, "value 0 is NaN"),
        ("parameter.keys", f64::INFINITY, "value 0 is inf"),
        ("whitener.0.means", f64::NAN, "value 0 is NaN"),
        ("parameter.experts", 0.5, "not on the Stiefel manifold"),
        ("parameter.anchor", 7.0, "not on the Stiefel manifold"),
        ("whitener.0.scales", -1.0, "positive where it is a scale"),
    ] {
        let found = problem(&folder, &overwrite(&bytes, tensor, &[value])).to_string();
        assert!(found.contains(says), "{tensor}: {found}");
    }
    let mut cayley = models::spdnet(Orthogonality::Cayley);
    cayley.training.epochs = 1;
    let bytes = saved(&cayley, &folder);
    let found = problem(&folder, &overwrite(&bytes, "base.filter", &[3.0])).to_string();
    assert!(
        found.contains("base.filter") && found.contains("Stiefel"),
        "{found}"
    );
}

#[test]
fn tensors_of_another_network_are_refused() {
    let folder = Folder::new("network");
    let dasp = saved(&small(), &folder);
    let spdnet = saved(&models::spdnet(Orthogonality::Riemannian), &folder);
    // The description of one with the tensors of the other.
    let model = |bytes: &[u8]| {
        let json: serde_json::Value = serde_json::from_str(&parts(bytes).0).unwrap();
        json["__metadata__"]["model"].as_str().unwrap().to_owned()
    };
    for (bytes, other) in [(&dasp, &spdnet), (&spdnet, &dasp)] {
        let mut json: serde_json::Value = serde_json::from_str(&parts(bytes).0).unwrap();
        json["__metadata__"]["model"] = model(other).into();
        let found = problem(&folder, &joined(&json.to_string(), parts(bytes).1));
        let named = matches!(
            found,
            FileProblem::Tensor { .. } | FileProblem::Inconsistent(_)
        );
        assert!(named, "{found}");
    }
    let renamed = changed(&dasp, "\"parameter.keys\"", "\"parameter.kyes\"");
    assert!(
        problem(&folder, &renamed)
            .to_string()
            .contains("parameter.keys")
    );
}

#[test]
fn a_failed_save_leaves_the_old_file() {
    let folder = Folder::new("save");
    let bytes = saved(&small(), &folder);
    let model = FittedModel::load(folder.file()).unwrap();
    let error = model
        .save(folder.0.join("no/such/folder/model"), true)
        .unwrap_err();
    assert!(matches!(error, ModelError::File { .. }));
    // A folder in the way of the name: renaming fails, nothing is left behind.
    std::fs::create_dir_all(folder.0.join("taken/inside")).unwrap();
    assert!(model.save(folder.0.join("taken"), true).is_err());
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2);
    assert_eq!(std::fs::read(folder.file()).unwrap(), bytes);
}
