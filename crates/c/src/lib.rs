//! XLA shapes and layouts for C and C++: the functions of `include/xla_shape.h`.
//!
//! The header documents the library: units, ownership, lifetimes and errors of each function. cbindgen makes it from the comments in
//! this crate. `include/xla_shape.hpp` wraps it for C++17. The chapter `docs/c.md` in the repository shows how to build and link it.
//!
//! This crate has no rules about shapes of its own: every function converts its arguments, asks `xla-shape-core` or `xla-shape-relayout`,
//! and converts the answer.
//!
//! # A call
//!
//! The examples of `docs/c.md` are in C and C++. Here are the same calls from Rust, for those who wrap or test the library: how much memory an
//! array takes, what is at a position of it, and an error.
//!
//! ```
//! use std::ptr::null_mut;
//! use xla_shape_c::*;
//!
//! let mut shape: *mut XlaShape = null_mut();
//! // SAFETY: all fields are integers.
//! let mut sizes: XlaShapeSizes = unsafe { std::mem::zeroed() };
//! sizes.struct_size = size_of::<XlaShapeSizes>();
//! let (mut index, mut slot) = ([0; 2], XlaShapeSlot::Padding);
//! let text = "f32[30,200]{1,0:T(8,128)}";
//! // SAFETY: the text has these bytes, all places are local variables, and the shape and the error are freed after their last use.
//! unsafe {
//!     assert!(xla_shape_parse(text.as_ptr().cast(), text.len(), &raw mut shape).is_null());
//!     assert_eq!(xla_shape_kind(shape), XlaShapeKind::Array);
//!     assert!(xla_shape_sizes(shape, &raw mut sizes).is_null());
//!     assert_eq!((sizes.bytes, sizes.padding_bytes), (32 * 256 * 4, (32 * 256 - 30 * 200) * 4));
//!
//!     // The first position of the second tile.
//!     assert!(xla_shape_multi_index(shape, 1024, index.as_mut_ptr(), 2, &raw mut slot).is_null());
//!     assert_eq!((slot, index), (XlaShapeSlot::Element, [0, 128]));
//!
//!     let error: *mut XlaShapeError = xla_shape_multi_index(shape, sizes.positions, index.as_mut_ptr(), 2, &raw mut slot);
//!     assert_eq!(xla_shape_error_code(error), XlaShapeErrorCode::OutOfBounds);
//!     xla_shape_error_free(error);
//!     xla_shape_free(shape);
//! }
//! ```
//!
//! An array from its parts, divided among four devices:
//!
//! ```
//! use std::ptr::null_mut;
//! use xla_shape_c::*;
//!
//! let sizes = [30, 200];
//! // SAFETY: all fields are integers and pointers. Fields that are 0 have defaults: static sizes, row-major, without tiles.
//! let mut array: XlaShapeArray = unsafe { std::mem::zeroed() };
//! (array.struct_size, array.element_type) = (size_of::<XlaShapeArray>(), 11); // F32
//! (array.dimensions, array.num_dimensions) = (sizes.as_ptr(), sizes.len());
//! let text = "{devices=[4,1]<=[4]}";
//! let (mut shape, mut sharding): (*mut XlaShape, *mut XlaShapeSharding) = (null_mut(), null_mut());
//! let mut partition: *mut XlaShapePartition = null_mut();
//! let (mut start, mut limit) = ([0; 2], [0; 2]);
//! // SAFETY: the list of the struct is alive, the text has these bytes, and all places are local variables. Each handle is freed once.
//! unsafe {
//!     assert!(xla_shape_from_array(&raw const array, &raw mut shape).is_null());
//!     assert!(xla_shape_sharding_parse(text.as_ptr().cast(), text.len(), &raw mut sharding).is_null());
//!     assert!(xla_shape_partition(sharding, shape, &raw mut partition).is_null());
//!     assert!(xla_shape_partition_region(partition, 3, start.as_mut_ptr(), limit.as_mut_ptr(), 2).is_null());
//!     xla_shape_partition_free(partition);
//!     xla_shape_sharding_free(sharding);
//!     xla_shape_free(shape);
//! }
//! assert_eq!((start, limit), ([24, 0], [30, 200]), "8 rows on each device, and the last 6 on this one");
//! ```
//!
//! A copy into another layout:
//!
//! ```
//! use std::ptr::null_mut;
//! use xla_shape_c::*;
//!
//! // SAFETY: all fields are integers and pointers, and 0 stands for the default.
//! let mut options: XlaShapePlanOptions = unsafe { std::mem::zeroed() };
//! options.struct_size = size_of::<XlaShapePlanOptions>();
//! (options.padding, options.stores) = (XlaShapePadding::Zero as i64, XlaShapeStores::Regular as i64);
//! let [from, to] = ["s32[2,3]{1,0}", "s32[2,3]{0,1:T(4)}"];
//! let (mut shapes, mut plan): ([*mut XlaShape; 2], *mut XlaShapePlan) = ([null_mut(); 2], null_mut());
//! let (source, mut destination) = ([1, 2, 3, 4, 5, 6_i32], [-1_i32; 12]);
//! let (mut reads, mut count) = (XlaShapeByteRange { start: 0, end: 0 }, 0);
//! // SAFETY: the texts, buffers and lists have these sizes, and all places are local variables. Each handle is freed once.
//! unsafe {
//!     for (text, shape) in [from, to].iter().zip(&mut shapes) {
//!         assert!(xla_shape_parse(text.as_ptr().cast(), text.len(), shape).is_null());
//!     }
//!     assert!(xla_shape_plan(shapes[0], shapes[1], &raw const options, &raw mut plan).is_null());
//!     assert!(xla_shape_plan_part_ranges(plan, 0, false, &raw mut reads, 1, &raw mut count).is_null());
//!     assert!(xla_shape_plan_run(plan, source.as_ptr().cast(), 24, destination.as_mut_ptr().cast(), 48).is_null());
//!     xla_shape_plan_free(plan);
//!     shapes.into_iter().for_each(|shape| xla_shape_free(shape));
//! }
//! assert_eq!((count, reads), (1, XlaShapeByteRange { start: 0, end: 24 }), "one part, which reads everything");
//! assert_eq!(destination, [1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0]);
//! ```
//!
//! # What the caller guarantees
//!
//! The SAFETY comments cite these rules by name. The header states them for C.
//!
//! - *Handles*: a pointer to a handle is null, or was returned by this library and is not yet freed. Nobody frees it during the call.
//! - *Lists*: a pointer with a length points to that many values, unless the length is 0. Nobody writes them during the call.
//! - *Results*: a pointer to a result is null, or points to a place that the function may write to, and that nobody else uses during the
//!   call; it overlaps no other such place, and no list or struct of the call.
//! - *Structs*: a pointer to a struct is null, or points to at least as many bytes as its field `struct_size` says, and nobody
//!   writes them during the call.
//!
//! The library checks what can be checked of these rules: null pointers, alignment, lists of more than `isize::MAX` bytes, sizes of
//! structs; in builds with debug assertions, also whether a handle is alive.
//!
//! # The files
//!
//! | file | contents |
//! |---|---|
//! | `border` | everything unsafe that several files need: handles, lists, texts, results, structs; panics end here |
//! | `live` | which handles exist, in builds with debug assertions |
//! | `error` | the error object, and the errors of the library as such objects |
//! | `version` | the version of the interface |
//! | `shape` | shapes: text, parts, sizes, layouts, bitcasts |
//! | `array` | the struct with the parts of an array |
//! | `position` | from an index to a position and back |
//! | `sharding` | shardings, and arrays divided by them |
//! | `plan` | relayouts, whole and in parts |

// To add a function, write its comment for C here and its method in `include/xla_shape.hpp`, make the header with `scripts/c_header.sh`,
// and increase `XLA_SHAPE_ABI_MINOR`. Fields are only added at the end of structs.

mod array;
mod border;
mod live;
mod plan;
mod position;
mod shape;
mod sharding;
#[cfg(test)]
mod tests;
mod version;

pub use array::*;
pub use border::error::*;
pub use plan::*;
pub use position::*;
pub use shape::*;
pub use sharding::*;
pub use version::*;
