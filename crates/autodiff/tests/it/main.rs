//! The tape against central differences, closed forms and golden files.

mod adam;
mod applied;
mod arithmetic;
mod errors;
mod fused;
mod gelu;
mod golden;
mod riemannian;
mod selection_and_losses;
mod stiefel;
mod tape;
