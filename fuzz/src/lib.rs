//! Runs fuzz targets and counts their steps: the basic blocks that are executed, except those of the standard library. The counts are the
//! same on all machines.

#![feature(thread_local)]

use std::cell::Cell;
use xla_shape_tests::fuzz::{TARGETS, Target};

#[thread_local]
static STEPS: Cell<u64> = Cell::new(0);

/// The function that instrumented code calls at the beginning of each basic block (`scripts/steps.sh`). libFuzzer defines a function of the
/// same name, which ends the process. So only the program `steps` counts, which is not linked with libFuzzer.
#[cfg(count_steps)]
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc() {
    STEPS.set(STEPS.get().wrapping_add(1));
}

/// The target with this name.
///
/// # Panics
/// If no target has this name.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("a target")
}

/// Runs a target and returns the number of its steps.
pub fn steps(target: &Target, bytes: &[u8]) -> u64 {
    let before = STEPS.get();
    (target.run)(bytes);
    STEPS.get().wrapping_sub(before)
}

/// Runs a target.
///
/// # Panics
/// If the target fails, or takes more steps than its limit.
pub fn run(target: &Target, bytes: &[u8]) {
    let (steps, most) = (steps(target, bytes), target.most_steps(bytes.len()));
    assert!(steps <= most, "{}: {steps} steps for {} bytes, at most {most} are expected", target.name, bytes.len());
}

/// The `main` program of a target.
#[macro_export]
macro_rules! program {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            static TARGET: std::sync::LazyLock<&xla_shape_tests::fuzz::Target> =
                std::sync::LazyLock::new(|| $crate::target($name));
            $crate::run(&TARGET, bytes);
        });
    };
}
