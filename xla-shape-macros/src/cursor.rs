//! Reads the items that macros take: a cursor over their tokens, and errors with a span.

use crate::diagnose;
use proc_macro::token_stream::IntoIter;
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// An error message with a span.
#[derive(Clone)]
pub(crate) struct Error {
    message: String,
    span: Span,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span }
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        diagnose::compile_error(&self.message, (self.span, self.span))
    }
}

/// A cursor over tokens.
pub(crate) struct Tokens {
    tokens: Peekable<IntoIter>,
    /// Whether the last token was `;`.
    is_after_semicolon: bool,
    /// The span after the last token, for errors at the end.
    end: Span,
}

impl Tokens {
    pub(crate) fn new(stream: TokenStream, end: Span) -> Self {
        let flat: TokenStream = stream.into_iter().flat_map(flat).collect();
        Self { tokens: flat.into_iter().peekable(), is_after_semicolon: false, end }
    }

    pub(crate) fn peek(&mut self) -> Option<&TokenTree> {
        self.tokens.peek()
    }

    pub(crate) fn next(&mut self) -> Option<TokenTree> {
        self.is_after_semicolon = self.is_punct(';');
        self.tokens.next()
    }

    pub(crate) fn is_punct(&mut self, character: char) -> bool {
        matches!(self.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == character)
    }

    /// Skips to the token after the next `;`, unless the cursor is already after one.
    pub(crate) fn skip_statement(&mut self) {
        while !self.is_after_semicolon && self.next().is_some() {}
    }

    pub(crate) fn unexpected(&self, expected: &str, found: Option<TokenTree>) -> Error {
        let Some(token) = found else {
            return Error::new(format!("expected {expected}, found the end"), self.end);
        };
        let found = match &token {
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis => "(".to_owned(),
                Delimiter::Brace => "{".to_owned(),
                Delimiter::Bracket => "[".to_owned(),
                Delimiter::None => group.to_string(),
            },
            token => token.to_string(),
        };
        let span = match &token {
            TokenTree::Group(group) => group.span_open(),
            token => token.span(),
        };
        Error::new(format!("expected {expected}, found `{found}`"), span)
    }

    /// Reads any number of attributes `#[…]`.
    pub(crate) fn attributes(&mut self) -> Result<TokenStream> {
        let mut attributes = TokenStream::new();
        while self.is_punct('#') {
            attributes.extend(self.next());
            match self.next() {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
                    attributes.extend([TokenTree::from(group)]);
                }
                other => return Err(self.unexpected("`[` and an attribute", other)),
            }
        }
        Ok(attributes)
    }

    /// Reads an optional `pub` or `pub(…)`.
    pub(crate) fn visibility(&mut self) -> TokenStream {
        let mut visibility = TokenStream::new();
        if matches!(self.peek(), Some(TokenTree::Ident(word)) if word.to_string() == "pub") {
            visibility.extend(self.next());
            if matches!(self.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis) {
                visibility.extend(self.next());
            }
        }
        visibility
    }

    /// Reads optional generic parameters, `<…>`.
    pub(crate) fn generics(&mut self) -> TokenStream {
        let mut generics = TokenStream::new();
        let mut depth = 0_usize;
        while depth > 0 || self.is_punct('<') {
            if self.is_punct('<') {
                depth += 1;
            } else if self.is_punct('>') {
                depth -= 1;
            }
            let Some(token) = self.next() else { break };
            generics.extend([token]);
        }
        generics
    }

    /// Reads the rest of a statement, without the `;`.
    pub(crate) fn statement(&mut self) -> TokenStream {
        let mut statement = TokenStream::new();
        while !self.is_punct(';')
            && let Some(token) = self.next()
        {
            statement.extend([token]);
        }
        self.next();
        statement
    }

    pub(crate) fn word(&mut self, word: &str, expected: &str) -> Result<()> {
        match self.next() {
            Some(TokenTree::Ident(found)) if found.to_string() == word => Ok(()),
            other => Err(self.unexpected(expected, other)),
        }
    }

    pub(crate) fn name(&mut self, expected: &str) -> Result<Ident> {
        match self.next() {
            Some(TokenTree::Ident(name)) => Ok(name),
            other => Err(self.unexpected(expected, other)),
        }
    }

    pub(crate) fn punct(&mut self, character: char) -> Result<()> {
        match self.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == character => Ok(()),
            other => Err(self.unexpected(&format!("`{character}`"), other)),
        }
    }
}

/// The tokens of an invisible group, which variables of a `macro_rules!` macro add; any other token as it is.
fn flat(token: TokenTree) -> TokenStream {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            group.stream().into_iter().flat_map(flat).collect()
        }
        token => token.into(),
    }
}
