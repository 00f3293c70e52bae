//! The files of a compilation, and the errors of arrays in files.

mod dump;
mod errors;
