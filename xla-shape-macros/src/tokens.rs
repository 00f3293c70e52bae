//! Tokens to text, and positions in the text back to tokens.

use proc_macro::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use std::ops::RangeInclusive;

/// The text of some tokens.
pub(crate) struct Text {
    pub(crate) text: String,
    /// In order.
    tokens: Vec<Token>,
    /// The same with its groups whole, each before what is in it.
    trees: Vec<Tree>,
}

/// A token, or a group with all that is in it, and where it stands in the text.
struct Tree {
    start: usize,
    end: usize,
    tree: TokenTree,
}

/// Where a token stands in the text, and where it came from.
struct Token {
    start: usize,
    end: usize,
    span: Span,
}

/// The path of the library, which is the first group, and the other tokens.
pub(crate) fn library(input: TokenStream) -> (TokenStream, TokenStream) {
    let mut input = input.into_iter();
    match input.next() {
        Some(TokenTree::Group(group)) => (group.stream(), input.collect()),
        _ => (TokenStream::new(), input.collect()),
    }
}

/// What must not run together with the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// An identifier or a literal.
    Word,
    /// Punctuation that the source does not join with the next character.
    AlonePunct,
    Other,
}

impl Text {
    /// The text of these tokens.
    pub(crate) fn new(tokens: TokenStream) -> Self {
        let mut text = Self { text: String::new(), tokens: Vec::new(), trees: Vec::new() };
        text.push_all(tokens, &mut Last::Other);
        text
    }

    fn push_all(&mut self, tokens: TokenStream, last: &mut Last) {
        for tree in tokens {
            let number = self.trees.len();
            self.trees.push(Tree { start: self.text.len(), end: 0, tree: tree.clone() });
            match &tree {
                TokenTree::Group(group) => self.push_group(group, last),
                TokenTree::Ident(ident) => self.push(&ident.to_string(), ident.span(), Last::Word, last),
                TokenTree::Literal(literal) => self.push(&literal.to_string(), literal.span(), Last::Word, last),
                TokenTree::Punct(punct) => {
                    let kind = if punct.spacing() == Spacing::Alone { Last::AlonePunct } else { Last::Other };
                    if *last == Last::AlonePunct {
                        self.text.push(' ');
                    }
                    self.push(&punct.as_char().to_string(), punct.span(), kind, last);
                }
            }
            self.trees[number].end = self.text.len();
        }
    }

    fn push_group(&mut self, group: &Group, last: &mut Last) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => return self.push_all(group.stream(), last),
        };
        self.push(open, group.span_open(), Last::Other, last);
        self.push_all(group.stream(), last);
        self.push(close, group.span_close(), Last::Other, last);
    }

    fn push(&mut self, token: &str, span: Span, kind: Last, last: &mut Last) {
        if *last == Last::Word && kind == Last::Word {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(token);
        let end = self.text.len();
        match self.tokens.last_mut() {
            // A lifetime comes in two tokens.
            Some(quote) if kind == Last::Word && self.text.get(quote.start..start) == Some("'") => quote.end = end,
            _ => self.tokens.push(Token { start, end, span }),
        }
        *last = kind;
    }

    /// The tokens that this part of the text belongs to; the last token of all if it lies after that.
    fn tokens_of(&self, part: xla_shape_core::Span) -> &[Token] {
        let at = |position: usize| {
            let token = self.tokens.partition_point(|token| token.end <= position);
            token.min(self.tokens.len().saturating_sub(1))
        };
        let tokens: RangeInclusive<usize> = at(part.start)..=at(part.end.saturating_sub(1).max(part.start));
        self.tokens.get(tokens).unwrap_or_default()
    }

    /// The spans of the first and the last token of this part of the text.
    pub(crate) fn spans_of(&self, part: xla_shape_core::Span) -> (Span, Span) {
        match self.tokens_of(part) {
            [first, .., last] => (first.span, last.span),
            [only] => (only.span, only.span),
            [] => (Span::call_site(), Span::call_site()),
        }
    }

    /// The tokens of this part of the text, which begins and ends with whole tokens.
    pub(crate) fn trees_of(&self, part: xla_shape_core::Span) -> TokenStream {
        let mut position = part.start;
        let mut found = Vec::new();
        for Tree { start, end, tree } in &self.trees {
            if *start >= position && *end <= part.end && end > start {
                position = *end;
                found.push(tree.clone());
            }
        }
        found.into_iter().collect()
    }

    /// The text of the token that has this part of the text inside: a string or a lifetime, of which only the first
    /// character was unexpected.
    pub(crate) fn token_around(&self, part: xla_shape_core::Span) -> Option<&str> {
        let [token] = self.tokens_of(part) else { return None };
        if token.start == part.start && token.end == part.end { None } else { self.text.get(token.start..token.end) }
    }
}

/// What a literal means that is a string: raw, or with no escapes but `\\` and `\"`.
pub(crate) fn unquote(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return Some(raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let mut inside = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut value = String::new();
    while let Some(character) = inside.next() {
        value.push(match character {
            '\\' => inside.next().filter(|escaped| matches!(escaped, '\\' | '"'))?,
            character => character,
        });
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn literals_are_texts_or_refused() {
        for (literal, text) in [
            (r#""a""#, Some("a")),
            (r#""a\"b\\c""#, Some(r#"a"b\c"#)),
            (r##"r#"a\"b"#"##, Some(r#"a\"b"#)),
            (r#""a\nb""#, None),
            (r#""\u{7b}""#, None),
            ("'a'", None),
            ("7", None),
        ] {
            assert_eq!(unquote(literal).as_deref(), text, "{literal}");
        }
    }
}
