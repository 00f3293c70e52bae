//! Runs the compiler to get its messages.

use std::path::Path;
use std::process::Output;
use xla_shape_ui_libraries::libraries;
use xla_shape_ui_tests::Compiler;

/// The folder for the compiler's output.
pub(crate) const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// How far the compiler goes.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    /// As in `cargo check`.
    Checked,
    /// As in `cargo build`: generic functions are compiled for the types that they are called with.
    Compiled,
}

/// The compiler with the libraries of these tests, without optimisations.
pub(crate) fn plain() -> Compiler {
    Compiler::with_libraries(&libraries!(), FOLDER)
}

/// The compiler's output for a program.
pub(crate) fn compile(compiler: &Compiler, program: impl AsRef<Path>, until: Until) -> Output {
    let emit = match until {
        Until::Checked => "--emit=metadata",
        Until::Compiled => "--emit=obj",
    };
    // Types are written in full, and unused code causes no warnings.
    compiler.compile(program, &["--crate-type", "bin", "--verbose", "-Adead_code", "--diagnostic-width=140", emit])
}
