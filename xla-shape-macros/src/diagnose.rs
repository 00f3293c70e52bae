//! Turns errors into compile errors that underline the wrong tokens.

use crate::tokens::Text;
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use xla_shape_core::ParseError;
use xla_shape_core::text::{Expected, Found, ParseErrorKind};

/// The compile error for tokens that the core cannot parse, or that have no type.
pub(crate) fn parse_error(error: &ParseError, text: &Text) -> TokenStream {
    compile_error(&message(error, text), text.spans_in(error.span()))
}

/// The core's message. If the core found an unexpected character inside a token, the message shows the whole token.
fn message(error: &ParseError, text: &Text) -> String {
    let expected = match *error.kind() {
        ParseErrorKind::Unexpected { expected, found: Found::Text(_) } => expected,
        ParseErrorKind::UnknownElementType { .. } => Expected::ElementType,
        _ => return error.to_string(),
    };
    let Some(token) = text.token_around(error.span()) else {
        return error.to_string();
    };
    let message = ParseErrorKind::Unexpected { expected, found: Found::new(token) }.to_string();
    if token.ends_with('"') { format!("{message}; no quotes belong here") } else { message }
}

/// The compile error for a negative number in an index; `None` if the number is not negative.
pub(crate) fn negative_number(number: &TokenStream) -> Option<TokenStream> {
    let mut tokens = number.clone().into_iter();
    let first = match tokens.next()? {
        // An invisible group, from a variable of a `macro_rules!` macro.
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => return negative_number(&group.stream()),
        TokenTree::Punct(minus) if minus.as_char() == '-' => minus.span(),
        _ => return None,
    };
    let last = tokens.last().map_or(first, |token| token.span());
    let found = Text::new(number.clone()).text;
    Some(compile_error(&format!("expected an index of at least 0, found `{found}`"), (first, last)))
}

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
