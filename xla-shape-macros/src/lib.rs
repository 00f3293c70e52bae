//! The procedural macros of `xla-shape`, which fronts them.
//!
//! They own no grammar and no rule: tokens become text ([`tokens`]), `xla-shape-core` reads it, and what it says becomes a
//! type ([`expand`]) or a compile error under the tokens that it is about ([`diagnose`]).

#![forbid(unsafe_code)]

mod diagnose;
mod expand;
mod tokens;

use proc_macro::TokenStream;

/// `xla_shape::shape!`, with the path of `xla_shape` in brackets before the shape.
#[proc_macro]
pub fn shape(input: TokenStream) -> TokenStream {
    let (library, text) = tokens::read(input);
    match expand::parse(&text.text) {
        Ok(array) => expand::array(&array, &library),
        Err(error) => diagnose::compile_error(&error.message, text.spans_of(error.span)),
    }
}
