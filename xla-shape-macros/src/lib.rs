//! The procedural macros of `xla-shape`, which fronts them.
//!
//! They own no grammar and no rule: tokens become text (`tokens`), `xla-shape-core` reads it, and what it says becomes a
//! type (`expand`) or a compile error under the tokens that it is about (`diagnose`). `hlo` does the same for the text of a
//! file.

#![forbid(unsafe_code)]

mod diagnose;
mod expand;
#[cfg(feature = "hlo")]
mod hlo;
mod sharding;
mod tokens;

use expand::Expansion;
use proc_macro::TokenStream;
use xla_shape_core::ParseError;

/// `xla_shape::shape!`, with the path of `xla_shape` in brackets before the shape.
#[proc_macro]
pub fn shape(input: TokenStream) -> TokenStream {
    expand(input, expand::shape_type)
}

/// `xla_shape::tpu_shape!`, with the path of `xla_shape` in brackets before the generation and the shape.
#[proc_macro]
pub fn tpu_shape(input: TokenStream) -> TokenStream {
    expand(input, expand::tpu_shape_type)
}

/// `xla_shape::layout!`, with the path of `xla_shape` in brackets before the layout.
#[proc_macro]
pub fn layout(input: TokenStream) -> TokenStream {
    expand(input, expand::layout_type)
}

/// `xla_shape::sharding!`, with the path of `xla_shape` in brackets before the sharding.
#[proc_macro]
pub fn sharding(input: TokenStream) -> TokenStream {
    sharding::sharding(input)
}

/// `xla_shape::shard!`, with the path of `xla_shape` in brackets before the shape and the sharding.
#[proc_macro]
pub fn shard(input: TokenStream) -> TokenStream {
    sharding::shard(input)
}

fn expand(input: TokenStream, type_of: impl FnOnce(&str) -> Result<Expansion, ParseError>) -> TokenStream {
    let (library, tokens) = tokens::library(input);
    let text = tokens::Text::new(tokens);
    match type_of(&text.text) {
        Ok(expansion) => expansion.tokens(&library, &text),
        Err(error) => expand::unknown(diagnose::parse_error(&error, &text)),
    }
}

/// `xla_shape::hlo_types!`, with the path of `xla_shape` in brackets before the modules.
#[cfg(feature = "hlo")]
#[proc_macro]
pub fn hlo_types(input: TokenStream) -> TokenStream {
    hlo::types(input)
}

/// One number of `xla_shape::index!`, handed on unless it has a minus.
#[proc_macro]
pub fn index_number(number: TokenStream) -> TokenStream {
    diagnose::negative_number(&number).unwrap_or(number)
}
