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
    let (library, tokens) = tokens::library(input);
    let text = tokens::Text::new(tokens);
    match expand::parse(&text.text) {
        Ok(array) => expand::array(&array, &library),
        Err(error) => expand::unknown(diagnose::not_a_shape(&error, &text)),
    }
}

/// One number of `xla_shape::index!`, handed on unless it has a minus.
#[proc_macro]
pub fn index_number(number: TokenStream) -> TokenStream {
    diagnose::negative_number(&number).unwrap_or(number)
}
