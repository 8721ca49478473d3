//! Reading: header, then tensors, each checked against the architecture before a model is made of them.

use super::container::{CHECKSUM, Dtype, PREFIX, Table, checksum, decode};
use super::header::{Description, FORMAT, Metadata, POOLED_FORMAT, VIEWS_FORMAT};
use super::pooled::PooledDescription;
use super::views::ViewsDescription;
use super::write::whitener_tensor;
use super::{FileProblem, TensorInfo};
use crate::dsp::DspState;
use crate::fitted::Kind;
use crate::means::DomainMeans;
use crate::precondition::WhitenerState;
use crate::{
    DspEncoder, FittedModel, Frontend, Manifold, Model, ModelError, Parameters, Preconditioning,
    Result, Whitener,
};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use stiefel_data::check_distinct;
use stiefel_geometry::{spd, stiefel};
use stiefel_linalg::{MatBatch, MatView, Scalar};

pub(super) type Found<T> = std::result::Result<T, FileProblem>;

impl FittedModel {
    /// Reads a model file, whatever its kind and precision.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        read(path).map_err(|problem| problem.at(path))
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, FileProblem> {
        fitted(open_in(Box::new(bytes), bytes.len() as u64)?)
    }
}

/// A file whose table of tensors has been read and checked.
pub(super) struct Opened<'r> {
    reader: Box<dyn Read + 'r>,
    /// Length and header as they stand in the file.
    head: Vec<u8>,
    pub(super) table: Table,
    length: u64,
}

impl Opened<'_> {
    /// Reads the tensors, and checks every byte of the file against its checksum; files of version 1 have none.
    pub(super) fn source(mut self, format_version: u64) -> Found<Source> {
        let start = self.head.len() as u64;
        let mut data = vec![0; (self.length - start) as usize];
        (self.reader.read_exact(&mut data)).map_err(|error| FileProblem::io("read it", &error))?;
        match self.table.metadata.get(CHECKSUM) {
            Some(expected) => {
                let found = checksum(&mut self.head, &data);
                if found != *expected {
                    return Err(FileProblem::Checksum {
                        expected: expected.clone(),
                        found,
                    });
                }
            }
            None if format_version == 1 => {}
            None => {
                return Err(FileProblem::Damaged {
                    offset: PREFIX,
                    why: "the checksum is missing".into(),
                });
            }
        }
        Ok(Source {
            tensors: self.table.tensors,
            data,
            start,
        })
    }
}

pub(super) fn open(path: &Path) -> Found<Opened<'static>> {
    let io = |doing| move |error: std::io::Error| FileProblem::io(doing, &error);
    let file = File::open(path).map_err(io("open it"))?;
    let about = file.metadata().map_err(io("ask for its size"))?;
    if !about.is_file() {
        return Err(FileProblem::NotAModel("it is not a regular file".into()));
    }
    open_in(Box::new(file), about.len())
}

fn open_in<'r>(mut reader: Box<dyn Read + 'r>, length: u64) -> Found<Opened<'r>> {
    let io = |error: std::io::Error| FileProblem::io("read it", &error);
    let mut head = vec![0; PREFIX as usize];
    if length < PREFIX {
        return Err(FileProblem::NotAModel(format!("it has {length} bytes")));
    }
    reader.read_exact(&mut head).map_err(io)?;
    let mut prefix = [0; PREFIX as usize];
    prefix.copy_from_slice(&head);
    let size = u64::from_le_bytes(prefix);
    let start = size.saturating_add(PREFIX);
    if start > length {
        // What begins like another kind of file was not cut off.
        let mut brace = [0];
        return Err(match reader.read_exact(&mut brace) {
            Ok(()) if brace != *b"{" => {
                FileProblem::NotAModel("it does not begin with a header".into())
            }
            _ => FileProblem::Length {
                expected: start,
                found: length,
            },
        });
    }
    // Bounded by the size of the file.
    head.resize(start as usize, 0);
    let text = &mut head[PREFIX as usize..];
    reader.read_exact(text).map_err(io)?;
    let table: Table = serde_json::from_slice(text).map_err(|error| FileProblem::Damaged {
        offset: PREFIX,
        why: format!("the header: {error}"),
    })?;
    table.check(start, length)?;
    Ok(Opened {
        reader,
        head,
        table,
        length,
    })
}

fn read(path: &Path) -> Found<FittedModel> {
    fitted(open(path)?)
}

fn fitted(opened: Opened<'_>) -> Found<FittedModel> {
    let format = opened.table.metadata.get("format");
    if format.is_some_and(|format| format == POOLED_FORMAT) {
        let found = Metadata::<PooledDescription>::read(&opened.table, POOLED_FORMAT)?;
        let mut source = opened.source(found.format_version)?;
        let model = super::pooled::assemble(found.model, &mut source)?;
        return Ok(FittedModel {
            kind: Kind::Preset(Arc::new(model)),
            about: found.about,
        });
    }
    if format.is_some_and(|format| format == VIEWS_FORMAT) {
        let found = Metadata::<ViewsDescription>::read(&opened.table, VIEWS_FORMAT)?;
        let mut source = opened.source(found.format_version)?;
        let model = super::views::assemble(found.model, &mut source)?;
        return Ok(FittedModel {
            kind: Kind::Views(Arc::new(model)),
            about: found.about,
        });
    }
    // Any other kind is refused there, by name.
    let Metadata {
        format_version,
        precision,
        model,
        about,
        ..
    } = Metadata::<Description>::read(&opened.table, FORMAT)?;
    let mut source = opened.source(format_version)?;
    let kind = match precision.as_str() {
        "f32" => Kind::Single(Arc::new(assemble(model, &mut source)?)),
        "f64" => Kind::Double(Arc::new(assemble(model, &mut source)?)),
        _ => {
            return Err(FileProblem::Inconsistent(format!(
                "its precision is \"{precision}\""
            )));
        }
    };
    Ok(FittedModel { kind, about })
}

/// The tensors not yet taken.
pub(super) struct Source {
    tensors: std::collections::BTreeMap<String, TensorInfo>,
    data: Vec<u8>,
    start: u64,
}

impl Source {
    /// Takes the tensor called `name`, which must have this shape and type, and finite values.
    pub(super) fn take<T: Scalar>(&mut self, name: &str, shape: &[usize]) -> Found<Vec<T>> {
        let Some(info) = self.tensors.remove(name) else {
            return Err(self.wrong(name, None, "it is missing".into()));
        };
        let fits = info.shape.len() == shape.len()
            && info.shape.iter().zip(shape).all(|(&a, &b)| a == b as u64);
        if !fits || info.dtype != Dtype::of::<T>() {
            let (found, dtype, wanted) = (&info.shape, info.dtype, Dtype::of::<T>());
            let why =
                format!("{dtype:?} of shape {found:?}, expected {wanted:?} of shape {shape:?}");
            return Err(self.wrong(name, Some(&info), why));
        }
        // In range: the table has been checked against the length of the file.
        let [begin, end] = info.data_offsets;
        let bytes = self.data.get(begin as usize..end as usize).unwrap_or(&[]);
        let values: Vec<T> = decode(info.dtype, bytes);
        match values.iter().position(|v| !Scalar::is_finite(*v)) {
            None => Ok(values),
            Some(at) => {
                let why = format!("value {at} is {}", values[at]);
                Err(self.wrong(name, Some(&info), why))
            }
        }
    }

    pub(super) fn take_batch<T: Scalar>(
        &mut self,
        name: &str,
        (count, rows, cols): (usize, usize, usize),
    ) -> Found<MatBatch<T>> {
        let values = self.take(name, &[count, rows, cols])?;
        MatBatch::from_vec(count, rows, cols, values).map_err(|e| inconsistent(&e))
    }

    /// An error where a tensor is left.
    pub(super) fn finish(&self) -> Found<()> {
        let Some((name, info)) = self.tensors.first_key_value() else {
            return Ok(());
        };
        Err(self.wrong(name, Some(info), "the model has no such tensor".into()))
    }

    fn wrong(&self, name: &str, info: Option<&TensorInfo>, why: String) -> FileProblem {
        FileProblem::Tensor {
            name: name.to_owned(),
            offset: info.map_or(0, |info| self.start + info.data_offsets[0]),
            why,
        }
    }
}

pub(super) fn inconsistent(error: &dyn std::fmt::Display) -> FileProblem {
    FileProblem::Inconsistent(error.to_string())
}

/// The model of a description and its tensors.
fn assemble<T: Scalar>(about: Description, source: &mut Source) -> Found<Model<T>> {
    check_lists(&about).map_err(|e| inconsistent(&e))?;
    let whitened = Whitened {
        config: about.config.preconditioning,
        n: about.sizes.channels,
        channels: about.channels.as_deref(),
        domains: &about.domains,
        trials: &about.domain_trials,
    };
    let broad = whitener(&whitened, 0, source)?;
    let further: Found<Vec<Whitener>> = (1..about.sizes.views)
        .map(|view| whitener(&whitened, view, source))
        .collect();
    let further = further?;
    let encoder = encoder(&about, source)?;
    let n = about.sizes.channels;
    let known = about.known_domains();
    let p = n * (n + 1) / 2;
    let tangent = source.take("domains.tangent", &[known.len(), p])?;
    let riemannian: Vec<f64> = source.take("domains.riemannian", &[known.len(), n, n])?;
    MatView::new(known.len(), n, n, &riemannian)
        .map_err(ModelError::from)
        .and_then(|means| Ok(spd::check_spd(means)?))
        .map_err(|e| inconsistent(&e))?;
    let domain_means =
        DomainMeans::from_parts(known, n, tangent, riemannian).map_err(|e| inconsistent(&e))?;
    let routing = match source
        .tensors
        .get("domains.routing")
        .map(|t| t.shape.clone())
    {
        Some(shape) if shape.len() == 2 && about.routes(shape[0], shape[1]) => {
            let (rows, cols) = (shape[0] as usize, shape[1] as usize);
            let values = source.take("domains.routing", &[rows, cols])?;
            Some(MatBatch::from_vec(1, rows, cols, values).map_err(|e| inconsistent(&e))?)
        }
        _ => None,
    };
    let promised = about.numbers();
    if promised > source.data.len() as u128 / size_of::<T>() as u128 {
        return Err(FileProblem::Inconsistent(format!(
            "the architecture has at least {promised} numbers, the file {} bytes",
            source.data.len()
        )));
    }
    let network =
        (about.config.architecture.network::<T>(about.sizes)).map_err(|e| inconsistent(&e))?;
    let mut parameters = network.initial(0);
    fill(&mut parameters, source)?;
    source.finish()?;
    Ok(Model {
        config: about.config,
        sizes: about.sizes,
        frontend: Frontend {
            whitener: broad,
            further,
            encoder,
        },
        domain_means,
        routing,
        validation: None,
        network,
        parameters,
        classes: about.classes,
        domains: about.domains,
        channels: about.channels,
        scaling: about.scaling,
        record: about.record,
    })
}

/// Names are distinct and as many as the sizes say.
fn check_lists(about: &Description) -> Result<()> {
    let s = &about.sizes;
    let op = "model file";
    about.config.training.check()?;
    check_distinct("classes", &about.classes)?;
    check_distinct("channels", about.channels.as_deref().unwrap_or(&[]))?;
    let tangent = s.channels.saturating_mul(s.channels.saturating_add(1)) / 2;
    let with_encoder = usize::from(about.config.encoder.is_some());
    for (what, expected, found) in [
        ("classes", s.classes, about.classes.len()),
        ("domains", s.domains, about.domains.len()),
        ("numbers of trials", s.domains, about.domain_trials.len()),
        (
            "encoders",
            with_encoder,
            usize::from(about.encoder_between.is_some()),
        ),
        (
            "columns of the query without encoder",
            tangent,
            if with_encoder == 0 {
                s.encoded
            } else {
                tangent
            },
        ),
    ] {
        if expected != found {
            return Err(ModelError::Count {
                op,
                what,
                expected,
                found,
            });
        }
    }
    Ok(())
}

/// What a description says about whitening.
pub(super) struct Whitened<'a> {
    pub(super) config: Preconditioning,
    pub(super) n: usize,
    pub(super) channels: Option<&'a [String]>,
    pub(super) domains: &'a [String],
    pub(super) trials: &'a [usize],
}

pub(super) fn whitener(about: &Whitened<'_>, view: usize, source: &mut Source) -> Found<Whitener> {
    let (n, known) = (about.n, about.trials.iter().filter(|t| **t > 0).count());
    let name = |of: &str| whitener_tensor(view, of);
    let means = source.take(&name("means"), &[known, n, n])?;
    let whitening = source.take(&name("matrices"), &[known, n, n])?;
    let betas = source.take(&name("betas"), &[known])?;
    let mut pooled_mean: Vec<f64> = source.take(&name("pooled"), &[2, n, n])?;
    let pooled_whitening = pooled_mean.split_off(pooled_mean.len() / 2);
    let moments: Vec<f64> = source.take(&name("pooled_moments"), &[2])?;
    let state = WhitenerState {
        config: about.config,
        n,
        channels: about.channels.map(<[String]>::to_vec),
        domains: about.domains.to_vec(),
        trials: about.trials.to_vec(),
        means,
        whitening,
        betas,
        pooled_mean,
        pooled_whitening,
        pooled_trace: moments[0],
        pooled_square: moments[1],
    };
    Whitener::from_state(&state).map_err(|e| inconsistent(&e))
}

fn encoder(about: &Description, source: &mut Source) -> Found<Option<DspEncoder>> {
    let Some(between) = about.encoder_between else {
        return Ok(None);
    };
    // In range: n² numbers have been read.
    let n = about.sizes.channels;
    let (inputs, outputs) = (n * (n + 1) / 2, about.sizes.encoded);
    let state = DspState {
        inputs,
        outputs,
        between,
        projection: source.take("encoder.projection", &[inputs, outputs])?,
    };
    let encoder = DspEncoder::from_state(&state).map_err(|e| inconsistent(&e))?;
    Ok(Some(encoder))
}

/// Replaces first values by those of the file.
fn fill<T: Scalar>(parameters: &mut Parameters<T>, source: &mut Source) -> Found<()> {
    for parameter in parameters {
        let name = format!("parameter.{}", parameter.name);
        let info = source.tensors.get(&name).cloned();
        parameter.value = source.take_batch(&name, parameter.value.shape())?;
        match &mut parameter.manifold {
            Manifold::Euclidean => {}
            // Running means and dispersions: positive definite both, the latter as 1 × 1 matrices.
            Manifold::State => spd::check_spd(parameter.value.view())
                .map_err(|e| source.wrong(&name, info.as_ref(), e.to_string()))?,
            Manifold::Stiefel => stiefel::check_orthonormal("model file", parameter.value.view())
                .map_err(|e| source.wrong(&name, info.as_ref(), e.to_string()))?,
            Manifold::Cayley { base } => {
                let name = format!("base.{}", parameter.name);
                let info = source.tensors.get(&name).cloned();
                *base = source.take_batch(&name, base.shape())?;
                stiefel::check_orthonormal("model file", base.view())
                    .map_err(|e| source.wrong(&name, info.as_ref(), e.to_string()))?;
            }
        }
    }
    Ok(())
}
