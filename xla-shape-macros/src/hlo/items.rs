//! The items of the Rust modules that `hlo_types!` makes.

use super::request::{Pattern, Wanted};
use crate::cursor::Error;
use crate::expand;
use crate::named::{self, rust};
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::collections::HashMap;
use xla_shape_core::Shape;
use xla_shape_core::type_limits::{self, MAX_LIST, TypeLimitError};
use xla_shape_hlo::Instruction;

/// The origin of a shape, for documentation and messages.
pub(super) struct Origin {
    /// The value that has the shape, such as ``operand 0 of `dot.3` ``.
    what: String,
    /// The text of the instruction.
    text: String,
}

impl Origin {
    /// `what` is the value that has the shape, such as ``operand 0 of `dot.3` ``.
    pub(super) fn new(what: String, instruction: Instruction<'_>) -> Self {
        Self { what, text: one_line(instruction) }
    }

    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// The origin of an element of a tuple.
    pub(super) fn element(&self, index: usize) -> Self {
        Self { what: format!("element {index} of {}", self.what), text: self.text.clone() }
    }

    /// The documentation of the shape's type.
    pub(super) fn doc(&self, shape: &Shape) -> String {
        format!("{}: {}.\n\n```text\n{}\n```", named::description(shape), self.what, self.text)
    }
}

/// The text of an instruction on one line, truncated if it is long.
fn one_line(instruction: Instruction<'_>) -> String {
    const MAX_CHARS: usize = 400;
    let span = instruction.span();
    let text = instruction.module().text().get(span.start..span.end).unwrap_or_default();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(MAX_CHARS) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

/// Collects the items of one Rust module.
pub(super) struct Items<'l> {
    library: &'l TokenStream,
    tokens: TokenStream,
    /// The names in use, each with the value that it stands for.
    names: HashMap<String, String>,
    /// The number of types that are unknown because of an error.
    unknown: usize,
}

impl<'l> Items<'l> {
    pub(super) fn new(library: &'l TokenStream) -> Self {
        Self { library, tokens: TokenStream::new(), names: HashMap::new(), unknown: 0 }
    }

    /// `#[…] pub mod name { … }`
    pub(super) fn into_module(
        self,
        attributes: TokenStream,
        about: &str,
        visibility: TokenStream,
        name: Ident,
    ) -> TokenStream {
        let mut module = attributes;
        module.extend(rust(&format!("#[doc = {about:?}] #[allow(dead_code, reason = \"not every type is needed\")]")));
        module.extend(visibility);
        module.extend(rust("mod"));
        module.extend([TokenTree::from(name), Group::new(Delimiter::Brace, self.tokens).into()]);
        module
    }

    /// Makes Cargo rebuild the crate when the file changes.
    pub(super) fn watch(&mut self, absolute: &str) {
        self.tokens.extend(rust(&format!("const _: &[u8] = ::core::include_bytes!({absolute:?});")));
    }

    pub(super) fn error(&mut self, error: Error) {
        self.tokens.extend(error.into_tokens());
    }

    fn alias(&mut self, attributes: &TokenStream, doc: &str, name: Ident, type_tokens: TokenStream) {
        let visibility = rust("pub");
        self.tokens.extend(named::alias(
            attributes.clone(),
            doc,
            visibility,
            TokenTree::from(name).into(),
            type_tokens,
        ));
    }

    /// Adds a type that was not requested. If the shape has none, the error appears only where the name is used.
    pub(super) fn automatic(&mut self, name: &str, shape: &Shape, origin: &Origin) {
        let type_tokens = expand::tokens(&expand::type_of(shape), self.library);
        self.alias_or_reason(type_limits::check_shape(shape), name, &origin.what, &origin.doc(shape), type_tokens);
    }

    /// Adds a type that was not requested: the tuple of `count` types whose names begin with `element`.
    pub(super) fn tuple(&mut self, name: &str, element: &str, count: usize, what: &str, doc: &str) {
        let elements: String = (0..count).map(|index| format!("{element}{index},")).collect();
        self.alias_or_reason(type_limits::check_tuple(count), name, what, doc, rust(&format!("({elements})")));
    }

    /// Adds a type alias; if the shape has no type, adds an enum without variants, whose documentation says why.
    fn alias_or_reason(
        &mut self,
        checked: Result<(), TypeLimitError>,
        name: &str,
        what: &str,
        doc: &str,
        type_tokens: TokenStream,
    ) {
        self.names.insert(name.to_owned(), what.to_owned());
        match checked {
            Ok(()) => self.alias(&TokenStream::new(), doc, Ident::new(name, Span::call_site()), type_tokens),
            Err(error) => {
                let doc = format!("No type of a shape: {error}.\n\n{doc}");
                self.tokens.extend(rust(&format!("#[doc = {doc:?}] pub enum {name} {{}}")));
            }
        }
    }

    /// Adds the types that a pattern names in a shape.
    pub(super) fn pattern(&mut self, attributes: &TokenStream, pattern: Pattern, shape: &Shape, origin: &Origin) {
        match pattern {
            Pattern::Nothing => {}
            Pattern::Name(name) => self.named(attributes, name, shape, origin),
            Pattern::Tuple(patterns) => {
                let Some(elements) = shape.tuple_shapes() else {
                    let message = format!("expected one name, because {} is not a tuple, but {shape}", origin.what);
                    return self.unknown(Error::new(message, patterns.span), patterns.names());
                };
                if let Err(error) = patterns.fit(elements.len(), "elements", &origin.what) {
                    return self.unknown(error, patterns.names());
                }
                for (index, (pattern, element)) in patterns.patterns.into_iter().zip(elements).enumerate() {
                    self.pattern(attributes, pattern, element, &origin.element(index));
                }
            }
        }
    }

    fn named(&mut self, attributes: &TokenStream, name: Ident, shape: &Shape, origin: &Origin) {
        if let Some(other) = self.names.insert(name.to_string(), origin.what.clone()) {
            let message = format!("expected another name, because `{name}` is {other} already");
            return self.error(Error::new(message, name.span()));
        }
        if let Err(error) = type_limits::check_shape(shape) {
            let error = Error::new(format!("{}: {error}", origin.what), name.span());
            self.names.remove(&name.to_string());
            return self.unknown(error, vec![name]);
        }
        let type_tokens = expand::tokens(&expand::type_of(shape), self.library);
        self.alias(attributes, &origin.doc(shape), name, type_tokens);
    }

    /// Adds an error, and placeholder types for the names that it affects, so that their uses cause no further errors.
    pub(super) fn unknown(&mut self, error: Error, names: Vec<Ident>) {
        let unknown = Ident::new(&format!("Unknown{}", self.unknown), Span::mixed_site());
        self.unknown += 1;
        self.alias(&TokenStream::new(), "", unknown.clone(), expand::unknown(error.into_tokens()));
        for name in names {
            if self.names.insert(name.to_string(), "a shape".to_owned()).is_none() {
                self.alias(&TokenStream::new(), "", name, TokenTree::from(unknown.clone()).into());
            }
        }
    }

    /// Adds an error about the file, and placeholder types for the requested names and for any parameters and results
    /// that the file might have had.
    pub(super) fn nothing_is_known(&mut self, error: Error, types: Vec<Wanted>) {
        let numbered = |name| (0..MAX_LIST).map(move |number| format!("{name}{number}"));
        let guessed = ["Parameters".to_owned(), "Result".to_owned()].into_iter();
        let guessed = guessed.chain(numbered("Parameter")).chain(numbered("Result"));
        let guessed = guessed.map(|name| Ident::new(&name, Span::call_site()));
        self.unknown(error, types.into_iter().flat_map(Wanted::into_names).chain(guessed).collect());
    }
}
