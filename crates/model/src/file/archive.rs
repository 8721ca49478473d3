//! What a model's file holds, said once for writing and for reading.
//!
//! A kind lists its parts in one function, which both ways run through: [`Archive::text`] for what
//! is words and small numbers, [`Archive::tensor`] and its relatives for numbers, with the shapes
//! they must have. Writing takes the values, reading puts them in place, and both check them.

use super::FileProblem;
use super::container::{Dtype, PREFIX, TensorInfo, decode, encode};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use stiefel_geometry::{spd, stiefel};
use stiefel_linalg::{MatBatch, Scalar};

/// A result about a file.
pub type Found<T> = std::result::Result<T, FileProblem>;

/// A model file that is written or read, part by part.
#[derive(Debug)]
pub struct Archive {
    texts: BTreeMap<String, String>,
    tensors: Tensors,
}

#[derive(Debug)]
enum Tensors {
    Written {
        header: Map<String, Value>,
        data: Vec<u8>,
    },
    Read {
        left: BTreeMap<String, TensorInfo>,
        data: Vec<u8>,
        /// Where the data begin in the file.
        start: u64,
    },
}

impl Archive {
    /// Starts a file.
    pub(crate) fn writing() -> Self {
        Self {
            texts: BTreeMap::new(),
            tensors: Tensors::Written {
                header: Map::new(),
                data: Vec::new(),
            },
        }
    }

    /// Opens a file whose table has been checked against its length.
    pub(super) fn reading(
        texts: BTreeMap<String, String>,
        left: BTreeMap<String, TensorInfo>,
        data: Vec<u8>,
        start: u64,
    ) -> Self {
        Self {
            texts,
            tensors: Tensors::Read { left, data, start },
        }
    }

    /// Returns the texts, the descriptions of the tensors, and their bytes.
    pub(super) fn into_parts(self) -> (BTreeMap<String, String>, Map<String, Value>, Vec<u8>) {
        match self.tensors {
            Tensors::Written { header, data } => (self.texts, header, data),
            Tensors::Read { data, .. } => (self.texts, Map::new(), data),
        }
    }

    /// Tells whether a file is read.
    pub fn is_reading(&self) -> bool {
        matches!(self.tensors, Tensors::Read { .. })
    }

    /// Writes or reads a value as JSON text under a key of the header.
    ///
    /// JSON has no NaN and no infinity: what does not survive being written is an error now, not
    /// when the file is read.
    pub fn text<D>(&mut self, key: &str, value: &mut D) -> Found<()>
    where
        D: Serialize + DeserializeOwned + PartialEq,
    {
        if self.is_reading() {
            let text = self.raw(key)?;
            *value = parse(key, text)?;
            return Ok(());
        }
        let text = serde_json::to_string(value).map_err(|e| unwritable(key, &e))?;
        let again: D = serde_json::from_str(&text).map_err(|e| unwritable(key, &e))?;
        if again != *value {
            return Err(FileProblem::Inconsistent(format!(
                "\"{key}\" does not survive being written"
            )));
        }
        self.texts.insert(key.to_owned(), text);
        Ok(())
    }

    /// Returns a text of the header as it stands there.
    pub(crate) fn raw(&self, key: &str) -> Found<&str> {
        let found = self.texts.get(key).map(String::as_str);
        found.ok_or_else(|| FileProblem::NotAModel(format!("its header has no \"{key}\"")))
    }

    /// Adds a text of the header.
    pub(super) fn set_raw(&mut self, key: &str, text: impl Into<String>) {
        self.texts.insert(key.to_owned(), text.into());
    }

    /// Counts the numbers of this type that the file could hold at most.
    pub fn room<T: Scalar>(&self) -> u128 {
        match &self.tensors {
            Tensors::Written { .. } => u128::MAX,
            Tensors::Read { data, .. } => data.len() as u128 / size_of::<T>() as u128,
        }
    }

    /// Writes or reads a tensor of this shape; its values are finite.
    pub fn tensor<T: Scalar>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: &mut Vec<T>,
    ) -> Found<()> {
        let (left, bytes) = match &mut self.tensors {
            Tensors::Written { header, data } => {
                let begin = data.len() as u64;
                encode(values, data);
                let info = TensorInfo {
                    dtype: Dtype::for_scalar::<T>(),
                    shape: shape.iter().map(|&n| n as u64).collect(),
                    data_offsets: [begin, data.len() as u64],
                };
                header.insert(name.to_owned(), json!(info));
                return Ok(());
            }
            Tensors::Read { left, data, .. } => (left, data),
        };
        let Some(info) = left.remove(name) else {
            return Err(self.wrong(name, None, "it is missing".into()));
        };
        let fits = info.shape.len() == shape.len()
            && info.shape.iter().zip(shape).all(|(&a, &b)| a == b as u64);
        if !fits || info.dtype != Dtype::for_scalar::<T>() {
            let (found, dtype, wanted) = (&info.shape, info.dtype, Dtype::for_scalar::<T>());
            let why =
                format!("{dtype:?} of shape {found:?}, expected {wanted:?} of shape {shape:?}");
            return Err(self.wrong(name, Some(&info), why));
        }
        // In range: the table has been checked against the length of the file.
        let [begin, end] = info.data_offsets;
        *values = decode(
            info.dtype,
            bytes.get(begin as usize..end as usize).unwrap_or(&[]),
        );
        match values.iter().position(|v| !Scalar::is_finite(*v)) {
            None => Ok(()),
            Some(at) => {
                let why = format!("value {at} is {}", values[at]);
                Err(self.wrong(name, Some(&info), why))
            }
        }
    }

    /// Writes or reads a batch `count × rows × cols`.
    pub fn batch<T: Scalar>(
        &mut self,
        name: &str,
        (count, rows, cols): (usize, usize, usize),
        x: &mut MatBatch<T>,
    ) -> Found<()> {
        let mut values = std::mem::take(x).into_vec();
        self.tensor(name, &[count, rows, cols], &mut values)?;
        *x = MatBatch::from_vec(count, rows, cols, values).map_err(|e| inconsistent(&e))?;
        Ok(())
    }

    /// Writes or reads one matrix, a tensor of two dimensions.
    pub fn matrix<T: Scalar>(
        &mut self,
        name: &str,
        (rows, cols): (usize, usize),
        x: &mut MatBatch<T>,
    ) -> Found<()> {
        let mut values = std::mem::take(x).into_vec();
        self.tensor(name, &[rows, cols], &mut values)?;
        *x = MatBatch::from_vec(1, rows, cols, values).map_err(|e| inconsistent(&e))?;
        Ok(())
    }

    /// Checks that matrices which have been read are symmetric positive definite.
    pub fn check_spd<T: Scalar>(&self, name: &str, x: &MatBatch<T>) -> Found<()> {
        self.checked(name, || spd::check_spd(x.view()))
    }

    /// Checks that matrices which have been read have orthonormal columns.
    pub fn check_orthonormal<T: Scalar>(&self, name: &str, x: &MatBatch<T>) -> Found<()> {
        self.checked(name, || stiefel::check_orthonormal("model file", x.view()))
    }

    fn checked<E: std::fmt::Display>(
        &self,
        name: &str,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> Found<()> {
        if !self.is_reading() {
            return Ok(());
        }
        check().map_err(|error| self.wrong(name, None, error.to_string()))
    }

    /// Returns an error where a tensor is left that no part of the model has taken.
    pub(crate) fn finish(&self) -> Found<()> {
        let Tensors::Read { left, .. } = &self.tensors else {
            return Ok(());
        };
        match left.first_key_value() {
            None => Ok(()),
            Some((name, info)) => {
                Err(self.wrong(name, Some(info), "the model has no such tensor".into()))
            }
        }
    }

    fn wrong(&self, name: &str, info: Option<&TensorInfo>, why: String) -> FileProblem {
        let start = match &self.tensors {
            Tensors::Read { start, .. } => *start,
            Tensors::Written { .. } => 0,
        };
        FileProblem::Tensor {
            name: name.to_owned(),
            offset: info.map_or(0, |info| start + info.data_offsets[0]),
            why,
        }
    }
}

/// Parses a text of the header.
pub(crate) fn parse<D: DeserializeOwned>(key: &str, text: &str) -> Found<D> {
    serde_json::from_str(text).map_err(|error| FileProblem::Damaged {
        offset: PREFIX,
        why: format!("\"{key}\" of the header: {error}"),
    })
}

/// Parts that do not fit together.
pub(crate) fn inconsistent(error: &dyn std::fmt::Display) -> FileProblem {
    FileProblem::Inconsistent(error.to_string())
}

fn unwritable(key: &str, error: &serde_json::Error) -> FileProblem {
    FileProblem::Inconsistent(format!(
        "\"{key}\" cannot be written (a value that is not finite?): {error}"
    ))
}
