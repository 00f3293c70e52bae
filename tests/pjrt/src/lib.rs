//! A PJRT plug-in that pretends: it compiles nothing, and its devices are this machine's memory.
//!
//! It checks what it is given as XLA's own plug-ins do, counts what it hands out, and fails where a program's text asks it to:
//! `fake:error`, `fake:null`, `fake:options`, `fake:abort`, `fake:exit`, `fake:slow`, `fake:no-list`, `fake:bad-layout`, `fake:bad-module`, `fake:bad-format`.
//! With `fake:tune` its cycles depend on the layout that the first parameter asks for; of row-major ones it then says what `fake:rows-refused`,
//! `fake:rows-abort`, `fake:rows-hang` or `fake:not-taken` asks. As a library that
//! is loaded, it does what `PJRT_FAKE` says: `null`, `major`, `locked`, `slow`, or nothing.

mod compiler;
mod devices;
mod object;
mod table;

pub use object::{live, require_room};
pub use table::Make;

use xla_shape_pjrt::abi::Api;

/// What a loaded plug-in is asked first.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const Api {
    let wish = std::env::var("PJRT_FAKE").unwrap_or_default();
    match wish.as_str() {
        "null" => std::ptr::null(),
        "major" => Make { major: 1, ..Make::default() }.leak(),
        "locked" => Make { locked: true, ..Make::default() }.leak(),
        "slow" => Make { slow: true, ..Make::default() }.leak(),
        _ => Make::default().leak(),
    }
}
