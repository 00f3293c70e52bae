//! XLA shapes and layouts: exact, fast and checked by the compiler.
//!
//! ```
//! use xla_shape::{Buffer, index, shape};
//!
//! type Activations = shape!(f32[100,200]{1,0:T(8,128)}); // or <1,0:T(8,128)>
//!
//! let mut x = Buffer::<Activations>::zeroed();
//! x[[3, 150]] = 1.5;
//! assert_eq!(x.at(index![3, 150]), 1.5); // index![3, 200] would not compile
//! assert_eq!(Activations::BYTES, 104 * 256 * 4);
//! ```
//!
//! # The main types
//!
//! | type | what it is |
//! |---|---|
//! | [`types::Array`], written [`shape!`] | the shape of an array as a type: element type, dimensions, layout |
//! | [`Buffer`] | an array in memory that it owns; the shape is a type or known at run time |
//! | [`View`], [`ViewMut`] | an array in borrowed memory, to read or to write |
//! | [`DynBuffer`], [`DynView`], [`DynViewMut`] | the same for shapes that are known at run time |
//! | [`ArrayShape`], [`Layout`], [`Tile`], [`Dimension`], [`ElementType`] | the shape of an array as a value, and its parts |
//! | [`Shape`], [`TupleShape`], [`ProgramShape`] | any shape of XLA as a value: arrays, tuples, tokens; the shape of a program |
//! | [`relayout::Plan`], [`relayout::StaticPlan`] | a prepared copy between two layouts |
//! | [`infer::Operation`] | an operation of XLA, with the rule for the shape of its result |
//!
//! # What it does
//!
//! - **Shapes as types.** [`shape!`] makes a type without size from the text of a shape. Invalid shapes, operands that do not fit, and
//!   constant indices out of bounds do not compile. Index arithmetic folds to shifts and masks.
//! - **Memory with a shape.** [`Buffer`] and its views read and write elements by index, in bulk ([`iter`]), by blocks ([`block`]) or as
//!   slices and tiles. A typed buffer can be converted to one whose shape is known at run time, and back with a check.
//! - **Other shapes of the same memory.** [`transpose`](Buffer::transpose), [`reshape`](Buffer::reshape) and
//!   [`retile`](Buffer::retile) are free, or a compile error that says which element would move. [`slice`](Buffer::slice) borrows a
//!   part. [`bitcast`] answers the same for shapes as values, and explains.
//! - **Copies between layouts.** [`relayout`] copies an array from any layout to any other.
//! - **Dispatch.** [`dispatch!`] runs the kernel that was compiled for the shapes of run-time buffers, or a fallback.
//! - **Shape inference.** [`infer`] checks the shape of an operation's result, at compile time or at run time.
//! - **Shapes as values.** [`Shape`], [`ArrayShape`], [`Layout`] and the rest of `xla-shape-core`, re-exported here: parse, print,
//!   validate, measure, index.
//! - **Programs.** With the feature `hlo`, the module `hlo` reads XLA's programs, and `hlo_types!` makes types of their shapes.
//!
//! # What it does not do
//!
//! It does not compute with arrays, differentiate or run programs: it is the layer below libraries that do.
//!
//! # What the compiler checks, and when
//!
//! Errors in a shape itself, and operands whose types do not fit, show in `cargo check` and in the editor. Some constants are
//! evaluated only during code generation. Errors that depend on them, such as a constant index out of bounds or a transpose that is not
//! free, show in `cargo build`.
//!
//! # More
//!
//! The book, in the folder `docs` of the repository, explains layouts from the beginning (`layouts.md`), how kernels are written
//! (`kernels.md`), how arrays are copied between layouts (`relayout.md`) and which layouts TPUs choose (`tpu-formats.md`).
//!
//! # Features
//!
//! - `half` (on by default): values of `f16` and `bf16` elements, from the crate `half`.
//! - `legacy` (on by default): layouts of 2017, with padded dimensions and a value in the padding, as values and as types.
//! - `ndarray`: borrowing arrays without tiles to and from the views of the crate `ndarray`.
//! - `hlo`: HLO modules, from the crate `xla-shape-hlo`, and `hlo_types!`.
//! - `notations`: the notations of CuTe, Triton, mdspan, NumPy, torch, MLIR, Mosaic and oneDNN, and `assert_same_map!`.
//! - `num-complex`: values of `c64` and `c128` elements, from the crate `num-complex`.
//! - `proto`: the messages of XLA's schema, in the module `proto`, with the crate `prost`.
//! - `serde`: shapes as text in human-readable formats, as structure in others, with the crate `serde`.
//! - `threads`: relayout with several threads, with the crate `rayon`.

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The code that these macros write names this crate `xla_shape`. With this line, that also works inside the crate
// itself.
#[cfg(rust_analyzer)]
extern crate self as xla_shape;

// First, because rustdoc lists the methods of `Buffer` in the order of modules.
pub mod buffer;

mod row_major;

pub mod iter;

pub mod block;
mod dispatch;
pub mod dlpack;
pub mod element;
pub mod infer;
#[cfg(feature = "legacy")]
pub mod legacy;
#[cfg(feature = "notations")]
pub mod notations;
pub mod npy;
pub mod product;
pub use xla_shape_core::gpu;
#[cfg(feature = "proto")]
pub use xla_shape_core::proto;
pub mod relayout;
mod sealed;
pub mod tpu;
pub mod types;

#[doc(inline)]
pub use buffer::{AccessError, Buffer, BufferError, DynBuffer, DynView, DynViewMut, ShapeMismatch, View, ViewMut};
#[doc(hidden)]
pub use xla_shape_core::element_types;
pub use xla_shape_core::{
    ArrayShape, Dimension, DimensionError, DimensionNumber, ElementClass, ElementType, FloatFormat, Layout,
    LayoutAttributes, Movement, PaddedDimension, ParseError, Placement, ProgramParameter, ProgramShape, Shape,
    ShapeIndex, Sizes, Slot, Span, SpecialCodes, SplitConfig, StrideTable, StrideTableError, StridedDimensions,
    StridesError, Tile, TileBlock, TileBlockError, TileDimension, TransformError, TupleShape, ValidationError, bitcast,
    compare, dimension_letter, map, memory_space, shard, text, type_limits, validate,
};

#[cfg(feature = "hlo")]
pub use xla_shape_hlo as hlo;
pub use xla_shape_relayout::vector;

// Editors look into these macros, but not into the macros below that call them.
#[cfg(rust_analyzer)]
pub use xla_shape_macros::{layout, shape, shape_type, tpu_shape};

#[doc(hidden)]
pub mod __private {
    pub use crate::dispatch::{assert_arms_run, fit, moved, typed, typed_mut, value};
    #[cfg(feature = "notations")]
    pub use crate::notations::assert_same_map;
    pub use crate::types::Itself;
    pub use core::num::NonZeroU64;
    #[cfg(feature = "hlo")]
    pub use xla_shape_macros::hlo_types;
    #[cfg(feature = "notations")]
    pub use xla_shape_macros::same_map;
    pub use xla_shape_macros::{index_number, layout, shape, shape_type, shard, sharding, tpu_shape};
    pub use xla_shape_relayout::{__compiled, __features};
}

/// A shape, as a type: XLA's text, with layouts in `{…}` or `<…>`, or left out.
///
/// | text | type |
/// |---|---|
/// | an array | [`types::Array`]; dimensions `<=N` and `?` hold their sizes, the rest takes no memory |
/// | `(…, …)` | a Rust tuple of the elements' types |
/// | `token[]`, `opaque[]` | [`types::Token`], [`types::Opaque`] |
/// | `b(…)` | [`types::BufferOf`] the array's type |
///
/// Equal shapes are the same type. A text that is not a valid shape does not compile; the error shows in `cargo check`, under the part
/// that is wrong. Lists (dimensions, tiles, a tile's entries, tuples) are at most
/// [`type_limits::MAX_LIST`] long in a type; the values, such as [`Shape`], have no such limit.
///
/// ```
/// use xla_shape::shape;
///
/// type Tiled = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
/// type Same = shape!(bf16[8, 128]<1, 0: T(8, 128)(2, 1)>);
/// type Default = shape!(bf16[8,128]); // the same as bf16[8,128]{1,0}
///
/// fn same(x: Tiled) -> Same { x }
/// assert_eq!(Default::TEXT, "bf16[8,128]{1,0}");
/// ```
///
/// ```compile_fail
/// # use xla_shape::shape;
/// type Wrong = shape!(bf16[8,128]{1,1}); // dimension 1 twice
/// ```
///
/// Clippy's `type_complexity` counts the parts of the type that a shape expands to, so it may ask for a name (`type X = shape!(…)`) where
/// a shape is written inside another type in a signature. `type-complexity-threshold = 1000` in a `clippy.toml` prevents this.
///
/// # Sizes that Rust knows
///
/// A dimension, a bound, an entry of a tile or a memory space (a `u8`) may be an expression: a constant, a const parameter, or arithmetic
/// on constants. It needs braces if it contains commas or does not begin with a name or a number. What depends on the expression is checked when its
/// value is known, in `cargo build`.
///
/// ```
/// use xla_shape::{Buffer, View, shape};
///
/// const LANES: usize = 128;
/// type Block = shape!(bf16[8 * 2, LANES]{1,0:T(8,LANES)(2,1)});
///
/// fn first_column<const M: usize>(x: &View<'_, shape!(f32[M,128]{1,0:T(8,128)})>) -> [f32; M] {
///     std::array::from_fn(|row| x[[row, 0]])
/// }
/// let x = Buffer::<shape!(f32[20,128]{1,0:T(8,128)})>::zeroed();
/// assert_eq!(first_column(&x.view()), [0.0; 20]);
/// ```
///
/// A single lower-case word is not an expression: it [names](types::Named) a run-time size, like `?`. In braces, it is an
/// expression.
///
/// Rust has no arithmetic on const parameters in types (`2 * M`). The unsigned numbers of `typenum` support arithmetic, and can be
/// dimensions of a [`types::Array`], too.
///
/// ```
/// use std::ops::Add;
/// use typenum::{Sum, U3, U4, Unsigned};
/// use xla_shape::element::F32;
/// use xla_shape::types::{Array, Dim, StaticDim};
/// use xla_shape::{View, layout};
///
/// type Vector<N> = Array<F32, (N,), layout!({0})>;
///
/// // The result is as long as both operands, whatever their lengths.
/// fn concatenated<A: StaticDim + Add<B>, B: StaticDim>(_: Vector<A>, _: Vector<B>) -> Vector<Sum<A, B>>
/// where
///     Sum<A, B>: StaticDim,
/// {
///     Vector::default()
/// }
/// let y = concatenated(Vector::<U3>::default(), Vector::<U4>::default());
/// assert_eq!(y.array_shape().to_string(), "f32[7]{0}");
/// # use xla_shape::types::ArrayType;
/// ```
#[cfg(not(rust_analyzer))]
#[macro_export]
macro_rules! shape {
    ($($tokens:tt)*) => {
        $crate::__private::shape!([$crate] $($tokens)*)
    };
}

/// Names for shapes: type aliases whose documentation has the text of the shape, its bytes and its padding. Editors show this where the name is
/// used; for `type Weights = shape!(…)`, they show the type that the macro writes.
///
/// ```
/// use xla_shape::{View, shape, shape_type};
///
/// shape_type! {
///     /// The weights of a layer.
///     pub type Weights = bf16[100,200]{1,0:T(8,128)(2,1)};
///     type Rows<const M: usize> = f32[M,128]{1,0:T(8,128)};
/// }
///
/// fn same(x: Weights) -> shape!(bf16[100,200]{1,0:T(8,128)(2,1)}) { x }
/// fn rows<const M: usize>(x: &View<'_, Rows<M>>) -> usize { M }
/// assert_eq!(Weights::BYTES, 53_248); // as the documentation of `Weights` says
/// assert_eq!(Rows::<3>::TEXT, "f32[3,128]{1,0:T(8,128)}");
/// ```
///
/// The shape is written as in [`shape!`]. If a size is an expression, the documentation only has the text as it is written. A shape that
/// [`shape!`] refuses does not compile here, either:
///
/// ```compile_fail
/// xla_shape::shape_type! { type Wrong = bf16[8,128]{1,1}; } // dimension 1 twice
/// ```
#[cfg(not(rust_analyzer))]
#[macro_export]
macro_rules! shape_type {
    ($($tokens:tt)*) => {
        $crate::__private::shape_type! { [$crate] $($tokens)* }
    };
}

/// The shape of an array in the layout that a TPU chooses by default, as a type: a generation, and the text of a shape without layouts.
///
/// If all sizes are numbers, the type is the one that [`shape!`] makes with the device's layout written out.
///
/// ```
/// use xla_shape::{shape, tpu_shape};
///
/// type Weights = tpu_shape!(v5e, bf16[1,3072]);
/// fn same(x: Weights) -> shape!(bf16[1,3072]{1,0:T(2,128)(2,1)}) { x }
/// assert_eq!(Weights::BYTES, 12 << 10);
/// ```
///
/// If sizes are [expressions](shape!#sizes-that-rust-knows), the layout is only known as a constant. Then the layout type is
/// [`tpu::TpuLayout`], which has the same layout but is a different type than the layout written out:
///
/// ```
/// use xla_shape::{Buffer, View, tpu_shape};
///
/// fn corner<const M: usize, const N: usize>(x: &View<'_, tpu_shape!(v5e, f32[M,N])>) -> f32 { x[[M - 1, N - 1]] }
/// type Matrix<const M: usize, const N: usize> = tpu_shape!(v5e, f32[M,N]);
/// assert_eq!(Matrix::<100, 200>::TEXT, "f32[100,200]{0,1:T(8,128)}");
/// assert_eq!(corner(&Buffer::<Matrix<100, 200>>::zeroed().view()), 0.0);
/// ```
///
/// A layout that is not known does not compile:
///
/// ```compile_fail
/// type Unknown = xla_shape::tpu_shape!(v5e, s1[8]);
/// ```
#[cfg(not(rust_analyzer))]
#[macro_export]
macro_rules! tpu_shape {
    ($($tokens:tt)*) => {
        $crate::__private::tpu_shape!([$crate] $($tokens)*)
    };
}

/// A layout, as a type: XLA's text for it, in `{…}` or `<…>`.
///
/// ```
/// use xla_shape::element::F32;
/// use xla_shape::types::{Array, Size};
/// use xla_shape::{layout, shape};
///
/// type Tiled = layout!({1,0:T(8,128)});
/// fn same(x: shape!(f32[16,256]{1,0:T(8,128)})) -> Array<F32, (Size<16>, Size<256>), Tiled> { x }
/// ```
#[cfg(not(rust_analyzer))]
#[macro_export]
macro_rules! layout {
    ($($tokens:tt)*) => {
        $crate::__private::layout!([$crate] $($tokens)*)
    };
}

/// A sharding, as a type: XLA's text, or a string with it.
///
/// Shardings with the same canonical text are the same type; a list of devices stays a list. Shardings that do not assign pieces to
/// devices, such as `{manual}`, and shardings of tuples do not compile. Names of mesh axes with several letters need a string, because
/// Rust does not accept them as tokens.
///
/// ```
/// use xla_shape::types::{ShardingType, Shard};
/// use xla_shape::{shape, sharding};
///
/// type Plan = sharding!({devices=[2,4]<=[8]});
/// fn same(x: Plan) -> sharding!("{mesh['data'=2,'model'=4], [{'data'}, {'model'}]}") { x }
/// assert_eq!(Plan::sharding().to_string(), "{devices=[2,4]<=[8]}");
/// assert_eq!(Shard::<shape!(bf16[64,256]), Plan>::TEXT, "bf16[32,64]{1,0}");
/// ```
///
/// ```compile_fail
/// type Wrong = xla_shape::sharding!({devices=[2,4]<=[9]}); // 8 pieces, 9 devices
/// ```
#[macro_export]
macro_rules! sharding {
    ($($tokens:tt)*) => {
        $crate::__private::sharding!([$crate] $($tokens)*)
    };
}

/// The shard of one device, as a type: a shape and a sharding. It is the type that [`shape!`] makes of the shard's shape.
///
/// All sizes must be numbers; [`types::Shard`] accepts other sizes.
///
/// ```
/// use xla_shape::{shape, shard};
///
/// type Mine = shard!(bf16[64,256]{1,0:T(8,128)(2,1)}, {devices=[2,4]<=[8]});
/// fn same(x: Mine) -> shape!(bf16[32,64]{1,0:T(8,128)(2,1)}) { x }
/// ```
///
/// ```compile_fail
/// type Wrong = xla_shape::shard!(f32[10], {devices=[4]<=[4]}); // 4 does not divide 10
/// ```
#[macro_export]
macro_rules! shard {
    ($($tokens:tt)*) => {
        $crate::__private::shard!([$crate] $($tokens)*)
    };
}

/// A [`Shape`] that a `const` can hold, checked at compile time, without allocation.
///
/// ```
/// use xla_shape::{Shape, shape_value};
///
/// const RESULTS: Shape = shape_value!((f32[2,3]{0,1}, s32[<=4], token[]));
/// assert_eq!(RESULTS, "(f32[2,3]{0,1}, s32[<=4], token[])".parse().unwrap());
/// ```
#[macro_export]
macro_rules! shape_value {
    ($($tokens:tt)*) => {
        <$crate::__private::shape!([$crate] $($tokens)*) as $crate::types::ShapeType>::VALUE
    };
}

/// Asserts at compile time that a text of another notation places every element where a shape does: the
/// [name](notations::Notation::name) of the notation, and the text in quotes.
///
/// ```
/// use xla_shape::{assert_same_map, shape};
///
/// type Weights = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
/// assert_same_map!(Weights, cute "((2,4),128):((1,256),2)");
/// assert_same_map!(Weights, mosaic "memref<8x128xbf16, #tpu.tiled<(8,128)(2,1),[1,1]>>");
///
/// type Images = shape!(f16[8,3,224,224]{1,3,2,0});
/// assert_same_map!(Images, torch "torch.empty((8, 3, 224, 224), dtype=torch.float16, memory_format=torch.channels_last)");
/// ```
///
/// ```compile_fail
/// # use xla_shape::{assert_same_map, shape};
/// assert_same_map!(shape!(f32[8,128]), cute "(8,128):(1,8)"); // column-major
/// ```
///
/// Positions count elements. Types of elements are not compared: many notations have none. Needs the feature `notations`.
#[cfg(feature = "notations")]
#[macro_export]
macro_rules! assert_same_map {
    ($shape:ty, $($text:tt)*) => {
        const _: () = $crate::__private::same_map!([$crate] [$shape] $($text)*);
    };
}

/// The shapes of an HLO module as types, read from the file while the crate is compiled.
///
/// A dump of XLA becomes a Rust module: if a new dump has another layout, the kernel that was written for the old one does not compile.
/// The file is read again when it changes. Its path is relative to the directory of the crate's `Cargo.toml`.
///
/// ```
/// # mod docs {
/// xla_shape::hlo_types! {
///     /// One step of a recurrent network, compiled for TPU v5e.
///     pub mod program = "../examples/hlo/v5e__rnn_scan.hlo" {
///         type Product = "convolution.3"(Activations, Weights);
///     }
/// }
/// # }
/// # use docs::program;
/// use xla_shape::{View, ViewMut, shape};
///
/// fn product(x: View<program::Activations>, w: View<program::Weights>, out: ViewMut<program::Product>) {
///     // …
/// }
///
/// // What the kernel relies on, or is called with:
/// fn same(x: program::Product) -> shape!(bf16[4,512]{1,0:T(4,128)(2,1)}) { x }
/// ```
///
/// # The types of a module
///
/// - `Parameter0`, `Parameter1`, …: the parameters of the ENTRY computation; `Parameters`: all of them, a tuple.
/// - `Result`: what the ENTRY computation returns; if that is a tuple, `Result0`, `Result1`, … are its elements.
/// - `type Product = "convolution.3";` names the shape of an instruction of any computation. If several computations have an
///   instruction with that name: `type Product = "fused_computation"::"convolution.3";`.
/// - `type Product = "convolution.3"(Activations, Weights);` names the shapes of its operands too.
/// - `type (Maximum, (Sum, _)) = "while.1";` names the elements of a tuple. `_` names nothing, and so does `..` at the end.
///
/// All types are public in the module, whose visibility is the one before `mod`. The documentation of each type is the text of its
/// instruction. A path that begins with `$OUT_DIR/` is in the directory to which the crate's build script writes (the crate
/// `xla-shape-pjrt` compiles there). Without named instructions, write `hlo_types! { mod program = "module.hlo"; }`; one invocation may
/// contain several modules.
///
/// # Errors
/// It does not compile if there is no such file, its text is not valid, it has no ENTRY computation, no instruction has the name, or the
/// shape of a named instruction cannot be a type ([`type_limits`]).
#[cfg(feature = "hlo")]
#[macro_export]
macro_rules! hlo_types {
    ($($tokens:tt)*) => {
        $crate::__private::hlo_types! { [$crate] $($tokens)* }
    };
}

#[doc = include_str!("../../README.md")]
#[cfg(all(doctest, feature = "hlo"))]
struct ReadmeExamples;
