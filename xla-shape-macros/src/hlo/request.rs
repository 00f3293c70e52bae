//! The syntax of `hlo_types!`: `pub mod program = "module.hlo" { type Product = "dot.3"(Lhs, Rhs); }`.

use crate::diagnose;
use crate::tokens::unquote;
use proc_macro::token_stream::IntoIter;
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// A requested Rust module.
pub(super) struct Request {
    pub(super) attributes: TokenStream,
    pub(super) visibility: TokenStream,
    pub(super) name: Ident,
    /// The path of the HLO file.
    pub(super) path: Quoted,
    pub(super) types: Vec<Wanted>,
    /// The errors of requested types that could not be parsed; these are left out of `types`.
    pub(super) errors: Vec<Error>,
}

/// The types of an instruction and its operands: `type PATTERN = "instruction"(PATTERN, …);`
pub(super) struct Wanted {
    pub(super) attributes: TokenStream,
    pub(super) value: Pattern,
    /// The computation, if it is given: `"computation"::"instruction"`.
    pub(super) computation: Option<Quoted>,
    pub(super) instruction: Quoted,
    pub(super) operands: Option<Patterns>,
}

/// Names for a shape or for its elements.
pub(super) enum Pattern {
    /// A name for the whole shape.
    Name(Ident),
    /// `_`, no name.
    Nothing,
    /// Names for the elements of a tuple.
    Tuple(Patterns),
}

/// `(PATTERN, …)`
pub(super) struct Patterns {
    pub(super) patterns: Vec<Pattern>,
    /// Whether `..` is at the end, for any further elements.
    pub(super) and_others: bool,
    pub(super) span: Span,
}

/// A string literal.
pub(super) struct Quoted {
    pub(super) value: String,
    pub(super) span: Span,
}

/// An error message with a span.
#[derive(Clone)]
pub(super) struct Error {
    message: String,
    span: Span,
}

type Result<T> = std::result::Result<T, Error>;

impl Wanted {
    /// The names of all types.
    pub(super) fn into_names(self) -> Vec<Ident> {
        let mut names = self.value.names();
        names.extend(self.operands.iter().flat_map(Patterns::names));
        names
    }
}

impl Pattern {
    fn names(&self) -> Vec<Ident> {
        match self {
            Self::Name(name) => vec![name.clone()],
            Self::Nothing => Vec::new(),
            Self::Tuple(patterns) => patterns.names(),
        }
    }
}

impl Patterns {
    /// The names of all types.
    pub(super) fn names(&self) -> Vec<Ident> {
        self.patterns.iter().flat_map(Pattern::names).collect()
    }

    /// Checks that there is a pattern for each of `count` operands or elements.
    pub(super) fn fit(&self, count: usize, things: &str, owner: &str) -> Result<()> {
        let found = self.patterns.len();
        if found == count || (self.and_others && found < count) {
            return Ok(());
        }
        let message =
            format!("expected names for {count} {things} of {owner}, found {found}; `_` and `..` name nothing");
        Err(Error::new(message, self.span))
    }
}

impl Error {
    pub(super) fn new(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span }
    }

    pub(super) fn into_tokens(self) -> TokenStream {
        diagnose::compile_error(&self.message, (self.span, self.span))
    }
}

/// Parses the input of `hlo_types!`.
pub(super) fn requests(input: TokenStream) -> Result<Vec<Request>> {
    let mut tokens = Tokens::new(input, Span::call_site());
    let mut requests = vec![request(&mut tokens)?];
    while tokens.peek().is_some() {
        requests.push(request(&mut tokens)?);
    }
    Ok(requests)
}

fn request(tokens: &mut Tokens) -> Result<Request> {
    let attributes = tokens.attributes()?;
    let visibility = tokens.visibility();
    tokens.word("mod", "`mod`, a name, `=` and the path of an HLO file")?;
    let name = tokens.name("the name of the Rust module")?;
    tokens.punct('=')?;
    let path = tokens.quoted("the path of an HLO file, in quotes")?;
    let mut request = Request { attributes, visibility, name, path, types: Vec::new(), errors: Vec::new() };
    match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => request.read_types(&group),
        Some(TokenTree::Punct(end)) if end.as_char() == ';' => {}
        None => {}
        other => return Err(tokens.unexpected("`;`, or `{` and types", other)),
    }
    Ok(request)
}

impl Request {
    /// Parses `type …; type …;`. Statements with errors are skipped, and the errors collected.
    fn read_types(&mut self, group: &Group) {
        let mut tokens = Tokens::new(group.stream(), group.span_close());
        while tokens.peek().is_some() {
            match wanted(&mut tokens) {
                Ok(wanted) => self.types.push(wanted),
                Err(error) => {
                    // Reading goes on with the next statement: one mistake does not hide the others.
                    self.errors.push(error);
                    tokens.skip_statement();
                }
            }
        }
    }
}

fn wanted(tokens: &mut Tokens) -> Result<Wanted> {
    let attributes = tokens.attributes()?;
    tokens.word("type", "`type`, a name, `=` and the name of an instruction")?;
    let value = pattern(tokens)?;
    tokens.punct('=')?;
    let mut instruction = tokens.quoted("the name of an instruction, in quotes")?;
    let mut computation = None;
    if tokens.is_punct(':') {
        tokens.punct(':')?;
        tokens.punct(':')?;
        let inner = tokens.quoted("the name of an instruction, in quotes")?;
        computation = Some(std::mem::replace(&mut instruction, inner));
    }
    let operands = match tokens.peek() {
        Some(TokenTree::Group(_)) => Some(patterns(tokens)?),
        _ => None,
    };
    tokens.end_of_type(operands.is_some())?;
    Ok(Wanted { attributes, value, computation, instruction, operands })
}

const PATTERN: &str = "a name for a type, `_`, or names in parentheses";

fn pattern(tokens: &mut Tokens) -> Result<Pattern> {
    match tokens.peek() {
        Some(TokenTree::Group(_)) => Ok(Pattern::Tuple(patterns(tokens)?)),
        _ => {
            let name = tokens.name(PATTERN)?;
            Ok(if name.to_string() == "_" { Pattern::Nothing } else { Pattern::Name(name) })
        }
    }
}

fn patterns(tokens: &mut Tokens) -> Result<Patterns> {
    let group = match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group,
        other => return Err(tokens.unexpected("names in parentheses", other)),
    };
    let mut inner = Tokens::new(group.stream(), group.span_close());
    let mut read = Patterns { patterns: Vec::new(), and_others: false, span: group.span() };
    while inner.peek().is_some() {
        if inner.is_punct('.') {
            inner.punct('.')?;
            inner.punct('.')?;
            read.and_others = true;
        } else {
            read.patterns.push(pattern(&mut inner)?);
        }
        match inner.next() {
            None => {}
            Some(TokenTree::Punct(comma)) if comma.as_char() == ',' && !read.and_others => {}
            other => return Err(inner.unexpected(if read.and_others { "`)`" } else { "`,` or `)`" }, other)),
        }
    }
    Ok(read)
}

/// A cursor over tokens.
struct Tokens {
    tokens: Peekable<IntoIter>,
    /// Whether the last token was `;`.
    is_after_semicolon: bool,
    /// The span after the last token, for errors at the end.
    end: Span,
}

impl Tokens {
    fn new(stream: TokenStream, end: Span) -> Self {
        let flat: TokenStream = stream.into_iter().flat_map(flat).collect();
        Self { tokens: flat.into_iter().peekable(), is_after_semicolon: false, end }
    }

    fn peek(&mut self) -> Option<&TokenTree> {
        self.tokens.peek()
    }

    fn next(&mut self) -> Option<TokenTree> {
        self.is_after_semicolon = self.is_punct(';');
        self.tokens.next()
    }

    fn is_punct(&mut self, character: char) -> bool {
        matches!(self.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == character)
    }

    /// Skips to the token after the next `;`, unless the cursor is already after one.
    fn skip_statement(&mut self) {
        while !self.is_after_semicolon && self.next().is_some() {}
    }

    fn unexpected(&self, expected: &str, found: Option<TokenTree>) -> Error {
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
    fn attributes(&mut self) -> Result<TokenStream> {
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
    fn visibility(&mut self) -> TokenStream {
        let mut visibility = TokenStream::new();
        if matches!(self.peek(), Some(TokenTree::Ident(word)) if word.to_string() == "pub") {
            visibility.extend(self.next());
            if matches!(self.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis) {
                visibility.extend(self.next());
            }
        }
        visibility
    }

    fn word(&mut self, word: &str, expected: &str) -> Result<()> {
        match self.next() {
            Some(TokenTree::Ident(found)) if found.to_string() == word => Ok(()),
            other => Err(self.unexpected(expected, other)),
        }
    }

    fn name(&mut self, expected: &str) -> Result<Ident> {
        match self.next() {
            Some(TokenTree::Ident(name)) => Ok(name),
            other => Err(self.unexpected(expected, other)),
        }
    }

    fn punct(&mut self, character: char) -> Result<()> {
        match self.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == character => Ok(()),
            other => Err(self.unexpected(&format!("`{character}`"), other)),
        }
    }

    fn end_of_type(&mut self, has_operands: bool) -> Result<()> {
        match self.next() {
            Some(TokenTree::Punct(end)) if end.as_char() == ';' => Ok(()),
            other if has_operands => Err(self.unexpected("`;`", other)),
            other => Err(self.unexpected("`;`, or names for the operands in parentheses", other)),
        }
    }

    fn quoted(&mut self, expected: &str) -> Result<Quoted> {
        match self.next() {
            Some(TokenTree::Literal(literal)) => match unquote(&literal.to_string()) {
                Some(value) => Ok(Quoted { value, span: literal.span() }),
                None => Err(self.unexpected(expected, Some(literal.into()))),
            },
            other => Err(self.unexpected(expected, other)),
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
