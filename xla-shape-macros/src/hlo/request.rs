//! The syntax of `hlo_types!`: `pub mod program = "module.hlo" { type Product = "dot.3"(Lhs, Rhs); }`.

use crate::cursor::{Error, Result, Tokens};
use crate::tokens::unquote;
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

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
                    // Continue with the next statement, so that one mistake does not hide others.
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

/// The parts that only this syntax has.
impl Tokens {
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
