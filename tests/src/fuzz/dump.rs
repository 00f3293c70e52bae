//! The compiler's own figures for a program's memory, read from the files of a dump.

use super::beginning;
use xla_shape::hlo::Module;
use xla_shape::hlo::dump::{BufferAssignment, DumpError, LiveRanges, UsageReport, dump_files};

/// A program with a loop and a result of several arrays.
pub(super) const MODULE: &str = "\
HloModule m, is_scheduled=true
cond { s = (f32[8,128]{1,0:T(8,128)}, s32[]) parameter(0)
  ROOT more = pred[] constant(false) }
body { t = (f32[8,128]{1,0:T(8,128)}, s32[]) parameter(0)
  x = f32[8,128]{1,0:T(8,128)} get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  y = f32[8,128]{1,0:T(8,128)} negate(x)
  ROOT u = (f32[8,128]{1,0:T(8,128)}, s32[]) tuple(y, n) }
ENTRY main {
  a = f32[8,128]{1,0:T(8,128)} parameter(0)
  i = s32[] constant(0)
  b = f32[8,128]{1,0:T(8,128)} negate(a)
  v = (f32[8,128]{1,0:T(8,128)}, s32[]) tuple(b, i)
  ROOT w = (f32[8,128]{1,0:T(8,128)}, s32[]) while(v), condition=cond, body=body
}
";

/// Any text as the contents of the files, with a line of `=` between them: there is an answer, which fits a module or not.
///
/// # Panics
/// If one of these checks fails.
pub fn dump(bytes: &[u8]) {
    let text = beginning(bytes);
    let mut files = text.split("\n=\n");
    let mut next = || files.next().unwrap_or_default();
    let (assignment, ranges, usage) =
        (BufferAssignment::parse(next()), LiveRanges::parse(next()), UsageReport::parse(next()));
    let module = Module::parse(MODULE).expect("a module");
    let memory = module.memory();
    let timeline = memory.timeline().expect("it is scheduled");
    if let Ok(assignment) = said(assignment) {
        let _ = (assignment.account(), assignment.constant_bytes());
        for allocation in assignment.allocations() {
            let ends = |offset: u64, bytes: u64| offset.checked_add(bytes).is_some_and(|end| end <= allocation.bytes);
            assert!(allocation.values.iter().all(|value| ends(value.offset, value.bytes)), "{allocation:?}");
        }
        if let Ok(exact) = said(timeline.clone().with_assignment(&assignment)) {
            assert!(exact.is_assigned() && exact.account().exact == (exact.account().may_be_more == 0));
            assert!(exact.warnings().iter().all(|doubt| (1..2000).contains(&doubt.len())));
            let _ = (exact.peaks(), exact.live_at(3).count());
        }
        if let Ok(usage) = said(usage) {
            let _ = said(usage.check(&assignment));
        }
    }
    if let Ok(ranges) = said(ranges) {
        let _ = said(timeline.check_live_ranges(&ranges));
    }
    let found = dump_files(text.lines());
    assert!(found.iter().all(|files| files.best_module().is_some()));
    // The order of the files in a directory does not matter.
    assert_eq!(found, dump_files(text.lines().rev()));
}

/// The answer. An error must have a message that is not too long to read.
fn said<T>(answer: Result<T, DumpError>) -> Result<T, ()> {
    answer.map_err(|error| assert!((1..2000).contains(&error.to_string().len()), "{error}"))
}
