//! `shape_type!`: names for shapes. Their documentation says what editors do not show for the type.

use crate::cursor::{Result, Tokens};
use crate::tokens::{self, Text};
use crate::{diagnose, expand};
use proc_macro::{Punct, Spacing, Span, TokenStream, TokenTree};
use xla_shape_core::Shape;

/// Expands `shape_type!`: one type alias for each item.
pub(crate) fn types(input: TokenStream) -> TokenStream {
    let (library, items) = tokens::library_or_editor(input);
    let mut items = Tokens::new(items, Span::call_site());
    let mut made = TokenStream::new();
    while items.peek().is_some() {
        made.extend(item(&mut items, library.as_ref()).unwrap_or_else(|error| {
            // Continue with the next item, so that one mistake does not hide others.
            items.skip_statement();
            error.into_tokens()
        }));
    }
    made
}

/// `pub type Name<…> = shape;`
fn item(items: &mut Tokens, library: Option<&TokenStream>) -> Result<TokenStream> {
    let attributes = items.attributes()?;
    let visibility = items.visibility();
    items.word("type", "`type`, a name, `=` and a shape")?;
    let mut name = TokenStream::from(TokenTree::from(items.name("a name for the type")?));
    name.extend(items.generics());
    items.punct('=')?;
    let text = Text::new(items.statement());
    let type_tokens = match expand::shape_type(&text.text) {
        Ok(expansion) => expansion.tokens(library, &text),
        Err(error) => expand::unknown(diagnose::parse_error(&error, &text)),
    };
    let about = match text.text.parse::<Shape>() {
        Ok(shape) => description(&shape),
        // The sizes of the shape are expressions.
        Err(_) => format!("`{}`", text.text),
    };
    Ok(alias(attributes, &format!("{about}."), visibility, name, type_tokens))
}

/// `#[…] pub type Name<…> = type_tokens;`. The paragraph `doc` follows the documentation in the attributes.
pub(crate) fn alias(
    attributes: TokenStream,
    doc: &str,
    visibility: TokenStream,
    name: TokenStream,
    type_tokens: TokenStream,
) -> TokenStream {
    let mut alias = attributes;
    alias.extend(rust(&format!("#[doc = {:?}]", format!("\n{doc}"))));
    alias.extend(visibility);
    alias.extend(rust("type"));
    alias.extend(name);
    alias.extend([TokenTree::from(Punct::new('=', Spacing::Alone))]);
    alias.extend(type_tokens);
    alias.extend([TokenTree::from(Punct::new(';', Spacing::Alone))]);
    alias
}

/// The text of a shape, and the bytes that it takes, if they are known.
pub(crate) fn description(shape: &Shape) -> String {
    match (shape.byte_size(), shape.padding_byte_size()) {
        (Some(0) | None, _) | (_, None) => format!("`{shape}`"),
        (Some(bytes), Some(0)) => format!("`{shape}`, {} bytes without padding", grouped(bytes)),
        (Some(bytes), Some(padding)) => {
            format!("`{shape}`, {} bytes, {} of them padding", grouped(bytes), grouped(padding))
        }
    }
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place != 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Parses Rust tokens that do not refer to the library.
pub(crate) fn rust(text: &str) -> TokenStream {
    expand::tokens(text, &TokenStream::new())
}

#[cfg(test)]
mod tests {
    use super::description;

    #[test]
    fn a_description_has_the_text_and_the_bytes() {
        for (shape, expected) in [
            ("f32[8,128]", "`f32[8,128]{1,0}`, 4,096 bytes without padding"),
            (
                "bf16[100,200]{1,0:T(8,128)(2,1)}",
                "`bf16[100,200]{1,0:T(8,128)(2,1)}`, 53,248 bytes, 13,248 of them padding",
            ),
            ("(u8[3], u8[1234567])", "`(u8[3]{0}, u8[1234567]{0})`, 1,234,570 bytes without padding"),
            ("f32[?,128]", "`f32[?,128]{1,0}`"),
            ("f32[0]", "`f32[0]{0}`"),
            ("token[]", "`token[]`"),
        ] {
            assert_eq!(description(&shape.parse().unwrap()), expected);
        }
    }
}
