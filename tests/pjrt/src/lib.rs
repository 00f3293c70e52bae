//! A fake PJRT plug-in for tests: it compiles nothing, and its devices are the host's memory.
//!
//! It checks its arguments as XLA's own plug-ins do, and counts the objects that it hands out. Words in a program's text make it fail:
//! `fake:error`, `fake:null`, `fake:options`, `fake:abort`, `fake:exit`, `fake:slow`, `fake:no-list`, `fake:untuned`, `fake:bad-layout`, `fake:bad-module`, `fake:bad-format`,
//! `fake:hang-optimized`, `fake:hang-stats`, `fake:left`.
//! With `fake:tune`, the cycles depend on the requested layout of the first parameter. Row-major layouts then fail as `fake:rows-refused`,
//! `fake:rows-abort`, `fake:rows-hang` or `fake:not-taken` says. With `fake:auto-rows`, the compiler chooses row-major layouts by itself, and makes a
//! better program with them. The host's memory fails as `fake:host-refused` or `fake:host-not-taken` says. The variable `PJRT_FAKE` changes the loaded library: `null`, `major`, `locked`,
//! `slow`, `hang`, or nothing.

mod compiler;
mod devices;
mod object;
mod table;

pub use object::{live, require_room};
pub use table::Make;

use xla_shape_pjrt::abi::Api;

/// The entry point of a loaded plug-in.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const Api {
    let kind = std::env::var("PJRT_FAKE").unwrap_or_default();
    match kind.as_str() {
        "null" => std::ptr::null(),
        "major" => Make { major: 1, ..Make::default() }.leak(),
        "locked" => Make { locked: true, ..Make::default() }.leak(),
        "hang" => compiler::hang(),
        "slow" => Make { slow: true, ..Make::default() }.leak(),
        _ => Make::default().leak(),
    }
}
