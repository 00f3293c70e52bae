//! Attributes: what stands behind an instruction's operands, a computation's end or a module's name.

use crate::text::Span;

/// An attribute: a name and a value.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    name: &'a str,
    value: Value<'a>,
}

impl<'a> Attribute<'a> {
    pub(super) const fn new(name: &'a str, value: Value<'a>) -> Self {
        Self { name, value }
    }

    /// The name, such as `dimensions`.
    #[must_use]
    pub const fn name(self) -> &'a str {
        self.name
    }

    /// The value.
    #[must_use]
    pub const fn value(self) -> Value<'a> {
        self.value
    }
}

/// The value of an attribute, as it is written.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// The text of the module.
    source: &'a str,
    span: Span,
}

impl<'a> Value<'a> {
    pub(super) const fn new(source: &'a str, span: Span) -> Self {
        Self { source, span }
    }

    /// The value as it is written, such as `{0,2,1}`.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.source.get(self.span.start..self.span.end).unwrap_or("")
    }

    /// Where the value stands.
    #[must_use]
    pub const fn span(self) -> Span {
        self.span
    }
}

impl core::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.text().fmt(f)
    }
}
