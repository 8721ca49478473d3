//! What the tests of several crates share: golden files, random matrices, finite differences and
//! comparisons that say how far off a value is. It panics freely: it is only ever used in tests.

mod compare;
mod golden;
mod random;

pub use compare::{assert_close, central_difference, relative_error};
pub use golden::Golden;
pub use random::{normal, random_batch, random_spd, random_symmetric, rng};
