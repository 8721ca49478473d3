//! Bad input at the door of every spectral function: typed errors that name the trial and the
//! numbers.

use crate::support::with_spectrum;
use stiefel_geometry::spd::{self, SpectralFn};
use stiefel_geometry::{GeometryError, SpdDefect};
use stiefel_linalg::{LinalgError, MatBatch};
use stiefel_testkit::{random_batch, random_spd};

const NEED_SPD: [SpectralFn<f64>; 4] = [
    SpectralFn::Log,
    SpectralFn::Sqrt,
    SpectralFn::InvSqrt,
    SpectralFn::Pow(0.3),
];

/// Three good trials with the third replaced.
fn third(bad: &MatBatch<f64>) -> MatBatch<f64> {
    let mut x = random_spd::<f64>(1, 3, bad.rows());
    x.matrix_mut(2).copy_from_slice(bad.data());
    x
}

#[test]
fn rank_deficient_by_average_reference() {
    // Centring the channels of a full-rank covariance removes one dimension.
    let n = 6;
    let c = MatBatch::from_fn(1, n, n, |_, r, c| {
        f64::from(u8::from(r == c)) - 1.0 / n as f64
    });
    let x = stiefel_linalg::congruence(c.view(), random_spd::<f64>(2, 1, n).view()).unwrap();
    for f in NEED_SPD {
        let error = spd::spectral_map(f, third(&x).view()).unwrap_err();
        let GeometryError::NotSpd {
            trial: 2,
            size: 6,
            smallest,
            largest,
            defect,
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(defect, SpdDefect::RankDeficient { rank: 5 });
        assert!(smallest.abs() < 1e-14 && largest > 0.5);
        let text = error.to_string();
        for word in [
            "trial 2",
            "rank is 5",
            "average reference",
            "ICA",
            "Ledoit–Wolf",
            "samples",
        ] {
            assert!(text.contains(word), "{text}");
        }
    }
    assert!(spd::map(SpectralFn::ReLog(1e-4), third(&x).view()).is_ok());
    assert!(spd::check_spd(third(&x).view()).is_err());
}

#[test]
fn fewer_samples_than_channels() {
    let g = random_batch::<f64>(3, 1, 8, 5);
    let mut x = stiefel_linalg::product(
        g.view(),
        stiefel_linalg::Op::N,
        g.view(),
        stiefel_linalg::Op::T,
    )
    .unwrap();
    stiefel_linalg::symmetrise(&mut x.view_mut()).unwrap();
    let error = spd::log(x.view()).unwrap_err();
    let expected = SpdDefect::RankDeficient { rank: 5 };
    assert!(
        matches!(error, GeometryError::NotSpd { defect, .. } if defect == expected),
        "{error}"
    );
}

#[test]
fn indefinite_and_zero() {
    let x = with_spectrum(4, 1, &[-0.5, 0.1, 2.0]);
    let error = spd::log(third(&x).view()).unwrap_err();
    let GeometryError::NotSpd {
        trial: 2,
        smallest,
        defect: SpdDefect::Indefinite,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert!((smallest + 0.5).abs() < 1e-14);
    assert!(error.to_string().contains("indefinite"));
    let error = spd::log(MatBatch::<f64>::zeros(1, 3, 3).view()).unwrap_err();
    let expected = SpdDefect::RankDeficient { rank: 0 };
    assert!(
        matches!(error, GeometryError::NotSpd { defect, .. } if defect == expected),
        "{error}"
    );
    let negative = MatBatch::from_fn(1, 1, 1, |_, _, _| -1.0_f64);
    assert!(matches!(
        spd::sqrt(negative.view()),
        Err(GeometryError::NotSpd {
            defect: SpdDefect::Indefinite,
            ..
        })
    ));
}

#[test]
fn scale_does_not_matter() {
    // Volts or microvolts: the check is relative.
    for scale in [1e-14, 1.0, 1e12] {
        let x = with_spectrum(5, 1, &[1e-10 * scale, scale, 2.0 * scale]);
        assert!(spd::check_spd(x.view()).is_ok(), "{scale}");
        let x = with_spectrum(5, 1, &[1e-17 * scale, scale, 2.0 * scale]);
        assert!(spd::check_spd(x.view()).is_err(), "{scale}");
    }
}

#[test]
fn not_a_number_and_infinity() {
    for (value, f) in [
        (f64::NAN, SpectralFn::Log),
        (f64::INFINITY, SpectralFn::ReLog(1e-4)),
    ] {
        let mut x = random_spd::<f64>(6, 2, 3);
        x.matrix_mut(1)[5] = value;
        let error = spd::spectral_map(f, x.view()).unwrap_err();
        let expected = (1, 1, 2);
        assert!(
            matches!(error, GeometryError::Linalg(LinalgError::NotFinite { matrix, row, col, .. })
                if (matrix, row, col) == expected),
            "{error}"
        );
    }
}

#[test]
fn the_floor_is_n_epsilon_at_every_size() {
    for n in [2_usize, 3, 5, 9] {
        let smallest = |times: f64| {
            MatBatch::from_fn(1, n, n, |_, r, c| match (r == c, r) {
                (true, 0) => times * n as f64 * f64::EPSILON,
                (true, _) => 1.0,
                (false, _) => 0.0,
            })
        };
        assert!(spd::check_spd(smallest(1.01).view()).is_ok(), "{n}");
        assert!(spd::check_spd(smallest(0.99).view()).is_err(), "{n}");
    }
}

#[test]
fn asymmetric() {
    let mut x = random_spd::<f64>(7, 2, 4);
    x.matrix_mut(1)[4 + 3] += 1e-3;
    let (upper, lower) = (x.get(1, 1, 3), x.get(1, 3, 1));
    let error = spd::log(x.view()).unwrap_err();
    let expected = GeometryError::Asymmetric {
        op: "matrix logarithm",
        trial: 1,
        row: 3,
        col: 1,
        lower,
        upper,
    };
    assert_eq!(error, expected);
    // Rounding is let through.
    let mut x = random_spd::<f64>(7, 2, 4);
    x.matrix_mut(1)[4 + 3] += 1e-14;
    assert!(spd::log(x.view()).is_ok());
    let mut x = random_spd::<f32>(7, 2, 4);
    x.matrix_mut(1)[4 + 3] += 1e-6;
    assert!(spd::log(x.view()).is_ok());
}

#[test]
fn shapes_and_parameters() {
    let shape = |e: GeometryError| matches!(e, GeometryError::Linalg(LinalgError::Shape { .. }));
    assert!(shape(
        spd::log(MatBatch::<f64>::zeros(1, 2, 3).view()).unwrap_err()
    ));
    assert!(shape(
        spd::log(MatBatch::<f64>::zeros(1, 0, 0).view()).unwrap_err()
    ));
    assert!(shape(
        spd::check_spd(MatBatch::<f64>::zeros(2, 0, 0).view()).unwrap_err()
    ));
    let x = random_spd::<f64>(8, 2, 3);
    let map = spd::spectral_map(SpectralFn::Log, x.view()).unwrap();
    assert!(shape(
        map.pull_back(MatBatch::zeros(1, 3, 3).view()).unwrap_err()
    ));
    assert!(shape(
        map.pull_back(MatBatch::zeros(2, 3, 2).view()).unwrap_err()
    ));
    let mut torn = map.eigen;
    torn.values.pop();
    assert!(shape(spd::apply(SpectralFn::Exp, &torn).unwrap_err()));
    for f in [
        SpectralFn::Pow(f64::NAN),
        SpectralFn::ReEig(0.0),
        SpectralFn::ReEig(-1.0),
        SpectralFn::ReLog(f64::NAN),
        SpectralFn::ReLog(f64::INFINITY),
    ] {
        let error = spd::spectral_map(f, x.view()).unwrap_err();
        assert!(matches!(error, GeometryError::Parameter { .. }), "{error}");
    }
}
