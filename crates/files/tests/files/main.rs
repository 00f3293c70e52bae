//! The files of a compilation, and the errors of arrays in files.

mod arguments;
mod dump;
mod errors;
mod npz;
