//! Computations written inside an attribute: `to_apply={ … }`.
//!
//! Such computations are parsed after the computation around them. Each gets a name, as in XLA, and the attribute's value becomes that name.

use super::{Parser, Result, number, piece};
use crate::module::{ComputationRecord, Piece};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use xla_shape_core::sorting::set_of;
use xla_shape_core::text::{Expected, ParseError, ParseErrorKind, Span};

/// An attribute whose value contains computations.
pub(crate) struct NestedRecord {
    /// The number of the attribute.
    pub(crate) attribute: u32,
    /// Its value.
    pub(crate) value: Piece,
    /// Whether the value is a list of computations and names; otherwise it is one computation.
    pub(crate) is_list: bool,
}

/// An attribute whose value will be replaced by the names of its computations.
pub(crate) struct NamedRecord {
    attribute: u32,
    value: Piece,
    is_list: bool,
    computations: Vec<Callee>,
}

enum Callee {
    /// The number of a nested computation, which gets a name later.
    Nested(u32),
    Named(Piece),
}

impl Parser<'_> {
    /// Parses the computations inside these attributes.
    pub(crate) fn nested_computations(&mut self, nested: Vec<NestedRecord>) -> Result<()> {
        for NestedRecord { attribute, value, is_list } in nested {
            let start = value.start as usize;
            let end = start + value.len as usize;
            self.deeper(Span { start, end: start + 1 })?;
            let mut computations = Vec::new();
            if is_list {
                let mut items = self.cursor.inside(start, end);
                items.skip_space()?;
                while !items.eat(b'}') {
                    let start = items.position;
                    let item_end = items.value()?;
                    // Braces hold a computation; anything else names one.
                    if items.text().as_bytes().get(start) == Some(&b'{') {
                        self.nested_computation(start, item_end, &mut computations)?;
                    } else {
                        computations.push(Callee::Named(piece(start, item_end)));
                    }
                    items.skip_space()?;
                    items.eat(b',');
                    items.skip_space()?;
                }
            } else {
                self.nested_computation(start, end, &mut computations)?;
            }
            self.depth = self.depth.saturating_sub(1);
            self.named.push(NamedRecord { attribute, value, is_list, computations });
        }
        Ok(())
    }

    fn nested_computation(&mut self, start: usize, end: usize, called: &mut Vec<Callee>) -> Result<()> {
        // While this computation is read, the cursor sees only its text.
        let inside = self.cursor.inside(start, end);
        let outside = core::mem::replace(&mut self.cursor, inside);
        let before = self.module.computations.len();
        let is_fragment = core::mem::replace(&mut self.in_fragment, false);
        let read = self.instructions(ComputationRecord::new(piece(start, start)));
        self.in_fragment = is_fragment;
        let rest = read.and_then(|()| {
            self.cursor.skip_space()?;
            match self.cursor.peek() {
                None => Ok(()),
                Some(_) => Err(self.cursor.unexpected(Expected::Character('}'))),
            }
        });
        self.cursor = outside;
        // Computations nested in this one were added before it, so this computation is the last.
        if self.module.computations.len() > before {
            called.push(Callee::Nested(number(self.module.computations.len()).saturating_sub(1)));
        }
        self.or_report(rest)
    }

    /// Names the nested computations `_`, `_.1`, …, and replaces the attribute values by these names.
    pub(crate) fn name_nested(&mut self) -> Result<()> {
        if self.named.is_empty() {
            return Ok(());
        }
        let names = self.module.computations.iter().map(|record| self.module.piece(record.name));
        let taken = set_of(names.filter(|name| name.starts_with('_')).map(str::to_owned));
        let mut count = 0_usize;
        for index in 0..self.module.computations.len() {
            let Some(record) = self.module.computations.get(index) else { break };
            if record.is_fragment || record.name.len > 0 {
                continue;
            }
            let place = record.name;
            let name = loop {
                let mut name = String::from("_");
                if count > 0 {
                    // Writing to memory does not fail.
                    let _ = write!(name, ".{count}");
                }
                count += 1;
                if !taken.contains(&name) {
                    break name;
                }
            };
            let generated = self.generated(&name, place)?;
            if let Some(record) = self.module.computations.get_mut(index) {
                record.name = generated;
            }
        }
        for NamedRecord { attribute, value, is_list, computations } in core::mem::take(&mut self.named) {
            let names: Vec<_> = computations
                .iter()
                .filter_map(|called| match called {
                    Callee::Named(name) => Some(self.module.piece(*name)),
                    Callee::Nested(number) => {
                        Some(self.module.piece(self.module.computations.get(*number as usize)?.name))
                    }
                })
                .map(|name| name.strip_prefix('%').unwrap_or(name))
                .collect();
            let mut text = String::from(if is_list { "{" } else { "" });
            for (i, name) in names.into_iter().enumerate() {
                text.push_str(if i > 0 { ", %" } else { "%" });
                text.push_str(name);
            }
            text.push_str(if is_list { "}" } else { "" });
            let generated = self.generated(&text, value)?;
            if let Some(record) = self.module.attributes.get_mut(attribute as usize) {
                record.value = generated;
            }
        }
        Ok(())
    }

    fn generated(&mut self, text: &str, place: Piece) -> Result<Piece> {
        let generated = self.module.generate(format_args!("{text}"), place);
        let too_long = || {
            let start = place.start as usize;
            ParseError::new(ParseErrorKind::TextTooLong { limit: self.module.text.len() }, Span { start, end: start })
        };
        generated.ok_or_else(too_long)
    }
}
