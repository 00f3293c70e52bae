//! The procedural macros of `xla-shape`. Use them through that crate: its `macro_rules!` macros call these with the
//! path of the library.
//!
//! The macros have no grammar and no rules of their own. `tokens` turns tokens into text, `xla-shape-core` parses it, and the result becomes a type
//! (`expand`) or a compile error that underlines the wrong tokens (`diagnose`). `hlo` does the same for the text of a file.
//!
//! ```ignore
//! // What a user writes, with xla_shape:
//! type Tiled = xla_shape::shape!(bf16[256,128]{1,0:T(8,128)(2,1)});
//! // What the macro here receives:
//! type Tiled = xla_shape_macros::shape!([::xla_shape] bf16[256,128]{1,0:T(8,128)(2,1)});
//! ```

#![forbid(unsafe_code)]

mod cursor;
mod diagnose;
mod editor;
mod expand;
#[cfg(feature = "hlo")]
mod hlo;
mod named;
#[cfg(feature = "notations")]
mod same_map;
mod sharding;
mod tokens;

use expand::Expansion;
use proc_macro::TokenStream;
use xla_shape_core::ParseError;

/// The shape of an array, of a tuple or of another kind, as a type: XLA's text, such as `bf16[8,128]{1,0:T(8,128)(2,1)}`.
///
/// Implements `xla_shape::shape!`, whose documentation says more. The input is the path of `xla_shape` in brackets, except in editors,
/// then the shape.
#[proc_macro]
pub fn shape(input: TokenStream) -> TokenStream {
    expand(input, expand::shape_type)
}

/// The shape of an array in the layout that a TPU chooses by default, as a type: a generation, and the text of a shape without layouts, such
/// as `v5e, bf16[1,3072]`.
///
/// Implements `xla_shape::tpu_shape!`, whose documentation says more. The input is the path of `xla_shape` in brackets, except in editors,
/// then the generation and the shape.
#[proc_macro]
pub fn tpu_shape(input: TokenStream) -> TokenStream {
    expand(input, expand::tpu_shape_type)
}

/// A layout, as a type: XLA's text for it, such as `{1,0:T(8,128)}`.
///
/// Implements `xla_shape::layout!`, whose documentation says more. The input is the path of `xla_shape` in brackets, except in editors,
/// then the layout.
#[proc_macro]
pub fn layout(input: TokenStream) -> TokenStream {
    expand(input, expand::layout_type)
}

/// Names for shapes, with their text and their size in the documentation: `pub type Weights = bf16[100,200]{1,0:T(8,128)(2,1)};`
///
/// Implements `xla_shape::shape_type!`, whose documentation says more. The input is the path of `xla_shape` in brackets, except in editors,
/// then the items.
#[proc_macro]
pub fn shape_type(input: TokenStream) -> TokenStream {
    named::types(input)
}

/// Implements `xla_shape::sharding!`. The input is the path of `xla_shape` in brackets, then the sharding.
#[proc_macro]
pub fn sharding(input: TokenStream) -> TokenStream {
    sharding::sharding(input)
}

/// Implements `xla_shape::shard!`. The input is the path of `xla_shape` in brackets, then the shape and the sharding.
#[proc_macro]
pub fn shard(input: TokenStream) -> TokenStream {
    sharding::shard(input)
}

/// Implements `xla_shape::assert_same_map!`. The input is the path of `xla_shape` in brackets, the shape in brackets, the name of a notation,
/// and a text in quotes.
#[cfg(feature = "notations")]
#[proc_macro]
pub fn same_map(input: TokenStream) -> TokenStream {
    same_map::call(input)
}

fn expand(input: TokenStream, type_of: impl FnOnce(&str) -> Result<Expansion, ParseError>) -> TokenStream {
    let (library, tokens) = tokens::library_or_editor(input);
    let text = tokens::Text::new(tokens);
    match type_of(&text.text) {
        Ok(expansion) => expansion.tokens(library.as_ref(), &text),
        Err(error) => expand::unknown(diagnose::parse_error(&error, &text)),
    }
}

/// Implements `xla_shape::hlo_types!`. The input is the path of `xla_shape` in brackets, then the modules.
#[cfg(feature = "hlo")]
#[proc_macro]
pub fn hlo_types(input: TokenStream) -> TokenStream {
    hlo::types(input)
}

/// Implements `xla_shape::index!`: returns one number of the index, or a compile error if it is negative.
#[proc_macro]
pub fn index_number(number: TokenStream) -> TokenStream {
    diagnose::negative_number(&number).unwrap_or(number)
}
