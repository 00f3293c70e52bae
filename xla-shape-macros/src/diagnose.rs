//! An error to a compile error under the tokens that it is about.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// `::core::compile_error! { "message" }`, which the compiler underlines from the first span to the last.
pub(crate) fn compile_error(message: &str, (first, last): (Span, Span)) -> TokenStream {
    let mut text = Literal::string(message);
    text.set_span(last);
    let mut arguments = Group::new(Delimiter::Brace, TokenTree::from(text).into());
    arguments.set_span(last);
    let punct = |character, spacing, span| {
        let mut punct = Punct::new(character, spacing);
        punct.set_span(span);
        TokenTree::from(punct)
    };
    TokenStream::from_iter([
        punct(':', Spacing::Joint, first),
        punct(':', Spacing::Alone, first),
        Ident::new("core", first).into(),
        punct(':', Spacing::Joint, first),
        punct(':', Spacing::Alone, first),
        Ident::new("compile_error", first).into(),
        punct('!', Spacing::Alone, last),
        arguments.into(),
    ])
}
