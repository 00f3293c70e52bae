//! Reads the operations of a file, and writes the functions and what they return.

use super::file::{Entry, File};
use super::reader::{Reader, Result};
use super::{BytecodeProblem, code};
use crate::error::MAX_DEPTH;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// An operation whose regions are being read, or the file as a whole.
struct Open<'a> {
    /// How many are still to be read: regions of the operation, blocks of the present region, operations of the present block.
    regions: usize,
    blocks: usize,
    operations: usize,
    /// The values that the operation can use.
    around: Values,
    /// The values before the region that is being read; they are restored before the next region.
    before: Option<Values>,
    function: Option<Function<'a>>,
}

/// A function whose operations are being read.
#[derive(Clone, Copy)]
struct Function<'a> {
    attributes: Option<Entry<'a>>,
    /// How many parameters it has; `None` before its first block.
    parameters: Option<u64>,
}

/// The numbers of values. The values of a region are numbered after those of the regions around it, or from 0 if the region cannot use them.
#[derive(Clone, Copy, Default)]
struct Values {
    /// One more than the highest number of a value in the innermost region.
    end: u64,
    /// The number of the next value that is computed.
    next: u64,
}

/// Writes the functions of a file.
pub(super) struct Printer<'a> {
    pub(super) file: File<'a>,
    pub(super) text: String,
    /// How many more bytes the text may have.
    pub(super) left: usize,
}

impl<'a> Printer<'a> {
    /// `most` is how many bytes the text may have.
    pub(super) const fn new(file: File<'a>, most: usize) -> Self {
        Self { file, text: String::new(), left: most }
    }

    /// The functions among all operations.
    pub(super) fn functions(mut self, operations: Reader<'a>) -> Result<String> {
        self.operations(operations)?;
        Ok(self.text)
    }

    /// Reads all operations. Open regions are in a list, not on the program's stack, so deep nesting cannot exhaust that stack.
    fn operations(&mut self, mut input: Reader<'a>) -> Result<()> {
        let mut values = Values::default();
        let mut open = Open { regions: 0, blocks: 1, operations: 0, around: values, before: None, function: None };
        let mut around: Vec<Open<'a>> = Vec::new();
        loop {
            // The innermost parts come first in the bytes: the operations of the present block, then the other blocks of the region, then the
            // other regions of the operation. After these, the block that contains the operation goes on.
            if let Some(rest) = open.operations.checked_sub(1) {
                open.operations = rest;
                if let Some(inner) = self.operation(&mut input, &mut values, &open)? {
                    if around.len() >= MAX_DEPTH {
                        return Err(input.error(BytecodeProblem::TooDeep));
                    }
                    around.push(core::mem::replace(&mut open, inner));
                }
            } else if let Some(rest) = open.blocks.checked_sub(1) {
                open.blocks = rest;
                open.operations = self.block(&mut input, &mut values, &mut open.function)?;
            } else if let Some(rest) = open.regions.checked_sub(1) {
                values = open.before.take().unwrap_or(values);
                open.regions = rest;
                open.blocks = input.count()?;
                if open.blocks > 0 {
                    let (more, number) = (input.varint()?, values.end);
                    open.before = Some(values);
                    values = Values { end: number.saturating_add(more), next: number };
                }
            } else {
                match open.function {
                    Some(Function { parameters: Some(_), .. }) => self.write("}\n", &input)?,
                    Some(Function { attributes, .. }) => {
                        self.head(attributes, &[], &input).and_then(|()| self.write("\n", &input))?
                    }
                    None => {}
                }
                values = open.around;
                match around.pop() {
                    Some(outer) => open = outer,
                    None => return Ok(()),
                }
            }
        }
    }

    /// Reads an operation without its regions, and returns what is to be read of those.
    fn operation(
        &mut self,
        input: &mut Reader<'a>,
        values: &mut Values,
        inside: &Open<'a>,
    ) -> Result<Option<Open<'a>>> {
        const ATTRIBUTES: u8 = 1;
        const RESULTS: u8 = 2;
        const OPERANDS: u8 = 4;
        const SUCCESSORS: u8 = 8;
        const REGIONS: u8 = 16;
        let name = input.entry(&self.file.operations)?;
        let mask = input.byte()?;
        if mask & !(ATTRIBUTES | RESULTS | OPERANDS | SUCCESSORS | REGIONS) != 0 {
            return Err(input.error(BytecodeProblem::Parts(mask)));
        }
        // The location.
        input.varint()?;
        let attributes = if mask & ATTRIBUTES != 0 { Some(input.entry(&self.file.attributes)?) } else { None };
        if mask & RESULTS != 0 {
            let results = input.count()?;
            (0..results).try_for_each(|_| input.varint().map(drop))?;
            values.next = values.next.saturating_add(results as u64);
        }
        // A function is isolated, so its parameters are its first values: an operand with a lower number than their count is a parameter.
        let returned = inside.function.and_then(|function| function.parameters);
        let returned = returned.filter(|_| is_of_func(name, b"return"));
        if returned.is_some() {
            self.write("  return", input)?;
        }
        if mask & OPERANDS != 0 {
            for number in 0..input.count()? {
                let value = input.varint()?;
                if let Some(parameters) = returned {
                    let kind = if value < parameters { "arg" } else { "" };
                    self.write(&format!("{} %{kind}{value}", if number == 0 { "" } else { "," }), input)?;
                }
            }
        }
        if returned.is_some() {
            self.write("\n", input)?;
        }
        if mask & SUCCESSORS != 0 {
            (0..input.count()?).try_for_each(|_| input.varint().map(drop))?;
        }
        if mask & REGIONS == 0 {
            return Ok(None);
        }
        let (regions, is_isolated) = input.flagged()?;
        let regions = usize::try_from(regions).map_err(|_| input.error(BytecodeProblem::Number(regions)))?;
        let around = *values;
        if is_isolated {
            *values = Values::default();
        }
        let function = is_of_func(name, b"func").then_some(Function { attributes, parameters: None });
        Ok(Some(Open { regions, blocks: 0, operations: 0, around, before: None, function }))
    }

    /// Reads the head of a block, and returns the number of its operations. The first block of a function has its parameters.
    fn block(
        &mut self,
        input: &mut Reader<'a>,
        values: &mut Values,
        function: &mut Option<Function<'a>>,
    ) -> Result<usize> {
        let (operations, has_parameters) = input.flagged()?;
        let operations = usize::try_from(operations).map_err(|_| input.error(BytecodeProblem::Number(operations)))?;
        let mut parameters = Vec::new();
        if has_parameters {
            for _ in 0..input.count()? {
                parameters.push((input.entry(&self.file.types)?, input.entry(&self.file.attributes)?));
            }
        }
        values.next = values.next.saturating_add(parameters.len() as u64);
        // Only the first block has the function's parameters; other blocks' parameters are values of branches.
        if let Some(function) = function.as_mut().filter(|function| function.parameters.is_none()) {
            function.parameters = Some(parameters.len() as u64);
            self.head(function.attributes, &parameters, input)?;
            self.write(" {\n", input)?;
        }
        Ok(operations)
    }

    /// Writes the head of a function: its name, its parameters, each with its type and location, and the other attributes.
    fn head(
        &mut self,
        attributes: Option<Entry<'a>>,
        parameters: &[(Entry<'a>, Entry<'a>)],
        at: &Reader<'a>,
    ) -> Result<()> {
        let attributes = attributes.map_or_else(|| Ok(Vec::new()), |attributes| self.file.dictionary(attributes))?;
        // Attributes that are not written count, too, because they take time: many functions can share a long dictionary.
        self.spend(attributes.len(), at)?;
        let name =
            attributes.iter().find(|(name, _)| *name == b"sym_name").and_then(|(_, name)| self.file.string(*name));
        self.write("func.func ", at)?;
        self.symbol(name.unwrap_or_default(), at)?;
        self.write("(", at)?;
        for (number, (of, location)) in parameters.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            self.write(&format!("{comma}%arg{number}: "), at)?;
            self.type_of(*of, at, 0)?;
            let named = self.file.builtin(*location, code::NAMED_LOCATION);
            let name = named.and_then(|mut name| name.entry(&self.file.attributes).ok());
            if let Some(name) = name.and_then(|name| self.file.string(name)) {
                self.write(" loc(", at)?;
                self.quoted(name, at)?;
                self.write(")", at)?;
            }
        }
        self.write(") attributes ", at)?;
        let others = attributes.into_iter().filter(|(name, _)| !matches!(*name, b"sym_name" | b"function_type"));
        self.pairs(others, at, 0)
    }
}

/// The dialect in which JAX writes kernels. The names of its operations contain the whole names of other dialects' operations, such as
/// `func.return` in `stable_mosaic.func.return`.
const KERNELS: &[u8] = b"stable_mosaic";

/// Whether an operation is this one of the dialect `func`.
fn is_of_func((dialect, name): (&[u8], &[u8]), wanted: &[u8]) -> bool {
    let name = if dialect == KERNELS { name.strip_prefix(b"func.") } else { Some(name).filter(|_| dialect == b"func") };
    name == Some(wanted)
}
