//! MLIR bytecode: the functions of a module, as text.
//!
//! The format is that of <https://mlir.llvm.org/docs/BytecodeFormat/>, in version 0, which JAX writes for kernels; types and attributes of
//! MLIR's builtin dialect are encoded as `BuiltinDialectBytecode.cpp` says. Those of other dialects are stored as texts.

mod code;
mod file;
mod functions;
mod reader;
mod write;

use crate::error::MAX_DEPTH;
use alloc::string::String;
use core::fmt;
use file::{File, Section, Sections};
use functions::Printer;
use reader::Reader;

/// The first bytes of a module in bytecode.
const MAGIC: &[u8] = b"ML\xefR";
/// How many bytes of text a byte of bytecode may become. Types are shared, so that a short bytecode can be a long text.
const MOST_TEXT: usize = 64;

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
    let mut input = Reader::new(bytes);
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
    Printer::new(file, bytes.len().saturating_mul(MOST_TEXT)).functions(sections.get(Section::Ir)?)
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
    /// The first bytes are not those of bytecode.
    Magic,
    /// This crate does not read this version.
    Version(u64),
    /// The bytecode, or a section of it, ends too early.
    End,
    /// It has no section with this number.
    Section(u8),
    /// An index is beyond the end of its table (of strings, dialects, operation names, types or attributes), or a length or a count is too large.
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
