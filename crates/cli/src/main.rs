//! The `xla-shape` program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    xla_shape_cli::run()
}
