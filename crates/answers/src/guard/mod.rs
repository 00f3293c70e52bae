//! Records the cost of a program in a small file, and compares later versions of the program with it.

mod arrays;
pub mod check;
pub mod claims;
mod measures;
pub mod record;

pub use arrays::{ArrayChange, ChangedArray};
pub use check::{Check, CheckError, Checks, Side, Warning};
pub use record::{Noted, Record, RecordError, Recorded, RecordedTime, RecordedTimes};
