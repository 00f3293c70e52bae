//! MLIR bytecode: the functions of a module, as text.
//!
//! The format is that of <https://mlir.llvm.org/docs/BytecodeFormat/>, in version 0, which JAX writes for kernels; types and attributes of
//! MLIR's builtin dialect are encoded as `BuiltinDialectBytecode.cpp` says. Other dialects have texts there.

use crate::error::MAX_DEPTH;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The first bytes of a module in bytecode.
const MAGIC: &[u8] = b"ML\xefR";
/// How many bytes of text a byte of bytecode may become. Types are shared, so that a short bytecode can be a long text.
const MOST_TEXT: usize = 64;
/// The element of a dimension whose size is not known.
const DYNAMIC: i64 = i64::MIN;

/// The functions of a module in bytecode, as MLIR text: the head of each with its attributes, and what it returns. All other operations
/// are left out, and a value that one of them computes is named by its number, such as `%12`. An attribute or a type that is not understood is
/// `?`, and the affine map of a `memref` is left out.
///
/// The time is linear in the length of the bytecode.
///
/// # Errors
/// If the bytes are not bytecode of version 0, if they end early, or if a number refers to an entry that a table does not have.
///
/// ```
/// use xla_shape_mlir::{BytecodeProblem, bytecode_functions};
///
/// // A module with a function: its parts are strings, names of operations, types and attributes, and the operations.
/// let error = bytecode_functions(b"ML\xefR\x0dMLIR\0").unwrap_err();
/// assert_eq!((error.problem(), error.position()), (BytecodeProblem::Version(6), 4));
/// assert_eq!(error.to_string(), "byte 4: expected bytecode of version 0, found version 6");
/// ```
pub fn bytecode_functions(bytes: &[u8]) -> Result<String, BytecodeError> {
    let mut input = Reader { bytes, start: 0, at: 0 };
    if input.take(MAGIC.len())? != MAGIC {
        return Err(BytecodeError { problem: BytecodeProblem::Magic, position: 0 });
    }
    let position = input.position();
    match input.varint()? {
        0 => {}
        version => return Err(BytecodeError { problem: BytecodeProblem::Version(version), position }),
    }
    // Who wrote it.
    input.terminated()?;
    let sections = Sections::read(&mut input)?;
    let file = File::read(&sections)?;
    let mut printer = Printer { file, text: String::new(), left: bytes.len().saturating_mul(MOST_TEXT) };
    printer.operations(sections.get(Section::Ir)?)?;
    Ok(printer.text)
}

/// Why MLIR bytecode cannot be read, and at which byte.
///
/// ```
/// use xla_shape_mlir::{BytecodeProblem, bytecode_functions};
///
/// let error = bytecode_functions(b"module @m {}").unwrap_err();
/// assert_eq!((error.problem(), error.position()), (BytecodeProblem::Magic, 0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BytecodeError {
    problem: BytecodeProblem,
    position: usize,
}

/// What is wrong with bytecode.
///
/// ```
/// use xla_shape_mlir::{BytecodeProblem, bytecode_functions};
///
/// assert_eq!(bytecode_functions(b"ML\xefR").unwrap_err().problem(), BytecodeProblem::End);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BytecodeProblem {
    /// It does not begin as bytecode does.
    Magic,
    /// Its version is not read.
    Version(u64),
    /// It, or a section of it, ends before what must follow.
    End,
    /// It has no section with this number.
    Section(u8),
    /// A number of a string, dialect, operation name, type or attribute is too large.
    Number(u64),
    /// An operation has parts that version 0 does not have.
    Parts(u8),
    /// Operations, types or attributes are nested more deeply than this crate reads.
    TooDeep,
    /// Its text would be too long: types and attributes contain each other too often.
    TooLong,
}

impl BytecodeError {
    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> BytecodeProblem {
        self.problem
    }

    /// The position in the bytes.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }
}

impl fmt::Display for BytecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.position)?;
        match self.problem {
            BytecodeProblem::Magic => f.write_str("expected MLIR bytecode, which begins with `ML\\xefR`"),
            BytecodeProblem::Version(found) => write!(f, "expected bytecode of version 0, found version {found}"),
            BytecodeProblem::End => f.write_str("expected more bytes, found the end"),
            BytecodeProblem::Section(number) => write!(f, "expected a section {number} before the end"),
            BytecodeProblem::Number(number) => {
                write!(f, "expected the number of something that is there, found {number}")
            }
            BytecodeProblem::Parts(mask) => {
                write!(f, "expected parts of an operation of version 0, found the mask {mask:#x}")
            }
            BytecodeProblem::TooDeep => {
                write!(f, "expected at most {MAX_DEPTH} levels of operations, types or attributes")
            }
            BytecodeProblem::TooLong => write!(f, "expected a text of at most {MOST_TEXT} times as many bytes"),
        }
    }
}

impl core::error::Error for BytecodeError {}

type Result<T, E = BytecodeError> = core::result::Result<T, E>;

/// A part of the bytes, which is read from its beginning to its end.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    /// Where the part begins in the whole.
    start: usize,
    at: usize,
}

impl<'a> Reader<'a> {
    const fn position(&self) -> usize {
        self.start.saturating_add(self.at)
    }

    #[cold]
    const fn error(&self, problem: BytecodeProblem) -> BytecodeError {
        BytecodeError { problem, position: self.position() }
    }

    const fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(length);
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or_else(|| self.error(BytecodeProblem::End))?;
        self.at = self.at.saturating_add(length);
        Ok(found)
    }

    /// The next bytes, as a part of their own.
    fn part(&mut self, length: usize) -> Result<Self> {
        let start = self.position();
        Ok(Self { bytes: self.take(length)?, start, at: 0 })
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?.first().copied().unwrap_or(0))
    }

    /// The bytes before the next zero, which is passed.
    fn terminated(&mut self) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return Err(self.error(BytecodeProblem::End));
        };
        let found = self.take(length)?;
        self.byte()?;
        Ok(found)
    }

    /// A number of 1 to 9 bytes. The zeros at the end of the first byte say how many others follow; the bits above the lowest 1 are the number.
    fn varint(&mut self) -> Result<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros().min(8) as usize;
        let mut whole = [0; 8];
        let rest = self.take(more)?;
        if more == 8 {
            whole.copy_from_slice(rest);
            return Ok(u64::from_le_bytes(whole));
        }
        let [lowest, others @ ..] = &mut whole;
        *lowest = first;
        others.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(u64::from_le_bytes(whole) >> more.saturating_add(1))
    }

    /// A number with a sign: its lowest bit says whether it is negative.
    fn signed(&mut self) -> Result<i64> {
        let number = self.varint()?;
        let magnitude = (number >> 1).cast_signed();
        Ok(if number & 1 == 0 { magnitude } else { !magnitude })
    }

    /// A number that is used as a length.
    fn length(&mut self) -> Result<usize> {
        let number = self.varint()?;
        usize::try_from(number).map_err(|_| self.error(BytecodeProblem::Number(number)))
    }

    /// A number of things, each of which takes at least a byte.
    fn count(&mut self) -> Result<usize> {
        let count = self.length()?;
        if count > self.bytes.len().saturating_sub(self.at) {
            return Err(self.error(BytecodeProblem::End));
        }
        Ok(count)
    }

    /// A number and a flag in one.
    fn flagged(&mut self) -> Result<(u64, bool)> {
        let number = self.varint()?;
        Ok((number >> 1, number & 1 == 1))
    }

    /// An entry of a table, by its number.
    fn entry<T: Copy>(&mut self, table: &[T]) -> Result<T> {
        let number = self.varint()?;
        let found = usize::try_from(number).ok().and_then(|number| table.get(number)).copied();
        found.ok_or_else(|| self.error(BytecodeProblem::Number(number)))
    }
}

/// The sections that are read.
#[derive(Clone, Copy)]
enum Section {
    Strings = 0,
    Dialects = 1,
    Entries = 2,
    Offsets = 3,
    Ir = 4,
}

struct Sections<'a> {
    found: [Option<Reader<'a>>; 5],
    end: usize,
}

impl<'a> Sections<'a> {
    fn read(input: &mut Reader<'a>) -> Result<Self> {
        const ALIGNED: u8 = 0x80;
        let mut found = [None; 5];
        while !input.at_end() {
            let number = input.byte()?;
            let length = input.length()?;
            if number & ALIGNED != 0 {
                let alignment = input.length()?.max(1);
                while !input.position().is_multiple_of(alignment) {
                    input.byte()?;
                }
            }
            let part = input.part(length)?;
            if let Some(place) = found.get_mut(usize::from(number & !ALIGNED)) {
                place.get_or_insert(part);
            }
        }
        Ok(Self { found, end: input.position() })
    }

    fn get(&self, section: Section) -> Result<Reader<'a>> {
        let missing = BytecodeError { problem: BytecodeProblem::Section(section as u8), position: self.end };
        self.found.get(section as usize).copied().flatten().ok_or(missing)
    }
}

/// A type or an attribute as it is in the file.
#[derive(Clone, Copy)]
enum Entry<'a> {
    /// Of the builtin dialect, encoded.
    Builtin(Reader<'a>),
    /// As a text.
    Text(&'a [u8]),
    /// Of another dialect, encoded as it likes.
    Unknown,
}

/// The tables of a module.
struct File<'a> {
    strings: Vec<&'a [u8]>,
    /// The dialect and the name of each operation.
    operations: Vec<(&'a [u8], &'a [u8])>,
    attributes: Vec<Entry<'a>>,
    types: Vec<Entry<'a>>,
}

impl<'a> File<'a> {
    fn read(sections: &Sections<'a>) -> Result<Self> {
        let strings = strings(&mut sections.get(Section::Strings)?)?;
        let mut input = sections.get(Section::Dialects)?;
        let count = input.count()?;
        let dialects = (0..count).map(|_| input.entry(&strings)).collect::<Result<Vec<_>>>()?;
        let mut operations = Vec::new();
        while !input.at_end() {
            let dialect = input.entry(&dialects)?;
            for _ in 0..input.count()? {
                operations.push((dialect, input.entry(&strings)?));
            }
        }
        let (mut offsets, mut entries) = (sections.get(Section::Offsets)?, sections.get(Section::Entries)?);
        let [attributes, types] = [offsets.count()?, offsets.count()?];
        let mut read = |count: usize| {
            let mut found = Vec::new();
            while found.len() < count {
                let is_builtin = offsets.entry(&dialects)? == b"builtin";
                for _ in 0..offsets.count()? {
                    let (length, is_encoded) = offsets.flagged()?;
                    let length = usize::try_from(length).map_err(|_| offsets.error(BytecodeProblem::Number(length)))?;
                    let mut part = entries.part(length)?;
                    found.push(match (is_encoded, is_builtin) {
                        (true, true) => Entry::Builtin(part),
                        (true, false) => Entry::Unknown,
                        (false, _) => Entry::Text(part.terminated()?),
                    });
                }
            }
            Ok(found)
        };
        let (attributes, types) = (read(attributes)?, read(types)?);
        Ok(Self { strings, operations, attributes, types })
    }

    /// The parts of an attribute of the builtin dialect; `None` if it has another code.
    fn builtin(&self, attribute: Entry<'a>, code: u64) -> Option<Reader<'a>> {
        let Entry::Builtin(mut input) = attribute else { return None };
        (input.varint().ok()? == code).then_some(input)
    }

    /// The text of an attribute that is a string.
    fn string(&self, attribute: Entry<'a>) -> Option<&'a [u8]> {
        self.builtin(attribute, code::STRING)?.entry(&self.strings).ok()
    }

    /// The bits of an integer's type; `None` if it is another type.
    fn bits(&self, of: Entry<'a>) -> Option<u64> {
        const INDEX_BITS: u64 = 64;
        match self.builtin(of, code::INTEGER_TYPE) {
            Some(mut input) => Some(input.varint().ok()? >> 2),
            None => self.builtin(of, code::INDEX).map(|_| INDEX_BITS),
        }
    }

    /// The names and values of an attribute that is a dictionary.
    fn dictionary(&self, attribute: Entry<'a>) -> Result<Vec<(&'a [u8], Entry<'a>)>> {
        let Some(mut input) = self.builtin(attribute, code::DICTIONARY) else { return Ok(Vec::new()) };
        let count = input.count()?;
        let pair = |_| {
            let name = input.entry(&self.attributes)?;
            Ok((self.string(name).unwrap_or(b"?"), input.entry(&self.attributes)?))
        };
        (0..count).map(pair).collect()
    }
}

/// The strings of a module. Their lengths, each with the zero after it, are in the reverse order.
fn strings<'a>(input: &mut Reader<'a>) -> Result<Vec<&'a [u8]>> {
    let count = input.count()?;
    let lengths = (0..count).map(|_| input.length()).collect::<Result<Vec<_>>>()?;
    let found = lengths.into_iter().rev().map(|length| {
        let string = input.take(length)?;
        Ok(string.split_last().map_or(string, |(_, string)| string))
    });
    found.collect()
}

/// What the builtin dialect's attributes and types are encoded as.
mod code {
    pub(super) const ARRAY: u64 = 0;
    pub(super) const DICTIONARY: u64 = 1;
    pub(super) const STRING: u64 = 2;
    pub(super) const SYMBOL: u64 = 4;
    pub(super) const TYPE: u64 = 6;
    pub(super) const UNIT: u64 = 7;
    pub(super) const INTEGER: u64 = 8;
    pub(super) const NAMED_LOCATION: u64 = 14;
    pub(super) const DENSE_ARRAY: u64 = 17;
    pub(super) const AFFINE_MAP: u64 = 23;

    pub(super) const INTEGER_TYPE: u64 = 0;
    pub(super) const INDEX: u64 = 1;
    pub(super) const FLOATS: u64 = 3;
    pub(super) const MEMREF: u64 = 10;
    pub(super) const MEMREF_IN_SPACE: u64 = 11;
    pub(super) const TENSOR: u64 = 13;
    pub(super) const VECTOR: u64 = 19;
    pub(super) const SHORT_FLOATS: u64 = 21;
}

/// The types of floating-point numbers, in the order of their codes: those from [`code::FLOATS`] on, and the newer ones from
/// [`code::SHORT_FLOATS`] on.
const FLOATS: [&str; 6] = ["bf16", "f16", "f32", "f64", "f80", "f128"];
const SHORT_FLOATS: [&str; 12] = [
    "tf32",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FN",
    "f8E5M2FNUZ",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E3M4",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E8M0FNU",
];

/// An operation whose regions are read, or the module around all.
struct Open<'a> {
    /// The regions, the blocks of this region and the operations of this block that are still to be read.
    regions: usize,
    blocks: usize,
    operations: usize,
    /// The values that the operation sees.
    around: Values,
    /// The values before those of the region that is read.
    before: Option<Values>,
    function: Option<Function<'a>>,
}

/// A function whose operations are read.
#[derive(Clone, Copy)]
struct Function<'a> {
    attributes: Option<Entry<'a>>,
    /// How many parameters it has; `None` before its first block.
    parameters: Option<u64>,
}

/// The numbers of values: those of a region follow those of the regions around it, unless it does not see them.
#[derive(Clone, Copy, Default)]
struct Values {
    /// The number after those of the innermost region.
    end: u64,
    /// The number of the next value that is computed.
    next: u64,
}

/// Writes the functions of a file.
struct Printer<'a> {
    file: File<'a>,
    text: String,
    /// How many more bytes the text may have.
    left: usize,
}

impl<'a> Printer<'a> {
    /// Reads all operations. A stack stands for the regions that are open, so that no depth of theirs exhausts the program's own.
    fn operations(&mut self, mut input: Reader<'a>) -> Result<()> {
        let mut values = Values::default();
        let mut open = Open { regions: 0, blocks: 1, operations: 0, around: values, before: None, function: None };
        let mut around: Vec<Open<'a>> = Vec::new();
        loop {
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
        // Those that are not written take time, too: many functions can share a long dictionary.
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

    fn pairs(
        &mut self,
        pairs: impl Iterator<Item = (&'a [u8], Entry<'a>)>,
        at: &Reader<'a>,
        depth: usize,
    ) -> Result<()> {
        self.write("{", at)?;
        for (number, (name, value)) in pairs.enumerate() {
            self.write(if number == 0 { "" } else { ", " }, at)?;
            self.raw(name, at)?;
            if self.file.builtin(value, code::UNIT).is_none() {
                self.write(" = ", at)?;
                self.attribute(value, at, depth)?;
            }
        }
        self.write("}", at)
    }

    fn attribute(&mut self, attribute: Entry<'a>, at: &Reader<'a>, depth: usize) -> Result<()> {
        let mut input = match attribute {
            Entry::Builtin(input) => input,
            Entry::Text(text) => return self.raw(text, at),
            Entry::Unknown => return self.write("?", at),
        };
        let inner = deeper(depth, at)?;
        match input.varint()? {
            code::ARRAY => {
                self.write("[", at)?;
                for number in 0..input.count()? {
                    self.write(if number == 0 { "" } else { ", " }, at)?;
                    let element = input.entry(&self.file.attributes)?;
                    self.attribute(element, at, inner)?;
                }
                self.write("]", at)
            }
            code::DICTIONARY => {
                let pairs = self.file.dictionary(attribute)?;
                self.pairs(pairs.into_iter(), at, inner)
            }
            code::STRING => {
                let string = input.entry(&self.file.strings)?;
                self.quoted(string, at)
            }
            code::SYMBOL => {
                let name = input.entry(&self.file.attributes)?;
                self.symbol(self.file.string(name).unwrap_or_default(), at)
            }
            code::TYPE => {
                let of = input.entry(&self.file.types)?;
                self.type_of(of, at, inner)
            }
            code::INTEGER => {
                let of = input.entry(&self.file.types)?;
                // Up to 8 bits take a byte, up to 64 bits a number with a sign; wider ones are not read.
                match self.file.bits(of) {
                    Some(0..=8) => self.write(&format!("{}", input.byte()?.cast_signed()), at)?,
                    Some(9..=64) => self.write(&format!("{}", input.signed()?), at)?,
                    _ => self.write("?", at)?,
                }
                self.write(" : ", at)?;
                self.type_of(of, at, inner)
            }
            code::DENSE_ARRAY => {
                let of = input.entry(&self.file.types)?;
                // The number of elements, and the bytes.
                input.varint()?;
                let length = input.length()?;
                let bytes = input.take(length)?;
                self.write("array<", at)?;
                self.type_of(of, at, inner)?;
                // MLIR's one-bit elements take a byte.
                let width = self.file.bits(of).map_or(0, |bits| bits.div_ceil(8)).min(8);
                let elements = if width == 0 { None } else { Some(bytes.chunks_exact(width as usize)) };
                for (number, element) in elements.into_iter().flatten().enumerate() {
                    let negative = element.last().is_some_and(|byte| byte & 0x80 != 0);
                    let mut whole = if negative { [0xff; 8] } else { [0; 8] };
                    whole.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
                    let comma = if number == 0 { ": " } else { ", " };
                    self.write(&format!("{comma}{}", i64::from_le_bytes(whole)), at)?;
                }
                self.write(">", at)
            }
            _ => self.write("?", at),
        }
    }

    fn type_of(&mut self, of: Entry<'a>, at: &Reader<'a>, depth: usize) -> Result<()> {
        let mut input = match of {
            Entry::Builtin(input) => input,
            Entry::Text(text) => return self.raw(text, at),
            Entry::Unknown => return self.write("?", at),
        };
        let inner = deeper(depth, at)?;
        match input.varint()? {
            code::INTEGER_TYPE => {
                let number = input.varint()?;
                let sign = ["", "s", "u"].get((number & 3) as usize).copied().unwrap_or("?");
                self.write(&format!("{sign}i{}", number >> 2), at)
            }
            code::INDEX => self.write("index", at),
            found @ (code::MEMREF | code::MEMREF_IN_SPACE | code::TENSOR | code::VECTOR) => {
                let space =
                    if found == code::MEMREF_IN_SPACE { Some(input.entry(&self.file.attributes)?) } else { None };
                self.write(
                    match found {
                        code::TENSOR => "tensor<",
                        code::VECTOR => "vector<",
                        _ => "memref<",
                    },
                    at,
                )?;
                for _ in 0..input.count()? {
                    match input.signed()? {
                        DYNAMIC => self.write("?x", at)?,
                        size => self.write(&format!("{size}x"), at)?,
                    }
                }
                let element = input.entry(&self.file.types)?;
                self.type_of(element, at, inner)?;
                if matches!(found, code::MEMREF | code::MEMREF_IN_SPACE) {
                    let layout = input.entry(&self.file.attributes)?;
                    // An affine map is nearly always the identity, which MLIR does not print.
                    let is_map = matches!(layout, Entry::Text(text) if text.starts_with(b"affine_map<"));
                    if !is_map && self.file.builtin(layout, code::AFFINE_MAP).is_none() {
                        self.write(", ", at)?;
                        self.attribute(layout, at, inner)?;
                    }
                }
                if let Some(space) = space {
                    self.write(", ", at)?;
                    self.attribute(space, at, inner)?;
                }
                self.write(">", at)
            }
            found => {
                let of = |floats: &[&'static str], first| {
                    floats.get(usize::try_from(found.checked_sub(first)?).ok()?).copied()
                };
                let float = of(&FLOATS, code::FLOATS).or_else(|| of(&SHORT_FLOATS, code::SHORT_FLOATS));
                self.write(float.unwrap_or("?"), at)
            }
        }
    }

    fn symbol(&mut self, name: &[u8], at: &Reader<'a>) -> Result<()> {
        self.write("@", at)?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
        if name.iter().all(is_plain) { self.raw(name, at) } else { self.quoted(name, at) }
    }

    /// A string in quotes, with MLIR's escapes.
    fn quoted(&mut self, string: &[u8], at: &Reader<'a>) -> Result<()> {
        self.write("\"", at)?;
        for character in String::from_utf8_lossy(string).chars() {
            match character {
                '"' | '\\' | '\0'..='\x1f' | '\x7f' => self.write(&format!("\\{:02X}", u32::from(character)), at)?,
                _ => self.write(character.encode_utf8(&mut [0; 4]), at)?,
            }
        }
        self.write("\"", at)
    }

    fn raw(&mut self, text: &[u8], at: &Reader<'a>) -> Result<()> {
        self.write(&String::from_utf8_lossy(text), at)
    }

    /// Writes a text; `at` is where the bytes are read, for an error.
    fn write(&mut self, text: &str, at: &Reader<'a>) -> Result<()> {
        self.spend(text.len(), at)?;
        self.text.push_str(text);
        Ok(())
    }

    fn spend(&mut self, bytes: usize, at: &Reader<'a>) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| at.error(BytecodeProblem::TooLong))?;
        Ok(())
    }
}

/// The dialect in which JAX writes kernels: its operations have the whole names of others, such as `stable_mosaic.func.return`.
const KERNELS: &[u8] = b"stable_mosaic";

/// Whether an operation is this one of the dialect `func`.
fn is_of_func((dialect, name): (&[u8], &[u8]), wanted: &[u8]) -> bool {
    let name = if dialect == KERNELS { name.strip_prefix(b"func.") } else { Some(name).filter(|_| dialect == b"func") };
    name == Some(wanted)
}

fn deeper(depth: usize, at: &Reader<'_>) -> Result<usize> {
    if depth < MAX_DEPTH { Ok(depth.saturating_add(1)) } else { Err(at.error(BytecodeProblem::TooDeep)) }
}

#[cfg(test)]
mod tests {
    use super::{BytecodeProblem, bytecode_functions};
    use crate::Module;

    /// What MLIR writes for
    ///
    /// ```text
    /// func.func @f(%x: memref<8x?xf32, 3> loc("x"), %i: i32) -> (i32, i32)
    ///     attributes {n = [-3 : i64, "a\22"], w = array<i64: 2, -4>, s = @g, u} {
    ///   %t = arith.constant true
    ///   scf.if %t { %1 = arith.constant 1 : i32  "b.d"(%1, %x) : (i32, memref<8x?xf32, 3>) -> () }
    ///   %0 = "b.c"(%i) ({ ^bb0(%q: i32): "b.d"(%q) : (i32) -> () }) : (i32) -> i32
    ///   return %0, %i : i32, i32
    /// }
    /// func.func @g(%i: i32) -> i32 { return %i : i32 }
    /// ```
    const TWO: &[u8] = b"\
        ML\xefR\x01MLIR24.0.0git\x00\x011\x0b\x01\x03\x05\x07\x09\x01\x03\x0b\x03\x05\x03\x0d\x05\x03\x0f\x07\x05\x11\x13\x09\
        \x05\x15\x17\x03qW\x0f\x01W\x0b\x0b\x0b\x0b\x0b\x13\x13;\x0b\x0f\x0b\x0b\x13\x0f\x0b\x0b\x0b\x0b\x0b\x07\x0bS\x13\x1b\
        \x0b\x13\x13\x13\x0f\x0b\x07\x13\x13\x0f\x13\x13\x13\x13\x13\x13\x0f\x13\x13\x01\x0f\x0f\x0f?\x0b\x1f\x07\x17\x02\x06\
        \x03\x05\x19\x05\x1b\x05\x1d\x05\x1f\x05!\x17\x01\x09\x05\x17\x01\x03\x03\x03\x0d\x03\x11\x17\x19\x1f!\x07#%')+\x0d\
        \x09\x11\x03\x0d/\x11\x05#\x01\x05\x1b\x1d\x11\x03\x0b\x05%\x05'\x09\x05\x05)\x05+\x0f\x05-#\x03\x05!\x02\x00\x00\x00\
        \x00\x00\x00\x00\xfc\xff\xff\xff\xff\xff\xff\xff\x17\x01\x05\x05\x03\x05\x031\x07\x05\x0d\x0d\x17\x01\x13\x05\x17\x01\
        \x13\x1f\x17\x01\x13C\x1d;=\x05/\x1f\x17\x01\x05a\x03\x03\x09C\x11\x07\x01\x17\x01\x07\x0f\x17\x01\x0d\x0f\x17\x01\x0f\
        \x05\x17\x01\x0d3\x17\x01\x0dG\x03\x03\x09Q\x11\x01\x05\x17\x01\x09'\x17\x01\x0b\x05\x01\x02\x02\x01\x02\x04\x17\x13\
        \x05!\x00\xff\xff\xff\xff\xff\xff\xff\xff\x0b\x15\x01\x09\x05\x05\x05\x01\x05\x01\x01\x0b\x05\x03\x01\x03\x01\x04\xbb\
        \x05\x01\x10\x0d\x07\x03\x01\x09\x03\x11-\x0f\x07\x03\x09\x13\x05\x059\x01?\x07\x03EA\x03\x07\x09\x14\x0b\x03\x05\x09\
        \x03\x03\x0d\x07\x03SO\x03\x01\x0d\x04U\x05\x09\x01\x0b\x00\x0b\x01\x0f\x16G\x03\x01\x03\x03\x07\x03\x03\x07\x03\x01K\
        \x0d\x04M\x03\x01\x05\x04I\x05\x07\x03\x03\x113/\x07\x03\x03\x07\x03\x015\x05\x047\x03\x01\x06\x03\x01\x05\x01\x00\x1a\
        \x021\x05\x05\x05\x05\x05\x07\x05\x0d\x13\x05\x1d\x05\x05\x05\x0d\x07\x13\x0f\x0f\x05\x09\x0d\x0b\x11builtin\x00func\
        \x00arith\x00scf\x00b\x00module\x00return\x00constant\x00if\x00yield\x00d\x00c\x00-\x00function_type\x00g\x00sym_name\
        \x00value\x00n\x00a\"\x00s\x00f\x00u\x00w\x00x\x00";

    #[test]
    fn functions_have_their_heads_and_returns() {
        let text = bytecode_functions(TWO).unwrap();
        assert_eq!(
            text,
            "func.func @f(%arg0: memref<8x?xf32, 3 : i64> loc(\"x\"), %arg1: i32) attributes \
             {n = [-3 : i64, \"a\\22\"], s = @g, u, w = array<i64: 2, -4>} {\n  return %3, %arg1\n}\n\
             func.func @g(%arg0: i32) attributes {} {\n  return %arg0\n}\n"
        );
        let module = Module::parse(&text).unwrap();
        assert_eq!(
            module.operations().iter().map(|operation| operation.name()).collect::<alloc::vec::Vec<_>>(),
            ["func.func", "return", "func.func", "return"]
        );
        assert_eq!(module.operations()[0].attribute("w"), Some("array<i64: 2, -4>"));
    }

    #[test]
    fn what_is_cut_off_or_changed_is_refused_or_read_and_never_panics() {
        for end in 0..TWO.len() {
            let error = bytecode_functions(&TWO[..end]).unwrap_err();
            assert!(error.position() <= end, "{error}");
        }
        for place in 0..TWO.len() {
            for value in [0, 1, 2, 4, 8, 0x7f, 0x80, 0xff, TWO[place] ^ 2, TWO[place].wrapping_add(2)] {
                let mut changed = TWO.to_vec();
                changed[place] = value;
                if let Err(error) = bytecode_functions(&changed) {
                    assert!(error.position() <= TWO.len(), "{error}");
                }
            }
        }
    }

    #[test]
    fn newer_versions_are_named() {
        let mut newer = TWO.to_vec();
        newer[4] = 0x0d;
        assert_eq!(bytecode_functions(&newer).unwrap_err().problem(), BytecodeProblem::Version(6));
    }
}
