//! MATLAB 7.3 files: MATLAB's values in HDF5.
//!
//! ```text
//! MATLAB_class on a dataset: double … uint64, logical ─▶ numbers    char ─▶ UTF-16 numbers    cell ─▶ references
//! a group ─▶ a struct; where its members are references without a class ─▶ an array of structs, field by field
//! ```
//!
//! HDF5's last index runs fastest and MATLAB's first: the same values in the same order, sizes the
//! other way round.

use super::matrix::rows;
use super::value::{CellArray, CharArray, NumericArray, StructArray, Value};
use super::variables::Variable;
use crate::hdf5::{Array, Element, File, Object};
use crate::{FormatError, Result};
use crate::{ReadOptions, Source};

/// Cells in cells in structs … deeper than this are no data.
const DEEPEST: usize = 32;

/// Reads all variables of a file whose superblock is at `start`.
pub(super) fn read_variables(
    source: &mut Source<'_>,
    start: u64,
    options: &ReadOptions,
) -> Result<Vec<Variable>> {
    let mut file = File::open(source, start, options)?;
    let root = file.object(file.root())?;
    let mut variables = Vec::new();
    let members = file.members(&root)?;
    // MATLAB puts a text of its own before the superblock.
    if start == 0 && members.iter().any(|(name, _)| is_nirs(name)) {
        return Err(FormatError::Unsupported {
            path: source.path().to_path_buf(),
            kind: "SNIRF, near-infrared light (fNIRS)".into(),
            remedy: "give the EEG that was recorded beside it, or read the light with MNE: \
                     mne.io.read_raw_snirf"
                .into(),
        });
    }
    for (name, address) in members {
        // What MATLAB keeps beside the variables.
        if name.starts_with('#') {
            continue;
        }
        variables.push(Variable {
            name,
            offset: start.saturating_add(address),
            value: value(&mut file, address, 0)?,
        });
    }
    Ok(variables)
}

/// Whether a group is one of those that hold the data of SNIRF: `nirs`, `nirs1`, `nirs2`, …
fn is_nirs(name: &str) -> bool {
    let number = name.strip_prefix("nirs");
    number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

fn value(file: &mut File<'_, '_>, address: u64, depth: usize) -> Result<Value> {
    if depth > DEEPEST {
        return Err(file.malformed(address, format!("values are nested deeper than {DEEPEST}")));
    }
    let object = file.object(address)?;
    if object.is_dataset() {
        dataset(file, &object, depth)
    } else {
        group(file, &object, depth)
    }
}

fn group(file: &mut File<'_, '_>, object: &Object, depth: usize) -> Result<Value> {
    let members = file.members(object)?;
    let mut fields = Vec::with_capacity(members.len());
    let mut columns: Vec<(Vec<usize>, Vec<Value>)> = Vec::with_capacity(members.len());
    for (name, address) in members {
        let member = file.object(address)?;
        let listed = member.is_dataset() && member.text("MATLAB_class").is_none();
        let array = if listed {
            Some(file.dataset(&member)?)
        } else {
            None
        };
        let column = match array {
            Some(array) if array.element == Element::Reference => {
                let dims = sizes(&array);
                (dims, referred(file, &array, depth)?)
            }
            Some(array) => (vec![1, 1], vec![plain(&member, &array)]),
            None => (vec![1, 1], vec![value(file, address, depth + 1)?]),
        };
        fields.push(name);
        columns.push(column);
    }
    let dims = columns.first().map_or(vec![1, 1], |c| c.0.clone());
    let count = columns.first().map_or(1, |c| c.1.len());
    if columns.iter().any(|c| c.1.len() != count) {
        return Err(file.malformed(
            object.address,
            "the fields of an array of structs differ in length",
        ));
    }
    let mut columns: Vec<_> = columns.into_iter().map(|c| c.1.into_iter()).collect();
    let mut values = Vec::with_capacity(count * columns.len());
    for _ in 0..count {
        values.extend(columns.iter_mut().filter_map(Iterator::next));
    }
    Ok(Value::Struct(StructArray {
        dims,
        fields,
        values,
    }))
}

fn dataset(file: &mut File<'_, '_>, object: &Object, depth: usize) -> Result<Value> {
    let array = file.dataset(object)?;
    let empty = object
        .attribute("MATLAB_empty")
        .is_some_and(|b| b.first() == Some(&1));
    match array.element {
        Element::Reference if !empty => Ok(Value::Cell(CellArray {
            dims: sizes(&array),
            cells: referred(file, &array, depth)?,
        })),
        _ => Ok(plain(object, &array)),
    }
}

fn referred(file: &mut File<'_, '_>, array: &Array, depth: usize) -> Result<Vec<Value>> {
    let addresses = array.references();
    addresses
        .into_iter()
        .map(|a| value(file, a, depth + 1))
        .collect()
}

/// Numbers and text.
fn plain(object: &Object, array: &Array) -> Value {
    let class = object.text("MATLAB_class").unwrap_or_default();
    let empty = object
        .attribute("MATLAB_empty")
        .is_some_and(|b| b.first() == Some(&1));
    let numbers = array.numbers();
    if empty {
        // The values are the sizes.
        let dims: Vec<usize> = (numbers.unwrap_or_default().iter())
            .map(|&d| d as usize)
            .collect();
        return match class.as_str() {
            "char" => Value::Char(CharArray { rows: Vec::new() }),
            "cell" => Value::Cell(CellArray {
                dims,
                cells: Vec::new(),
            }),
            "struct" => Value::Struct(StructArray {
                dims,
                fields: Vec::new(),
                values: Vec::new(),
            }),
            _ => Value::Numeric(NumericArray {
                dims,
                data: Vec::new(),
                complex: false,
            }),
        };
    }
    let dims = sizes(array);
    match (numbers, class.as_str()) {
        (Some(codes), "char") => {
            let units: Vec<u16> = codes.iter().map(|&c| c as u16).collect();
            let chars: Vec<char> = char::decode_utf16(units)
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            let count = dims.first().copied().unwrap_or(1);
            Value::Char(CharArray {
                rows: rows(&chars, count),
            })
        }
        (Some(data), _) => Value::Numeric(NumericArray {
            dims,
            data,
            complex: matches!(array.element, Element::Complex { .. }),
        }),
        (None, _) if array.element == Element::Text => {
            let text = |bytes: &[u8]| crate::units::text(bytes);
            let rows = array.bytes.chunks_exact(array.size.max(1)).map(text);
            Value::Char(CharArray {
                rows: rows.collect(),
            })
        }
        (None, _) => Value::Other("list of references"),
    }
}

/// MATLAB's sizes: the other way round, at least two.
fn sizes(array: &Array) -> Vec<usize> {
    let mut dims: Vec<usize> = array.dims.iter().rev().map(|&d| d as usize).collect();
    while dims.len() < 2 {
        dims.push(1);
    }
    dims
}
