//! Tokens to text, and positions in the text back to tokens.

use proc_macro::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

/// The text of some tokens.
pub(crate) struct Text {
    pub(crate) text: String,
    /// Where each token ends in the text, and its span; in order.
    tokens: Vec<(usize, Span)>,
}

/// The path of the library, which is the first group, and the text of the other tokens.
pub(crate) fn read(input: TokenStream) -> (TokenStream, Text) {
    let mut input = input.into_iter();
    let library = match input.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => TokenStream::new(),
    };
    let mut text = Text { text: String::new(), tokens: Vec::new() };
    text.push_all(input, &mut Last::Other);
    (library, text)
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
    fn push_all(&mut self, tokens: impl Iterator<Item = TokenTree>, last: &mut Last) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.push_group(&group, last),
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
        }
    }

    fn push_group(&mut self, group: &Group, last: &mut Last) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => return self.push_all(group.stream().into_iter(), last),
        };
        self.push(open, group.span_open(), Last::Other, last);
        self.push_all(group.stream().into_iter(), last);
        self.push(close, group.span_close(), Last::Other, last);
    }

    fn push(&mut self, token: &str, span: Span, kind: Last, last: &mut Last) {
        if *last == Last::Word && kind == Last::Word {
            self.text.push(' ');
        }
        self.text.push_str(token);
        self.tokens.push((self.text.len(), span));
        *last = kind;
    }

    /// The spans of the first and the last token in this part of the text; of the last token of all if the part lies
    /// behind it.
    pub(crate) fn spans_of(&self, part: xla_shape_core::Span) -> (Span, Span) {
        let at = |position: usize| {
            let token = self.tokens.partition_point(|&(end, _)| end <= position);
            self.tokens.get(token).or(self.tokens.last()).map_or_else(Span::call_site, |&(_, span)| span)
        };
        (at(part.start), at(part.end.saturating_sub(1).max(part.start)))
    }
}
