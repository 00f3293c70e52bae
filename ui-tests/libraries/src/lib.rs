//! Tells a test which libraries the compiler was given, so that the test can call the compiler with the same ones.
//!
//! The folder of a build may have several versions of a library, with different features. Only the command line of the compiler tells
//! which of them belong to the crate that it compiles.

use proc_macro::TokenStream;
use std::env;

/// The arguments `--extern` and `-L` of the compiler that expands the macro: an array of strings.
///
/// # Panics
///
/// If an argument is not UTF-8, which the compiler refuses, too.
#[proc_macro]
pub fn libraries(_: TokenStream) -> TokenStream {
    let arguments: Vec<String> = env::args().collect();
    let pairs = arguments.windows(2).filter(|pair| matches!(pair[0].as_str(), "--extern" | "-L"));
    format!("{:?}", pairs.flatten().collect::<Vec<_>>()).parse().expect("an array of strings is valid Rust")
}
