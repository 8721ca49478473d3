//! The command line `stiefel`.
fn main() {}
