//! Finding shapes in any text, and in the instructions of a module without parsing it.

mod brackets;
pub(crate) mod json;
pub(crate) mod mlir;
pub(crate) mod oom;
pub(crate) mod processes;
pub(crate) mod program;
pub(crate) mod refusal;
pub(crate) mod size;
pub(crate) mod spelling;
pub(crate) mod utf16;
pub(crate) mod wrapping;

use crate::cursor::Cursor;
use alloc::vec::Vec;
use memchr::memchr;
use xla_shape_core::Shape;
use xla_shape_core::text::{MAX_NESTING, Parser, Span};

/// A shape found in a text.
///
/// ```
/// let log = "jit_step: allocating bf16[8,128] failed";
/// let found = xla_shape_hlo::find_shapes(log).next().unwrap();
/// assert_eq!(found.shape.to_string(), "bf16[8,128]{1,0}");
/// assert_eq!(&log[found.span.start..found.span.end], "bf16[8,128]");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundShape {
    /// The shape.
    pub shape: Shape,
    /// Where it is in the text.
    pub span: Span,
}

/// Finds the shapes in any text: a log, an out-of-memory report, a traceback.
///
/// An element type followed by brackets is an array; a layout after it belongs to it if it is valid. Shapes in parentheses,
/// separated only by commas, are one tuple. Takes time proportional to the length of the text.
///
/// ```
/// use xla_shape_hlo::find_shapes;
///
/// let text = "Allocation type: HLO temp; Shape: f32[16,512]{1,0:T(8,128)}, 32.0K; f(bf16[8] x) -> (s32[], f32[2])";
/// let found: Vec<_> = find_shapes(text).map(|found| &text[found.span.start..found.span.end]).collect();
/// assert_eq!(found, ["f32[16,512]{1,0:T(8,128)}", "bf16[8]", "(s32[], f32[2])"]);
/// ```
pub fn find_shapes(text: &str) -> impl Iterator<Item = FoundShape> + '_ {
    FindShapes { text, position: 0, open: Vec::new(), before: Before::Parenthesis, pending: Vec::new(), returned: 0 }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What [`find_shapes`] returns.
#[derive(Clone, Debug)]
struct FindShapes<'a> {
    text: &'a str,
    position: usize,
    /// The open parentheses that may begin a tuple: where each is, and how many shapes are pending before it.
    open: Vec<(usize, usize)>,
    /// What comes before the current position in the innermost open parenthesis.
    before: Before,
    /// Shapes that were found and may still be part of a tuple.
    pending: Vec<FoundShape>,
    /// How many shapes in `pending` were returned.
    returned: usize,
}

/// What the scanner has just passed inside a tuple.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Before {
    Parenthesis,
    Element,
    Comma,
}

impl Iterator for FindShapes<'_> {
    type Item = FoundShape;

    fn next(&mut self) -> Option<FoundShape> {
        loop {
            if self.open.is_empty() {
                if let Some(found) = self.pending.get_mut(self.returned) {
                    self.returned += 1;
                    let empty = FoundShape { shape: Shape::Token, span: found.span };
                    return Some(core::mem::replace(found, empty));
                }
                self.pending.clear();
                self.returned = 0;
            }
            if !self.find_array() {
                if self.pending.is_empty() {
                    return None;
                }
                // Unclosed parentheses are not a tuple.
                self.open.clear();
            }
        }
    }
}

impl FindShapes<'_> {
    fn byte(&self, position: usize) -> Option<u8> {
        self.text.as_bytes().get(position).copied()
    }

    /// Moves after the next array, token or opaque shape. Returns `false` if there is none.
    fn find_array(&mut self) -> bool {
        let from = self.position;
        loop {
            let rest = self.text.as_bytes().get(self.position..).unwrap_or(&[]);
            let Some(length) = memchr(b'[', rest) else {
                self.position = self.text.len();
                return false;
            };
            let bracket = self.position + length;
            let searched = core::mem::replace(&mut self.position, bracket + 1);
            let Some(found) = self.array_at(bracket, searched) else { continue };
            let start = found.span.start;
            if self.open.is_empty() || start != from {
                // There was other text in between: only parentheses directly before the shape can begin a tuple.
                self.open.clear();
                self.opens_before(from, start);
            }
            if self.before == Before::Element {
                self.open.clear();
            }
            self.position = found.span.end;
            self.pending.push(found);
            self.before = Before::Element;
            self.go_on_in_tuple();
            return true;
        }
    }

    /// The shape whose first bracket is at `bracket`, if it begins after `from`.
    fn array_at(&self, bracket: usize, from: usize) -> Option<FoundShape> {
        // The longest names are those of element types.
        let mut start = bracket;
        while start > from
            && bracket.saturating_sub(start) <= 16
            && self.byte(start.wrapping_sub(1)).is_some_and(is_word)
        {
            start = start.saturating_sub(1);
        }
        if start == bracket
            || start
                .checked_sub(1)
                .and_then(|before| self.byte(before))
                .is_some_and(|byte| is_word(byte) || matches!(byte, b'.' | b'%'))
        {
            return None;
        }
        let shape_in = |end: usize| {
            let mut parser = Parser::at(self.text.get(..end)?, start);
            let shape = parser.shape().ok()?;
            parser.finish().ok().map(|()| shape)
        };
        let found = |end: usize| Some(FoundShape { shape: shape_in(end)?, span: Span { start, end } });
        let cursor = Cursor::new(self.text, start);
        // The braces may contain something other than a layout.
        cursor.array_end(start).and_then(found).or_else(|| cursor.dimensions_end(start).and_then(found))
    }

    /// Records the open parentheses that come directly before a shape at `to`, but not those before `from`.
    fn opens_before(&mut self, from: usize, to: usize) {
        let between = self.text.as_bytes().get(from..to).unwrap_or(&[]);
        let run =
            between.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'(' | b')' | b','));
        let begin = to.saturating_sub(run.count());
        self.before = Before::Parenthesis;
        for position in begin..to {
            self.step(position);
        }
    }

    /// Moves on after a shape, through all text that can belong to the open tuple.
    fn go_on_in_tuple(&mut self) {
        while !self.open.is_empty() {
            match self.byte(self.position) {
                Some(b'/') => {
                    // A comment such as `/*index=5*/`. Comments in tuples are short, so 32 bytes are enough.
                    let comment = self.text.as_bytes().get(self.position..).unwrap_or(&[]);
                    let comment = comment.get(..32).unwrap_or(comment);
                    let end = comment.windows(2).skip(2).position(|pair| pair == b"*/");
                    match end {
                        Some(end) if comment.starts_with(b"/*") => {
                            self.position += end + 4;
                        }
                        _ => return,
                    }
                }
                Some(b' ' | b'\n' | b'\r' | b'\t' | b'(' | b')' | b',') => {
                    self.step(self.position);
                    if self.open.is_empty() && self.byte(self.position) == Some(b'(') {
                        // This parenthesis may open another tuple.
                        return;
                    }
                    self.position += 1;
                }
                _ => return,
            }
        }
    }

    /// Processes one character of a tuple.
    fn step(&mut self, position: usize) {
        match (self.byte(position), self.before) {
            (Some(b'('), Before::Parenthesis | Before::Comma) => {
                // After a word, a parenthesis begins arguments.
                let is_call = position.checked_sub(1).and_then(|before| self.byte(before)).is_some_and(is_word);
                if is_call || self.open.len() == MAX_NESTING {
                    self.open.clear();
                }
                if !is_call {
                    self.open.push((position, self.pending.len()));
                }
                self.before = Before::Parenthesis;
            }
            (Some(b')'), Before::Parenthesis | Before::Element) => {
                if let Some((start, first)) = self.open.pop() {
                    let elements = self.pending.drain(first..).map(|found| found.shape).collect();
                    let span = Span { start, end: position + 1 };
                    // At most `MAX_NESTING` are open at a time, so that no tuple is too deep.
                    self.pending.extend(Shape::tuple(elements).map(|shape| FoundShape { shape, span }));
                }
                self.before = if self.open.is_empty() { Before::Parenthesis } else { Before::Element };
            }
            (Some(b','), Before::Element) => self.before = Before::Comma,
            (Some(b'(' | b')' | b','), _) => {
                self.open.clear();
                self.before = Before::Parenthesis;
            }
            _ => {}
        }
    }
}

/// Where the shapes of a module's instructions are in its text, found without parsing the module.
///
/// This is much faster than parsing, but finds less: an instruction must begin on a new line, and neither its shape nor anything
/// else is checked.
///
/// ```
/// use xla_shape_hlo::instruction_shapes;
///
/// let text = "ENTRY %main {\n  %a = f32[2]{0} parameter(0)\n  ROOT %b = (f32[2]{0}, s32[]) custom-call(%a)\n}\n";
/// let shapes: Vec<_> = instruction_shapes(text).map(|span| &text[span.start..span.end]).collect();
/// assert_eq!(shapes, ["f32[2]{0}", "(f32[2]{0}, s32[])"]);
/// ```
pub fn instruction_shapes(text: &str) -> impl Iterator<Item = Span> + '_ {
    let mut line = 0;
    core::iter::from_fn(move || {
        loop {
            let start = line;
            let rest = text.as_bytes().get(start..).filter(|rest| !rest.is_empty())?;
            line = memchr(b'\n', rest).map_or(text.len(), |length| start + length + 1);
            if let Some(span) = Cursor::new(text, start).instruction_shape() {
                return Some(span);
            }
        }
    })
}
