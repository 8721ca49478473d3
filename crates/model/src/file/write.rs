//! Writing: the whole file in memory, then to disk under another name, then renamed, so that a reader never sees half a model.

use super::FileProblem;
use super::container::{BLANK, CHECKSUM, Dtype, METADATA, TensorInfo, encode, seal};
use super::header::{Description, FORMAT, FORMAT_VERSION, POOLED_FORMAT, VIEWS_FORMAT};
use super::read::inconsistent;
use crate::fitted::{About, Kind};
use crate::{FittedModel, Manifold, Model, Result, Whitener};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::path::Path;
use stiefel_data::{writable, write_whole};
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

    pub(super) fn push_whitener(&mut self, view: usize, whitener: &Whitener) {
        let state = whitener.state();
        let (known, n) = (state.betas.len(), whitener.channels_count());
        let name = |of: &str| whitener_tensor(view, of);
        self.push(&name("means"), &[known, n, n], &state.means);
        self.push(&name("matrices"), &[known, n, n], &state.whitening);
        self.push(&name("betas"), &[known], &state.betas);
        let pooled = [&state.pooled_mean[..], &state.pooled_whitening].concat();
        self.push(&name("pooled"), &[2, n, n], &pooled);
        let moments = [state.pooled_trace, state.pooled_square];
        self.push(&name("pooled_moments"), &[2], &moments);
    }

    /// The whole file: header with the description, then the tensors.
    pub(super) fn into_bytes<D>(
        mut self,
        format: &str,
        precision: &str,
        description: &D,
        about: &About,
    ) -> std::result::Result<Vec<u8>, FileProblem>
    where
        D: Serialize + DeserializeOwned + PartialEq,
    {
        let metadata = json!({
            "format": format,
            "format_version": FORMAT_VERSION.to_string(),
            "library_version": env!("CARGO_PKG_VERSION"),
            "precision": precision,
            "model": said(description)?,
            "about": said(about)?,
            CHECKSUM: BLANK,
        });
        self.header.insert(METADATA.to_owned(), metadata);
        let mut header = serde_json::to_vec(&self.header).map_err(|e| unwritable(&e))?;
        // Values begin at a multiple of eight bytes.
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(self.data);
        seal(&mut bytes);
        Ok(bytes)
    }
}

/// What a tensor of a view's whitener is called; of the broad view as in files of one view.
pub(super) fn whitener_tensor(view: usize, of: &str) -> String {
    match view {
        0 => format!("whitener.{of}"),
        v => format!("view.{v}.whitener.{of}"),
    }
}

impl FittedModel {
    /// Writes the model file, whole or not at all. Symbolic links are followed; what is there and is no regular file is refused, and so is a
    /// file that is there already, unless it may be overwritten.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), stiefel_model::ModelError> {
    /// let model = stiefel_model::FittedModel::load("model.stiefel")?;
    /// model.save("copy.stiefel", false)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn save(&self, path: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        let path = path.as_ref();
        let io = |error: &std::io::Error| FileProblem::io("write it", error).at(path);
        let target = writable(path).map_err(|e| io(&e))?;
        if !overwrite && target.exists() {
            return Err(FileProblem::Exists.at(path));
        }
        let bytes = self.to_bytes().map_err(|problem| problem.at(path))?;
        write_whole(&target, &bytes).map_err(|e| io(&e))
    }

    /// The model file as bytes.
    pub fn to_bytes(&self) -> std::result::Result<Vec<u8>, FileProblem> {
        let about = &self.about;
        match &self.kind {
            Kind::Single(m) => (m.tensors()?).into_bytes(FORMAT, "f32", &m.description(), about),
            Kind::Double(m) => (m.tensors()?).into_bytes(FORMAT, "f64", &m.description(), about),
            Kind::Preset(p) => {
                (p.tensors()).into_bytes(POOLED_FORMAT, "f64", &p.description(), about)
            }
            Kind::Views(v) => {
                (v.tensors()).into_bytes(VIEWS_FORMAT, "f64", &v.description(), about)
            }
        }
    }
}

impl<T: Scalar> Model<T> {
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

    fn tensors(&self) -> std::result::Result<Tensors, FileProblem> {
        let mut tensors = Tensors::default();
        let n = self.sizes.channels;
        for (view, whitener) in self.frontend.whiteners().enumerate() {
            tensors.push_whitener(view, whitener);
        }
        if let Some(encoder) = &self.frontend.encoder {
            let shape = [encoder.inputs(), encoder.outputs()];
            tensors.push("encoder.projection", &shape, encoder.projection().data());
        }
        let (tangent, p) = (self.domain_means.tangent(), n * (n + 1) / 2);
        tensors.push("domains.tangent", &[tangent.count(), p], tangent.data());
        let riemannian = self.domain_means.riemannian();
        tensors.push_batch(
            "domains.riemannian",
            riemannian.map_err(|e| inconsistent(&e))?,
        );
        if let Some(routing) = &self.routing {
            tensors.push(
                "domains.routing",
                &[routing.rows(), routing.cols()],
                routing.data(),
            );
        }
        for parameter in &self.parameters {
            let name = parameter.name;
            tensors.push_batch(&format!("parameter.{name}"), &parameter.value);
            if let Manifold::Cayley { base } = &parameter.manifold {
                tensors.push_batch(&format!("base.{name}"), base);
            }
        }
        Ok(tensors)
    }
}

/// As JSON text. JSON has no NaN and no infinity: better to notice now than when the file is read.
fn said<D>(description: &D) -> std::result::Result<String, FileProblem>
where
    D: Serialize + DeserializeOwned + PartialEq,
{
    let text = serde_json::to_string(description).map_err(|e| unwritable(&e))?;
    let again: D = serde_json::from_str(&text).map_err(|e| unwritable(&e))?;
    if again == *description {
        return Ok(text);
    }
    Err(FileProblem::Inconsistent(
        "the description of the model does not survive being written".into(),
    ))
}

fn unwritable(error: &serde_json::Error) -> FileProblem {
    FileProblem::Inconsistent(format!(
        "the description of the model cannot be written (a training record with a value that is not finite?): {error}"
    ))
}
