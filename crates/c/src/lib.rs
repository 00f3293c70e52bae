//! XLA shapes and layouts for C and C++: the functions of `include/xla_shape.h`.
//!
//! The header documents the library: units, ownership, lifetimes and errors of each function. cbindgen makes it from the comments in
//! this crate. `include/xla_shape.hpp` wraps it for C++17. The chapter `docs/c.md` in the repository shows how to build and link it.
//!
//! Nothing here is a rule about shapes: every function converts its arguments, asks `xla-shape-core` or `xla-shape-relayout`, and converts
//! the answer.
//!
//! # What the caller guarantees
//!
//! The SAFETY comments cite these rules by name. The header states them for C.
//!
//! - *Handles*: a pointer to a handle is null, or was returned by this library and is not yet freed. Nobody frees it during the call.
//! - *Lists*: a pointer with a length points to that many values, unless the length is 0. Nobody writes them during the call.
//! - *Results*: a pointer to a result is null, or points to a place that the function may write to, and that nobody else uses during the
//!   call; it overlaps no other such place, and no list or struct of the call.
//! - *Structs*: a pointer to a struct is null, or points to at least as many bytes as its field `struct_size` says, of which nobody
//!   writes any during the call.
//!
//! The library checks what it can of these: null pointers, alignment, lists of more than `isize::MAX` bytes, sizes of structs; in builds with debug
//! assertions, also whether a handle is alive.
//!
//! # The files
//!
//! | file | contents |
//! |---|---|
//! | `border` | everything unsafe that several files need: handles, lists, texts, results, structs; panics end here |
//! | `live` | which handles exist, in builds with debug assertions |
//! | `error` | the error object, and the errors of the library as such objects |
//! | `version` | the version of the interface |
//! | `shape` | shapes: text, parts, sizes, layouts, bitcasts |
//! | `array` | the struct with the parts of an array |
//! | `position` | from an index to a position and back |
//! | `sharding` | shardings, and arrays divided by them |
//! | `plan` | relayouts, whole and in parts |

// A new function has its comment for C here and its method in `include/xla_shape.hpp`; then `scripts/c_header.sh` makes the header, and
// `XLA_SHAPE_ABI_MINOR` grows. Fields are only added at the end of structs.

mod array;
mod border;
mod live;
mod plan;
mod position;
mod shape;
mod sharding;
#[cfg(test)]
mod tests;
mod version;

pub use array::*;
pub use border::error::*;
pub use plan::*;
pub use position::*;
pub use shape::*;
pub use sharding::*;
pub use version::*;
