//! What takes the memory of a program that the compiler refused.

use std::path::Path;
use xla_shape_answers::hlo::{Device, Report};
use xla_shape_answers::scan::Scan;
use xla_shape_core::tpu::Generation;
use xla_shape_pjrt::Slice;
use xla_shape_program::{Compiler, DUMP_OPTION, Host, Program};

/// What a compiler wrote about a program that it refused.
///
/// ```
/// use xla_shape_answers::hlo::Report;
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_tune::Left;
///
/// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }")?);
/// let report = Report::new(&program.memory(None), None, 5, None);
/// let left = Left { program, report };
/// assert_eq!(left.program.module().name(), Some("m"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Left {
    /// The program, as far as the compiler had optimized it.
    pub program: Program,
    /// What takes its memory.
    pub report: Report,
}

/// The report on a program that the compiler refused with this message because HBM ran out: the program is compiled again, so that the compiler
/// dumps its modules. Lists have at most `top` entries, of one memory space if `space` names it.
///
/// `None` if the message does not say that HBM ran out, if the compiler dumps no module, or if the options of the compiler ask for dumps, which may
/// then contain several programs.
///
/// ```
/// use xla_shape_program::{Compiler, Host};
/// use xla_shape_tune::report_of_refused;
///
/// // After any other refusal, the compiler is not asked again.
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let slice = "v5e".parse()?;
/// let report = report_of_refused(&Compiler::default(), &host, &slice, b"module {}", "Mosaic failed to compile", 5, None);
/// assert!(report.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn report_of_refused(
    compiler: &Compiler,
    host: &Host,
    slice: &Slice,
    program: &[u8],
    message: &str,
    top: usize,
    space: Option<u8>,
) -> Option<Left> {
    if !says_out_of_hbm(message) || asks_for_dumps(compiler) {
        return None;
    }
    let folder = tempfile::tempdir().ok()?;
    compiler.leave_modules(host, slice, program, folder.path());
    report_of_left(folder.path(), slice, message, top, space)
}

/// Whether the options of a compiler ask for dumps.
pub(crate) fn asks_for_dumps(compiler: &Compiler) -> bool {
    compiler.options.iter().any(|(name, _)| name == DUMP_OPTION)
}

fn scan(message: &str) -> Scan {
    let mut scan = Scan::default();
    message.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
    scan
}

/// Whether a compiler refused a program with this message because HBM ran out.
pub(crate) fn says_out_of_hbm(message: &str) -> bool {
    scan(message).says_out_of_hbm()
}

/// The report on a program that the compiler refused with this message because HBM ran out, and whose modules it dumped into a directory.
pub(crate) fn report_of_left(
    folder: &Path,
    slice: &Slice,
    message: &str,
    top: usize,
    space: Option<u8>,
) -> Option<Left> {
    let left = Program::open(folder).ok()?;
    let generation: Generation = slice.generation();
    let device = scan(message).hbm_limit().map_or(Device::Generation(generation), Device::Bytes);
    let (_, report) = Report::with_memory(&left, Some(device), top, space);
    Some(Left { program: left, report })
}
