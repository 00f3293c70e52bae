//! What takes the memory of a program that the compiler refused.

use xla_shape_answers::hlo::{Device, Report};
use xla_shape_answers::scan::Scan;
use xla_shape_core::tpu::Generation;
use xla_shape_pjrt::Slice;
use xla_shape_program::{Compiler, DUMP_OPTION, Host, Program};

/// The report on a program that the compiler refused with this message because HBM ran out: the program is compiled again, and the
/// compiler leaves the modules that it made. Lists have at most `top` entries.
///
/// `None` if the message does not say that HBM ran out, if the compiler leaves no module, or if the options of the compiler ask for dumps,
/// which may be those of several programs.
///
/// ```
/// use xla_shape_program::{Compiler, Host};
/// use xla_shape_tune::report_of_refused;
///
/// // Of another refusal, the compiler is not asked again.
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let slice = "v5e".parse()?;
/// let report = report_of_refused(&Compiler::default(), &host, &slice, b"module {}", "Mosaic failed to compile", 5);
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
) -> Option<Report> {
    let mut scan = Scan::default();
    message.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
    let is_dumped = compiler.options.iter().any(|(name, _)| name == DUMP_OPTION);
    if !scan.says_out_of_hbm() || is_dumped {
        return None;
    }
    let folder = tempfile::tempdir().ok()?;
    compiler.leave_modules(host, slice, program, folder.path());
    let left = Program::open(folder.path()).ok()?;
    let generation: Generation = slice.generation();
    let device = scan.hbm_limit().map_or(Device::Generation(generation), Device::Bytes);
    Some(Report::new(&left.memory(device.generation()), Some(device), top, None))
}
