//! Writing: the whole file in memory, then to disk under another name, then renamed, so that a reader never sees half a model.

use super::FileProblem;
use super::container::{Dtype, METADATA, TensorInfo, encode};
use super::header::{Description, FORMAT, FORMAT_VERSION};
use crate::{Manifold, Model, Result, Whitener};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use stiefel_linalg::{MatBatch, Scalar};

/// Tensors as they are collected.
#[derive(Default)]
pub(super) struct Tensors {
    header: Map<String, Value>,
    data: Vec<u8>,
}

impl Tensors {
    pub(super) fn push<T: Scalar>(&mut self, name: &str, shape: &[usize], values: &[T]) {
        let begin = self.data.len() as u64;
        encode(values, &mut self.data);
        let info = TensorInfo {
            dtype: Dtype::of::<T>(),
            shape: shape.iter().map(|&n| n as u64).collect(),
            data_offsets: [begin, self.data.len() as u64],
        };
        self.header.insert(name.to_owned(), json!(info));
    }

    fn push_batch<T: Scalar>(&mut self, name: &str, x: &MatBatch<T>) {
        let (count, rows, cols) = x.shape();
        self.push(name, &[count, rows, cols], x.data());
    }

    pub(super) fn push_whitener(&mut self, whitener: &Whitener) {
        let state = whitener.state();
        let (known, n) = (state.betas.len(), whitener.channels_count());
        self.push("whitener.means", &[known, n, n], &state.means);
        self.push("whitener.matrices", &[known, n, n], &state.whitening);
        self.push("whitener.betas", &[known], &state.betas);
        let pooled = [&state.pooled_mean[..], &state.pooled_whitening].concat();
        self.push("whitener.pooled", &[2, n, n], &pooled);
        let moments = [state.pooled_trace, state.pooled_square];
        self.push("whitener.pooled_moments", &[2], &moments);
    }

    /// The whole file: header with the description, then the tensors.
    pub(super) fn into_bytes<D>(
        mut self,
        format: &str,
        precision: &str,
        description: &D,
    ) -> std::result::Result<Vec<u8>, FileProblem>
    where
        D: Serialize + DeserializeOwned + PartialEq,
    {
        let text = serde_json::to_string(description).map_err(|e| unwritable(&e))?;
        // JSON has no NaN and no infinity: better to notice now than when the file is read.
        let again: D = serde_json::from_str(&text).map_err(|e| unwritable(&e))?;
        if again != *description {
            return Err(FileProblem::Inconsistent(
                "the description of the model does not survive being written".into(),
            ));
        }
        let metadata = json!({
            "format": format,
            "format_version": FORMAT_VERSION.to_string(),
            "library_version": env!("CARGO_PKG_VERSION"),
            "precision": precision,
            "model": text,
        });
        self.header.insert(METADATA.to_owned(), metadata);
        let mut header = serde_json::to_vec(&self.header).map_err(|e| unwritable(&e))?;
        // Values begin at a multiple of eight bytes.
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(self.data);
        Ok(bytes)
    }
}

impl<T: Scalar> Model<T> {
    /// Writes the model to one file; see [`crate::file`] for the format. Whatever happens, the path holds either what it held
    /// before or the whole model.
    ///
    /// ```
    /// # use stiefel_linalg::MatBatch;
    /// # use stiefel_model::net::SpdNetConfig;
    /// # use stiefel_model::train::{Silent, TrainConfig};
    /// # use stiefel_model::{Architecture, Factor, Model, ModelConfig, Preconditioning, Trials};
    /// # let x = MatBatch::from_fn(4, 2, 2, |i, r, c| if r == c { 1.0 + ((i + r) % 3) as f64 } else { 0.2 });
    /// # let labels = Factor::from_labels(["hand", "feet", "hand", "feet"]);
    /// # let trials = Trials::new(x, labels, Factor::from_labels(["s1", "s1", "s2", "s2"]))?;
    /// # let config = ModelConfig {
    /// #     preconditioning: Preconditioning::default(),
    /// #     encoder: None,
    /// #     architecture: Architecture::Spdnet(SpdNetConfig { filters: 1, ..SpdNetConfig::default() }),
    /// #     training: TrainConfig { epochs: 1, ..TrainConfig::default() },
    /// # };
    /// # let folder = std::env::temp_dir().join(format!("stiefel-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("model.safetensors");
    /// let model = Model::<f64>::fit(&trials, &trials, &config, &mut Silent)?;
    /// model.save(&path)?;
    /// assert_eq!(stiefel_model::file::inspect_file(&path)?.precision, "f64");
    /// let again = Model::<f64>::load(&path)?;
    /// assert_eq!(again.evaluate(&trials)?, model.evaluate(&trials)?);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = self.to_bytes().map_err(|problem| problem.at(path))?;
        replace(path, &bytes).map_err(|problem| problem.at(path))
    }

    /// The file as bytes.
    fn to_bytes(&self) -> std::result::Result<Vec<u8>, FileProblem> {
        self.tensors()
            .into_bytes(FORMAT, T::NAME, &self.description())
    }

    fn description(&self) -> Description {
        let whitener = &self.frontend.whitener;
        Description {
            config: self.config,
            sizes: self.sizes,
            channels: self.channels.clone(),
            classes: self.classes.clone(),
            domains: self.domains.clone(),
            domain_trials: (0..self.domains.len())
                .map(|d| whitener.trials_of(d))
                .collect(),
            encoder_between: self
                .frontend
                .encoder
                .as_ref()
                .map(crate::DspEncoder::between),
            scaling: self.scaling.clone(),
            record: self.record.clone(),
        }
    }

    fn tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        let n = self.sizes.channels;
        tensors.push_whitener(&self.frontend.whitener);
        if let Some(encoder) = &self.frontend.encoder {
            let shape = [encoder.inputs(), encoder.outputs()];
            tensors.push("encoder.projection", &shape, encoder.projection().data());
        }
        let (tangent, p) = (self.domain_means.tangent(), n * (n + 1) / 2);
        tensors.push("domains.tangent", &[tangent.count(), p], tangent.data());
        tensors.push_batch("domains.riemannian", self.domain_means.riemannian());
        for parameter in &self.parameters {
            let name = parameter.name;
            tensors.push_batch(&format!("parameter.{name}"), &parameter.value);
            if let Manifold::Cayley { base } = &parameter.manifold {
                tensors.push_batch(&format!("base.{name}"), base);
            }
        }
        tensors
    }
}

fn unwritable(error: &serde_json::Error) -> FileProblem {
    FileProblem::Inconsistent(format!(
        "the description of the model cannot be written (a training record with a value that is not finite?): {error}"
    ))
}

/// A name beside `path` that no other writer uses.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Writes beside the path, waits for the disk, then renames.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> std::result::Result<(), FileProblem> {
    let new = temporary(path);
    let written = write_synced(&new, bytes).and_then(|()| fs::rename(&new, path));
    if let Err(error) = written {
        // The error that matters is the first one.
        let _ = fs::remove_file(&new);
        return Err(FileProblem::io("write it", &error));
    }
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        // The name is safe on disk once its folder is; a file system that cannot do this has renamed all the same.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
