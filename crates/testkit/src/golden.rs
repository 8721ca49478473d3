//! Arrays of the files in `golden/`.

use ndarray::{ArrayD, OwnedRepr};
use ndarray_npy::NpzReader;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use stiefel_linalg::{MatBatch, Scalar};

/// One golden file: named arrays.
#[derive(Debug)]
pub struct Golden {
    name: String,
    floats: BTreeMap<String, ArrayD<f64>>,
    integers: BTreeMap<String, ArrayD<i64>>,
}

impl Golden {
    /// Reads `golden/<name>.npz`.
    pub fn open(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../golden")
            .join(format!("{name}.npz"));
        let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut npz = NpzReader::new(file).expect("a zip archive");
        let mut golden = Self {
            name: name.into(),
            floats: BTreeMap::new(),
            integers: BTreeMap::new(),
        };
        for key in npz.names().expect("names") {
            let short = key.trim_end_matches(".npy").to_owned();
            let float = npz.by_name::<OwnedRepr<f64>, ndarray::IxDyn>(&key);
            if let Ok(a) = float {
                golden.floats.insert(short, a);
            } else if let Ok(a) = npz.by_name::<OwnedRepr<i64>, ndarray::IxDyn>(&key) {
                golden.integers.insert(short, a);
            }
        }
        golden
    }

    /// Whether there is a floating-point array of that name.
    pub fn has(&self, key: &str) -> bool {
        self.floats.contains_key(key)
    }

    /// The names of all floating-point arrays.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.floats.keys().map(String::as_str)
    }

    fn float(&self, key: &str) -> &ArrayD<f64> {
        self.floats
            .get(key)
            .unwrap_or_else(|| panic!("{}.npz has no array {key}", self.name))
    }

    /// An array as a flat vector, C order.
    pub fn vec(&self, key: &str) -> Vec<f64> {
        self.float(key).iter().copied().collect()
    }

    /// The only value of an array of one.
    pub fn scalar(&self, key: &str) -> f64 {
        let v = self.vec(key);
        assert_eq!(v.len(), 1, "{key} of {} is not one value", self.name);
        v[0]
    }

    /// The shape of an array.
    pub fn shape(&self, key: &str) -> Vec<usize> {
        self.float(key).shape().to_vec()
    }

    /// An integer array as indices.
    pub fn indices(&self, key: &str) -> Vec<usize> {
        let a = self
            .integers
            .get(key)
            .unwrap_or_else(|| panic!("{} has no {key}", self.name));
        a.iter()
            .map(|&x| usize::try_from(x).expect("an index"))
            .collect()
    }

    /// An array of one, two or three dimensions as a batch; a vector becomes one row, a matrix a
    /// batch of one.
    pub fn batch<T: Scalar>(&self, key: &str) -> MatBatch<T> {
        let (count, rows, cols) = match self.shape(key)[..] {
            [c] => (1, 1, c),
            [r, c] => (1, r, c),
            [b, r, c] => (b, r, c),
            ref other => panic!("{key} of {} has shape {other:?}", self.name),
        };
        let values = self.vec(key).into_iter().map(T::from_f64).collect();
        MatBatch::from_vec(count, rows, cols, values).expect("a matching shape")
    }
}
