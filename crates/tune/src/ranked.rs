//! What a compiler says about the kernels of one candidate.

use crate::Devices;
use crate::cache::Kept;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;
use xla_shape_answers::fit::Need;
use xla_shape_answers::rank::Figures;
use xla_shape_program::{CompileError, Compiler, Host, KernelFiles};

/// The figures of the compiled kernels of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Why it refused the program, if it would refuse it again.
    pub(crate) refused: Option<String>,
    pub(crate) figures: Figures,
    /// The compiler's version, as it reports it; `None` if it is not known.
    pub(crate) compiler: Option<String>,
}

impl Kept for Made {
    const FOLDER: &'static str = "blocks-2";

    fn version(&self) -> Option<&str> {
        self.compiler.as_deref()
    }
}

/// Compiles a program, and reads what the compiler says about its kernels.
pub(crate) fn made(
    stop: &AtomicBool,
    host: &Host,
    program: &[u8],
    compiler: &Compiler,
    device: &str,
) -> Result<Made, CompileError> {
    let refused = |message: String| CompileError::Refused(message);
    let devices = device.parse::<Devices>().map_err(|error| refused(error.to_string()))?;
    let target = devices.target.clone().map_err(CompileError::Refused)?;
    let generation = devices.generation().ok_or_else(|| refused(format!("{device} is not a TPU")))?;
    let cannot = |error: std::io::Error| {
        CompileError::NoCompiler(format!("cannot make a directory for the compiler's files: {error}"))
    };
    let folder = tempfile::tempdir().map_err(cannot)?;
    let said = match compiler.compile_dumping(stop, host, target, program, folder.path()) {
        Ok(said) => said,
        // A program that needs too much memory will be refused next time, too. Any other refusal may not happen again.
        Err(CompileError::Refused(message)) if Need::of_refusal(message.clone()).fits == Some(false) => {
            return Ok(Made { refused: Some(message), figures: Figures::default(), compiler: None });
        }
        Err(error) => return Err(error),
    };
    let dump = KernelFiles::open(folder.path()).map_err(|error| refused(error.to_string()))?;
    let kernels = dump.as_ref().map(KernelFiles::kernels).unwrap_or_default();
    if kernels.is_empty() {
        return Err(refused(
            "the compiler dumped no kernel: the program calls none, or the compiler is not libtpu".to_owned(),
        ));
    }
    Ok(Made { refused: None, figures: Figures::new(&kernels, generation), compiler: said.compiler })
}
