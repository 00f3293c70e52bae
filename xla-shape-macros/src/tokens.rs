//! Turns tokens into text, and positions in the text back into tokens.

use proc_macro::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use std::ops::RangeInclusive;

/// The text of some tokens.
pub(crate) struct Text {
    pub(crate) text: String,
    /// All tokens, in order, with the delimiters of groups as tokens of their own.
    tokens: Vec<Token>,
    /// The same tokens as trees: each group precedes its contents.
    trees: Vec<Tree>,
}

/// A token, or a group with its contents, and its byte range in the text.
struct Tree {
    start: usize,
    end: usize,
    tree: TokenTree,
}

/// The byte range of a token in the text, and its span in the source.
struct Token {
    start: usize,
    end: usize,
    span: Span,
}

/// Splits off the first group, which holds the path of the library, from the other tokens.
pub(crate) fn library(input: TokenStream) -> (TokenStream, TokenStream) {
    let mut input = input.into_iter();
    match input.next() {
        Some(TokenTree::Group(group)) => (group.stream(), input.collect()),
        _ => (TokenStream::new(), input.collect()),
    }
}

/// The same for macros that editors call without that path. The path is then `None`. No shape and no layout begins with brackets.
pub(crate) fn library_or_editor(input: TokenStream) -> (Option<TokenStream>, TokenStream) {
    match input.clone().into_iter().next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            let (library, tokens) = library(input);
            (Some(library), tokens)
        }
        _ => (None, input),
    }
}

/// The kind of the last token, which decides whether a space must separate it from the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// An identifier or a literal.
    Word,
    /// Punctuation that is not joined with the next character in the source.
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
            // A lifetime is two tokens: the quote and the name.
            Some(quote) if kind == Last::Word && self.text.get(quote.start..start) == Some("'") => quote.end = end,
            _ => self.tokens.push(Token { start, end, span }),
        }
        *last = kind;
    }

    /// The tokens that overlap this part of the text; the last token if the part is after all tokens.
    fn tokens_in(&self, part: xla_shape_core::Span) -> &[Token] {
        let at = |position: usize| {
            let token = self.tokens.partition_point(|token| token.end <= position);
            token.min(self.tokens.len().saturating_sub(1))
        };
        let tokens: RangeInclusive<usize> = at(part.start)..=at(part.end.saturating_sub(1).max(part.start));
        self.tokens.get(tokens).unwrap_or_default()
    }

    /// The spans of the first and the last token of this part of the text.
    pub(crate) fn spans_in(&self, part: xla_shape_core::Span) -> (Span, Span) {
        match self.tokens_in(part) {
            [first, .., last] => (first.span, last.span),
            [only] => (only.span, only.span),
            [] => (Span::call_site(), Span::call_site()),
        }
    }

    /// The token trees of this part of the text, which begins and ends at token boundaries.
    pub(crate) fn trees_in(&self, part: xla_shape_core::Span) -> TokenStream {
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

    /// The text of the token that contains this part of the text; `None` if the part is a whole token. A string or a lifetime is longer than
    /// the part if its first character was unexpected.
    pub(crate) fn token_around(&self, part: xla_shape_core::Span) -> Option<&str> {
        let [token] = self.tokens_in(part) else { return None };
        if token.start == part.start && token.end == part.end { None } else { self.text.get(token.start..token.end) }
    }
}

/// The value of a string literal: raw, or with no escapes except `\\` and `\"`. `None` for any other literal.
pub(crate) fn unquote(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return Some(raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let mut inside = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut value = String::new();
    while let Some(character) = inside.next() {
        value.push(match character {
            '\\' => match inside.next()? {
                'n' => '\n',
                escaped @ ('\\' | '"') => escaped,
                _ => return None,
            },
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
            (r#""a\nb""#, Some("a\nb")),
            (r#""a\tb""#, None),
            (r#""\u{7b}""#, None),
            ("'a'", None),
            ("7", None),
        ] {
            assert_eq!(unquote(literal).as_deref(), text, "{literal}");
        }
    }
}
