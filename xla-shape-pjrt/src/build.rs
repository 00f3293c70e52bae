//! Compiling while a crate is built.
