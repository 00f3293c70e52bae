//! What a compiler says about one setting.

use crate::Devices;
use crate::cache::Kept;
use crate::refused::{Left, asks_for_dumps, report_of_left, says_out_of_hbm};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use xla_shape_answers::cost::{Amount, ProgramCost};
use xla_shape_answers::fit::Need;
use xla_shape_answers::hlo::Report;
use xla_shape_pjrt::Target;
use xla_shape_program::{CompileError, Compiler, DUMP_OPTION, Host, Program};

/// What a program needs and costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Needed {
    pub(crate) need: Need,
    pub(crate) amount: Option<Amount>,
    /// The compiler's version, as it reports it; `None` if it is not known.
    pub(crate) compiler: Option<String>,
}

impl Kept for Needed {
    const FOLDER: &'static str = "fit-2";

    fn version(&self) -> Option<&str> {
        self.compiler.as_deref()
    }
}

/// Compiles a program, and says what it needs. If the compiler refuses it because it needs too much memory, that is an answer, too; any other
/// refusal is an error.
pub(crate) fn needed(
    stop: &AtomicBool,
    host: &Host,
    program: &[u8],
    compiler: &Compiler,
    device: &str,
) -> Result<Needed, CompileError> {
    let devices = device.parse::<Devices>().map_err(|error| CompileError::Refused(error.to_string()))?;
    let target = devices.target.clone().map_err(CompileError::Refused)?;
    let described = devices.described(compiler).map_err(|error| CompileError::Refused(error.to_string()))?;
    // A TPU's compiler refuses a program that takes too much memory, and only its dump says what takes it. Requesting the dump now saves a second
    // compilation.
    let folder = folder_for(compiler, &target);
    let mut asked = compiler.clone();
    if let Some(folder) = &folder {
        asked.options.push((DUMP_OPTION.to_owned(), folder.path().to_string_lossy().into_owned()));
    }
    let said = match asked.compile_until(stop, host, target.clone(), program) {
        Ok(said) => said,
        Err(CompileError::Refused(message)) => {
            return refused(message, |message| match (&folder, &target) {
                (Some(folder), Target::Tpu(slice)) if says_out_of_hbm(message) => {
                    report_of_left(folder.path(), slice, message, Need::TOP, None)
                }
                _ => None,
            });
        }
        Err(error) => return Err(error),
    };
    let program = Program::from(said.module()?);
    let (_, report) = Report::with_memory(&program, Some(described), Need::TOP, None);
    let report = report.with_account(&said.account, said.generated_code, Some(described));
    let amount = ProgramCost::of_compiled(&said).ok().and_then(|cost| cost.sums.total);
    Ok(Needed { need: Need::of_report(&report, None), amount, compiler: said.compiler })
}

/// The answer for a refused program. If it was refused because it needs more memory than the device has, that is an answer, not an error.
///
/// `left`: reads what the compiler dumped about the program that it refused with this message.
pub(crate) fn refused(message: String, left: impl FnOnce(&str) -> Option<Left>) -> Result<Needed, CompileError> {
    let need = Need::of_refusal(message.clone());
    // A refusal for any other reason may not happen again, so it is an error.
    if need.fits.is_none() {
        return Err(CompileError::Refused(message));
    }
    let need = match left(&message) {
        Some(left) => Need::of_report(&left.report, Some(message)),
        None => need,
    };
    Ok(Needed { need, amount: None, compiler: None })
}

/// A directory for the dump of a program; `None` if no dump should be requested.
fn folder_for(compiler: &Compiler, target: &Target) -> Option<TempDir> {
    let is_tpu = matches!(target, Target::Tpu(_));
    (is_tpu && !asks_for_dumps(compiler)).then(|| tempfile::tempdir().ok()).flatten()
}
