//! The compiler's messages about programs that use the library. One program instead of one for each file, because each takes seconds to link.

mod compiler;
mod complete;
mod corpus;
mod fail;
mod messages;
#[cfg(feature = "optimised")]
mod optimised;
// Programs as users write them, with their lints and their format.
#[allow(
    rust_2018_idioms,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "the lints of this workspace are not those of users"
)]
#[rustfmt::skip]
mod pass;
