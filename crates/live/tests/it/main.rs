//! Live decoding against decisions on whole recordings, and everything that can go wrong with a
//! stream.

mod clock;
mod decisions;
mod lines;
mod page;
mod recipe;
mod safety;
mod sources;
mod study;
mod views;
