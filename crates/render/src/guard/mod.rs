//! What a program costs, written to a small file, so that a later change can be compared with it.

mod check;
mod record;

pub use check::{Check, CheckError, Checks};
pub use record::{Record, RecordError, Recorded};
