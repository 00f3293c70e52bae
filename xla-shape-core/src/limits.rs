//! How large, deep and long everything may be, and why. What no input reaches (room on the stack, lengths of texts that are
//! shown) stands beside its code.

/// The largest size, count or attribute: XLA holds them in an `i64`.
pub const MAX_SIZE: u64 = i64::MAX as u64;

/// The highest memory space: XLA holds it in a signed byte.
pub const MAX_MEMORY_SPACE: u64 = 127;

/// How deep tuples may be nested.
///
/// XLA sets no limit, and runs out of stack. Here the limit holds for every tuple, however it is made. So code that walks over
/// a shape (to drop, clone, compare, print or encode it) needs little stack, and every shape that exists can be read back.
pub const MAX_NESTING: usize = 200;

/// How many dimensions an array may have for a question about its bytes (is it a bitcast, is a slice one piece) to be decided in a
/// `const`: the lists there are arrays of this size. A few more than types have.
pub const MAX_CONST_DIMENSIONS: usize = 16;

/// The most dimensions of which every order is tried: 6 have 720 orders, 7 have 5,040.
pub const MAX_ORDERED: usize = 6;

/// The most dimensions of an array of which a TPU's tiles are tried on every two: 12 have 132 pairs.
pub const MAX_PAIRED_DIMENSIONS: usize = 12;

/// The most dimensions of an array of which every merge of neighbours is tried: 10 have 512.
pub const MAX_MERGED_DIMENSIONS: usize = 10;

/// The most dimensions that the result of an operation in a `const` has: they are an array of this size there.
pub const MAX_INFERRED_DIMENSIONS: usize = 32;

/// How many steps a decision about two maps takes before it gives up: about a second. Text of 350 bytes can describe maps that
/// take exponentially many.
pub const MAX_DECISION_STEPS: usize = 1 << 25;

/// How deep sums of `*` are taken apart, for the same reason; it also bounds the stack.
pub const MAX_DECISION_DEPTH: usize = 64;

/// How many digits of elements a comparison looks at where the forms of the maps do not decide.
pub const MAX_COMPARED_DIGITS: usize = 1 << 24;

/// [`MAX_COMPARED_DIGITS`] in a `const`, where each step costs compile time.
pub const MAX_COMPARED_DIGITS_IN_CONST: usize = 1 << 14;

/// How many dimensions, tiles, entries of a tile, splits, indices of a split and elements of a tuple a *type* can have: the
/// traits of types are implemented for each length, and every further one costs compile time. Values have no such limit.
pub const MAX_LIST: usize = 12;

/// How many bytes the text of a *type's* shape can have: it is built in an array of this size at compile time.
pub const MAX_TEXT: usize = 512;
