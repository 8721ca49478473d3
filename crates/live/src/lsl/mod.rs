//! The Lab Streaming Layer: streams of samples and markers in the local network, by way of its own
//! library.
//!
//! `liblsl` (MIT) is loaded at run time; nothing is linked, and without it everything else works.
//! Everything unsafe is in this module and its children: calls of C functions with handles that
//! live as long as the value that owns them.

mod inlet;
mod library;
mod outlet;

pub use inlet::{Inlet, LslStream, Query, Timeout};
pub use library::Lsl;
pub use outlet::Outlet;
