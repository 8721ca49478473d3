//! Live decoding for devices: a model file, samples in, decisions out, from any language that calls
//! C.
//!
//! ```c
//! StiefelSession *session = NULL;
//! StiefelOptions options = stiefel_options_default();
//! if (stiefel_open("model.stiefel", "S001", NULL, &options, &session) != STIEFEL_CODE_OK) { puts(stiefel_last_error()); exit(1); }
//! double p[2];
//! StiefelDecision decision;
//! while (read_block(samples)) {
//!     stiefel_push(session, samples, count, channels, NULL);
//!     while (stiefel_take(session, &decision, p, NULL, 2) == STIEFEL_CODE_OK) { printf("%d %.3f\n", decision.class_index, p[1]); }
//! }
//! stiefel_close(session);
//! ```
//!
//! It is the state machine of `stiefel-live`: the same samples give the same decisions.
//! `include/stiefel.h` declares everything. Every function that can fail gives a [`StiefelCode`],
//! and [`stiefel_last_error`](interface::stiefel_last_error) says in words what was wrong. Null
//! pointers and wrong sizes are refused; no panic crosses the border. Each function says what it
//! cannot check: that a pointer which is not null points at what it should.

pub mod interface;
mod session;
mod types;

pub use session::StiefelSession;
pub use types::{
    StiefelAdapt, StiefelCode, StiefelDecision, StiefelKind, StiefelOptions, StiefelStatus,
    StiefelStream,
};
