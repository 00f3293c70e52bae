//! Runs targets, and counts their steps: how many pieces of code without a branch the processor goes through, in all code but the
//! standard library's own. That is the same on each machine, however busy it is.

#![feature(thread_local)]

use std::cell::Cell;
use xla_shape_tests::fuzz::{TARGETS, Target};

#[thread_local]
static STEPS: Cell<u64> = Cell::new(0);

/// What the compiler has called at the beginning of each piece, where steps are counted (`scripts/steps.sh`): libFuzzer has a function of
/// this name too, and ends where it is called: so the program `steps` counts, which is not linked with it.
#[cfg(count_steps)]
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc() {
    STEPS.set(STEPS.get().wrapping_add(1));
}

/// The target of this name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("a target")
}

/// Runs a target, and gives the number of its steps.
pub fn steps(target: &Target, bytes: &[u8]) -> u64 {
    let before = STEPS.get();
    (target.run)(bytes);
    STEPS.get().wrapping_sub(before)
}

/// Runs a target.
///
/// # Panics
/// If it finds something, or takes more steps than it may.
pub fn run(target: &Target, bytes: &[u8]) {
    let (steps, most) = (steps(target, bytes), target.most_steps(bytes.len()));
    assert!(steps <= most, "{}: {steps} steps for {} bytes, at most {most} are expected", target.name, bytes.len());
}

/// The program of a target.
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
