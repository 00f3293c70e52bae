//! How large, deep and long inputs may be, and why. Sizes that no input can exceed (arrays on the stack, lengths of
//! texts in messages) are constants beside the code that uses them.

/// The largest size, count or attribute: XLA holds them in an `int64_t`.
pub const MAX_SIZE: u64 = i64::MAX as u64;

/// The highest memory space: XLA holds it in an `int8_t` (`memory_space_` in `xla/layout.h`).
pub const MAX_MEMORY_SPACE: u64 = 127;

/// How deep tuples may be nested.
///
/// XLA sets no limit and overflows its stack. Here the limit holds for every tuple, whichever constructor makes it. So
/// recursion over a shape (to drop, clone, compare, print or encode it) needs little stack, and every shape that exists
/// can be printed and parsed again.
pub const MAX_NESTING: usize = 200;

/// The most dimensions an array may have where a `const` decides whether an operation is a bitcast or a slice is
/// contiguous: such code keeps its lists in arrays of this size. A few more than [`MAX_LIST`].
pub const MAX_CONST_DIMENSIONS: usize = 16;

/// The most dimensions for which every order is tried: 6 have 720 orders, 7 have 5,040.
pub const MAX_ORDERED: usize = 6;

/// The most dimensions for which a TPU's tiles are tried on every pair of dimensions: 12 have 132 ordered pairs.
pub const MAX_PAIRED_DIMENSIONS: usize = 12;

/// The most dimensions for which every merge of neighbours is tried: 10 have 512 merges.
pub const MAX_MERGED_DIMENSIONS: usize = 10;

/// The most dimensions that the result of an operation can have in a `const`, which keeps them in an array of this
/// size.
pub const MAX_INFERRED_DIMENSIONS: usize = 32;

/// How many steps a comparison of two maps may take before it gives up: about a second. A text of 350 bytes can
/// describe maps that need exponentially many.
pub const MAX_DECISION_STEPS: usize = 1 << 25;

/// How deep nested sums made by `*` are taken apart, for the same reason; this also bounds the recursion.
pub const MAX_DECISION_DEPTH: usize = 64;

/// How many digits a comparison evaluates, element by element, where the normal forms of two maps do not decide.
pub const MAX_COMPARED_DIGITS: usize = 1 << 24;

/// [`MAX_COMPARED_DIGITS`] in a `const`, where each step costs compile time.
pub const MAX_COMPARED_DIGITS_IN_CONST: usize = 1 << 14;

/// The most dimensions, tiles, entries of a tile, splits, indices of a split and elements of a tuple that a *type* can
/// have: the traits of types are implemented for each length, and every further length costs compile time. Values have
/// no such limit.
pub const MAX_LIST: usize = 12;

/// The most bytes that the text of a *type's* shape can have: it is built in an array of this size at compile time.
pub const MAX_TEXT: usize = 512;
