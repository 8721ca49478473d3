//! The tape against central differences, closed forms and golden files.

mod arithmetic;
mod fused;
mod errors;
mod golden;
mod riemannian;
mod selection_and_losses;
mod stiefel;
mod tape;
