//! The largest numbers of everything, and why.

/// The largest size, count or attribute: XLA holds them in an `i64`.
pub const MAX_SIZE: u64 = i64::MAX as u64;

/// The highest memory space: XLA holds it in a signed byte.
pub const MAX_MEMORY_SPACE: u64 = 127;

/// How deep tuples may be nested.
///
/// XLA sets no limit, and runs out of stack. Here the limit holds for every tuple, however it is made. So code that walks over
/// a shape (to drop, clone, compare, print or encode it) needs little stack, and every shape that exists can be read back.
pub const MAX_NESTING: usize = 200;

/// How many dimensions, tiles, entries of a tile, splits, indices of a split and elements of a tuple a *type* can have: the
/// traits of types are implemented for each length, and every further one costs compile time. Values have no such limit.
pub const MAX_LIST: usize = 12;

/// How many bytes the text of a *type's* shape can have: it is built in an array of this size at compile time.
pub const MAX_TEXT: usize = 512;
