//! Values of every class, as SciPy and h5py write them, and the rule that is proposed.

use super::value::{NumericArray, Value};
use super::*;
use crate::numpy::{Arrays, Values};

fn open(name: &str) -> Source<'static> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    Source::open(folder.join(name)).unwrap()
}

fn variables(name: &str) -> Vec<Variable> {
    read_variables(&mut open(name), &ReadOptions::default()).unwrap()
}

#[test]
fn the_rule_that_is_proposed_fits_the_shapes() {
    let numbers = |name: &str, dims: &[usize]| Variable {
        name: name.into(),
        value: Value::Numeric(NumericArray {
            dims: dims.to_vec(),
            data: vec![0.0; dims.iter().product()],
            complex: false,
        }),
        offset: 0,
    };
    let wide = [numbers("data", &[2, 30])];
    assert_eq!(suggestion(&wide), "signal=data,rate=HZ,axis=channels");
    let tall = [numbers("data", &[30, 2]), numbers("Fs", &[1, 1])];
    assert_eq!(suggestion(&tall), "signal=data,rate=Fs,axis=time");
    let trials = [numbers("X", &[30, 4, 6]), numbers("y", &[1, 6])];
    let rule = "signal=X,rate=HZ,labels=y,axis=time-channels-trials";
    assert_eq!(suggestion(&trials), rule);
    // What is left to be filled in is refused as it stands.
    let error = any::read(
        Path::new("a.mat"),
        &wide,
        &"signal=data,rate=HZ,axis=channels".parse().unwrap(),
        &ReadOptions::default(),
    );
    assert!(error.unwrap_err().to_string().contains("HZ"));
}

#[test]
fn every_class_is_read() {
    for name in ["classes.mat", "classes_compressed.mat"] {
        let variables = variables(&format!("matlab/{name}"));
        let get = |name: &str| &variables.iter().find(|v| v.name == name).unwrap().value;
        for class in [
            "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "single",
            "double",
        ] {
            assert_eq!(
                get(class).numbers().unwrap(),
                [0.0, 3.0, 1.0, 4.0, 2.0, 100.0],
                "{class}"
            );
        }
        assert_eq!(get("logical").numbers().unwrap(), [1.0, 0.0]);
        assert!(matches!(get("complex"), Value::Numeric(a) if a.complex && a.data == [1.0, 3.0]));
        assert_eq!(get("text").strings().unwrap(), ["Größe"]);
        assert_eq!(get("rows").strings().unwrap(), ["ab", "cd"]);
        assert!(get("empty").numbers().unwrap().is_empty());
        assert_eq!(get("nothing").strings().unwrap(), [""; 0]);
        assert_eq!(*get("sparse"), Value::Other("sparse matrix"));
        let Value::Cell(outer) = get("nested") else {
            panic!()
        };
        assert_eq!(outer.cells[0].strings().unwrap(), ["a"]);
        let Value::Cell(inner) = &outer.cells[1] else {
            panic!("{}", outer.cells[1].kind())
        };
        assert_eq!(
            inner
                .cells
                .iter()
                .flat_map(|c| c.numbers().unwrap().to_vec())
                .collect::<Vec<_>>(),
            [0.0, 1.0]
        );
    }
}

#[test]
fn every_kind_of_value_of_matlab_7_3() {
    let found = variables("eeglab/chunks.mat");
    let get = |name: &str| &found.iter().find(|v| v.name == name).unwrap().value;
    let mut arrays = Arrays::open(open("eeglab/chunks.npy"), &ReadOptions::default()).unwrap();
    let Values::Numbers(want) = arrays.array("X").unwrap().unwrap().values else {
        panic!()
    };
    let Value::Numeric(signal) = get("signal") else {
        panic!()
    };
    assert_eq!(signal.dims, [6, 50]);
    // Rows of [6 × 50], the first index running fastest.
    for c in 0..6 {
        for t in 0..50 {
            assert_eq!(signal.data[t * 6 + c], want[c * 50 + t]);
        }
    }
    let Value::Numeric(single) = get("single") else {
        panic!()
    };
    assert!(
        single
            .data
            .iter()
            .zip(&signal.data)
            .all(|(a, b)| *a == f64::from(*b as f32))
    );
    let Value::Numeric(big) = get("big") else {
        panic!()
    };
    assert!(
        big.data
            .iter()
            .zip(&signal.data)
            .all(|(a, b)| *a == b.trunc())
    );
    assert_eq!(get("fs").number(), Some(64.0));
    assert_eq!(get("y").numbers().unwrap(), [1.0, 2.0, 1.0]);
    assert_eq!(get("text").strings().unwrap(), ["Größe"]);
    assert_eq!(get("empty").dims(), [0, 3]);
    assert_eq!(
        get("names").strings().unwrap(),
        ["C3", "Cz", "C4", "P3", "Pz", "P4"]
    );
    assert_eq!(get("unclassed").dims(), [3, 2]);
    // Newer object headers and links.
    assert_eq!(variables("eeglab/latest.mat").len(), 2);
}
