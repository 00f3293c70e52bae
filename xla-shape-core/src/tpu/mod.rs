//! What a TPU is and does: its generations, what they hold, and the layouts that they give arrays.

mod generation;

pub use generation::{Generation, UnknownGeneration};
