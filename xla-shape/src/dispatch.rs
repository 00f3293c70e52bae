//! `dispatch!`: calls the kernel that was compiled for the shapes of run-time buffers.

use crate::buffer::{Buffer, Bytes, DynShape, View, ViewMut};
use crate::element::Stored;
use crate::types::{WholeArray, takes};
use core::marker::PhantomData;
use xla_shape_core::text::{ConstText, same_text};
use xla_shape_core::{ArrayShape, ElementType};

/// Runs the arm whose shapes are those of run-time buffers, or a fallback.
///
/// It reads like a `match` over [`DynBuffer`](crate::DynBuffer), [`DynView`](crate::DynView) and [`DynViewMut`](crate::DynViewMut). In an arm, the
/// names of the buffers stand for typed buffers; in the last arm, `_`, they stand for the original buffers.
///
/// ```
/// use xla_shape::element::F32;
/// use xla_shape::{DynBuffer, View, ViewMut, dispatch, shape};
///
/// type Tiled = shape!(f32[16,128]{1,0:T(8,128)});
/// type Rows = shape!(f32[?,128]); // any number of rows
///
/// fn sum_of_tiles(x: View<Tiled>) -> f32 { x.as_slice().iter().sum() }
/// fn sum_of_rows(x: View<Rows>) -> f32 { x.to_row_major().iter().sum() }
///
/// fn sum(x: &DynBuffer) -> f32 {
///     dispatch!(match &x {
///         Tiled => sum_of_tiles(x),
///         Rows => sum_of_rows(x),
///         shape!(f32[]) => x[[]],
///         _ => x.to_row_major::<F32>().map_or(f32::NAN, |values| values.iter().sum()),
///     })
/// }
///
/// for shape in ["f32[16,128]{1,0:T(8,128)}", "f32[3,128]", "f32[]", "f32[5,7]{0,1}"] {
///     let shape: xla_shape::ArrayShape = shape.parse()?;
///     let elements = shape.dimensions().iter().filter_map(|d| d.extent()).product::<u64>();
///     let x = DynBuffer::from_fn_with::<F32>(shape, |_| 1.0)?;
///     assert_eq!(sum(&x), elements as f32);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is matched
///
/// | written | in an arm |
/// |---|---|
/// | `&x` | a [`View`](crate::View) |
/// | `&mut x` | a [`ViewMut`](crate::ViewMut) |
/// | `x` | the buffer itself, moved: a [`Buffer`](crate::Buffer) of a `DynBuffer` |
///
/// `x` is the name of a variable. If there are several buffers, each must have its shape in the arm:
///
/// ```
/// use xla_shape::types::ArrayType;
/// # use xla_shape::{DynBuffer, dispatch, shape};
/// fn scale(x: &mut DynBuffer, factors: &DynBuffer) -> bool {
///     dispatch!(match &mut x, &factors {
///         (shape!(f32[?,128]), shape!(f32[128])) => {
///             for index in x.shape().indices() {
///                 x[index] *= factors[[index[1]]];
///             }
///             true
///         }
///         _ => false,
///     })
/// }
///
/// let mut x = DynBuffer::from_fn_with::<xla_shape::element::F32>("f32[3,128]".parse()?, |_| 2.0)?;
/// let factors = DynBuffer::from_fn_with::<xla_shape::element::F32>("f32[128]".parse()?, |i| i[0] as f32)?;
/// assert!(scale(&mut x, &factors));
/// assert_eq!(x.get::<xla_shape::element::F32>(&[2, 100])?, 200.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Which arm runs
///
/// The first arm whose shapes are those of the buffers: element type, dimensions and layout are compared as in
/// [`DynBuffer::typed`](crate::DynBuffer::typed). `?` accepts any size. `<=8` accepts `<=8` and 8, whose elements have the same positions;
/// it does not accept 5 or `<=5`, whose elements may have other positions, or less memory. A kernel for any batch of at most 8 rows has an
/// arm with `?` and checks the size. To use 5 rows of a buffer with room for 8, make a typed buffer with [`from_parts`](crate::Buffer::from_parts).
///
/// A buffer whose memory is not aligned for the elements' Rust type has no typed view, so the fallback runs.
///
/// An arm that does not run costs one comparison of a shape for each buffer, up to the first one that differs, and no allocation.
///
/// # What the compiler checks
///
/// Invalid shapes, arms with too few or too many shapes, and a missing last arm are errors in `cargo check`. An arm that never runs,
/// because an arm before it accepts all of its shapes, is an error in `cargo build`. The list of arms is fixed at compile time: each size needs an
/// arm of its own, unless an arm has `?`.
///
/// ```compile_fail
/// # use xla_shape::{DynBuffer, dispatch, shape};
/// # fn f(x: DynBuffer) {
/// dispatch!(match &x {
///     shape!(f32[?,128]) => (),
///     shape!(f32[8,128]) => (), // never runs
///     _ => (),
/// })
/// # }
/// # f(DynBuffer::zeroed_with("f32[]".parse().unwrap()).unwrap());
/// ```
#[macro_export]
macro_rules! dispatch {
    (match $($tokens:tt)*) => {
        $crate::__dispatch_buffers!([] $($tokens)*)
    };
    ($($tokens:tt)*) => {
        ::core::compile_error!("expected `match`, the buffers, and arms in braces: `dispatch!(match &x, &mut y { … })`")
    };
}

/// Parses the buffers into a list: for each, how it is bound (`view_mut`, `view` or `moved`), and its name.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_buffers {
    ([$($buffers:tt)*] &mut $x:ident $($rest:tt)*) => {
        $crate::__dispatch_next!([$($buffers)* (view_mut $x)] $($rest)*)
    };
    ([$($buffers:tt)*] &$x:ident $($rest:tt)*) => {
        $crate::__dispatch_next!([$($buffers)* (view $x)] $($rest)*)
    };
    ([$($buffers:tt)*] $x:ident $($rest:tt)*) => {
        $crate::__dispatch_next!([$($buffers)* (moved $x)] $($rest)*)
    };
    ([$($buffers:tt)+] { $($arms:tt)* }) => {
        // After a comma.
        $crate::__dispatch_next!([$($buffers)+] { $($arms)* })
    };
    ($($tokens:tt)*) => {
        ::core::compile_error!("expected the names of buffers: `x`, `&x` or `&mut x`")
    };
}

/// Parses what follows a buffer.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_next {
    ($buffers:tt , $($rest:tt)+) => {
        $crate::__dispatch_buffers!($buffers $($rest)+)
    };
    ($buffers:tt { $($arms:tt)* }) => {
        $crate::__dispatch_arms!($buffers [] $($arms)*)
    };
    ($($tokens:tt)*) => {
        ::core::compile_error!("expected the names of buffers: `x`, `&x` or `&mut x`; give any other expression a name first")
    };
}

/// Parses the arms; `$read` are the arms that have been parsed already.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_arms {
    ($buffers:tt [$($read:tt)*] _ => $fallback:expr $(,)?) => {{
        const { $crate::__private::assert_arms_run(&[$($crate::__dispatch_shapes!($read)),*]) };
        $crate::__dispatch_run!($buffers [$($read)*] $fallback)
    }};
    ($buffers:tt $read:tt _ => $fallback:expr, $($rest:tt)+) => {
        ::core::compile_error!("expected `_ => …` as the last arm, found more arms after it")
    };
    ($buffers:tt [$($read:tt)*] ($($shape:ty),+ $(,)?) => $body:block, $($rest:tt)*) => {
        $crate::__dispatch_arms!($buffers [$($read)* ([$($shape),+] $body)] $($rest)*)
    };
    ($buffers:tt [$($read:tt)*] ($($shape:ty),+ $(,)?) => $body:block $($rest:tt)*) => {
        $crate::__dispatch_arms!($buffers [$($read)* ([$($shape),+] $body)] $($rest)*)
    };
    ($buffers:tt [$($read:tt)*] ($($shape:ty),+ $(,)?) => $body:expr, $($rest:tt)*) => {
        $crate::__dispatch_arms!($buffers [$($read)* ([$($shape),+] $body)] $($rest)*)
    };
    ($buffers:tt [$($read:tt)*] $shape:ty => $body:block, $($rest:tt)*) => {
        $crate::__dispatch_arms!($buffers [$($read)* ([$shape] $body)] $($rest)*)
    };
    ($buffers:tt [$($read:tt)*] $shape:ty => $body:block $($rest:tt)*) => {
        $crate::__dispatch_arms!($buffers [$($read)* ([$shape] $body)] $($rest)*)
    };
    ($buffers:tt [$($read:tt)*] $shape:ty => $body:expr, $($rest:tt)*) => {
        $crate::__dispatch_arms!($buffers [$($read)* ([$shape] $body)] $($rest)*)
    };
    ($buffers:tt $read:tt $($tokens:tt)*) => {
        $crate::__dispatch_why!($($tokens)*)
    };
}

/// Reports what is wrong with the next arm.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_why {
    (if $($rest:tt)*) => {
        ::core::compile_error!("expected `=>` after the shapes of an arm, found a guard; ask inside the arm")
    };
    (| $($rest:tt)*) => {
        ::core::compile_error!("expected one shape for each buffer, found `|`; write an arm for each")
    };
    (=> $($rest:tt)*) => {
        ::core::compile_error!("expected `_ => …` as the last arm, for buffers that have none of the shapes")
    };
    ($first:tt $($rest:tt)*) => {
        $crate::__dispatch_why!($($rest)*)
    };
    () => {
        ::core::compile_error!("expected `_ => …` as the last arm, for buffers that have none of the shapes")
    };
}

/// The shapes of an arm as values.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_shapes {
    (([$($shape:ty),+] $body:expr)) => {
        &[$($crate::__private::value(<$shape as $crate::__private::Itself>::ITSELF)),+]
    };
}

/// The arms, each inside the `else` of the one before.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_run {
    ($buffers:tt [] $fallback:expr) => {
        $fallback
    };
    ($buffers:tt [([$($shape:ty),+] $body:expr) $($rest:tt)*] $fallback:expr) => {
        if let ::core::option::Option::Some(shapes) = $crate::__dispatch_fit!($buffers [$($shape),+]) {
            $crate::__dispatch_bind!(shapes $buffers $body)
        } else {
            $crate::__dispatch_run!($buffers [$($rest)*] $fallback)
        }
    };
}

/// The shapes of an arm, as nested pairs; `None` if not all buffers have these shapes.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_fit {
    ([] []) => {
        ::core::option::Option::Some(())
    };
    ([($kind:ident $x:ident) $($buffers:tt)*] [$shape:ty $(, $shapes:ty)*]) => {
        match $crate::__private::fit(<$shape as $crate::__private::Itself>::ITSELF, &$x) {
            ::core::option::Option::Some(shape) => match $crate::__dispatch_fit!([$($buffers)*] [$($shapes),*]) {
                ::core::option::Option::Some(shapes) => ::core::option::Option::Some((shape, shapes)),
                ::core::option::Option::None => ::core::option::Option::None,
            },
            ::core::option::Option::None => ::core::option::Option::None,
        }
    };
    ([($kind:ident $x:ident) $($buffers:tt)*] []) => {
        ::core::compile_error!(::core::concat!(
            "expected a shape for each buffer, found none for `", ::core::stringify!($x), "` in an arm"
        ))
    };
    ([] [$($shape:ty),+]) => {
        ::core::compile_error!("expected one shape for each buffer, found more in an arm")
    };
}

/// The arm's expression, in which the buffers' names stand for typed ones.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_bind {
    ($shapes:ident [] $body:expr) => {
        $body
    };
    ($shapes:ident [($kind:ident $x:ident) $($buffers:tt)*] $body:expr) => {{
        let (shape, shapes) = $shapes;
        $crate::__dispatch_let!($kind $x shape);
        $crate::__dispatch_bind!(shapes [$($buffers)*] $body)
    }};
}

/// One buffer with its shape in the type. It is borrowed once here, so that an arm that does not use it, or only reads it, causes no warning.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_let {
    (view $x:ident $shape:ident) => {
        let $x = $crate::__private::typed($shape, $x.as_bytes());
        let _ = &$x;
    };
    (view_mut $x:ident $shape:ident) => {
        let mut $x = $crate::__private::typed_mut($shape, $x.as_bytes_mut());
        let _ = &mut $x;
    };
    (moved $x:ident $shape:ident) => {
        let mut $x = $crate::__private::moved($shape, $x);
        let _ = &mut $x;
    };
}

/// The shape of an arm as a value, and its canonical text.
#[doc(hidden)]
#[must_use]
pub const fn value<S: WholeArray>(_: PhantomData<S>) -> (&'static ArrayShape, &'static str) {
    (S::SHAPE, S::TEXT)
}

/// The shape of type `S` that a buffer has, if its memory can be borrowed as such.
#[doc(hidden)]
#[inline]
pub fn fit<S: WholeArray<Element: Stored>, B: Bytes>(_: PhantomData<S>, buffer: &Buffer<DynShape, B>) -> Option<S> {
    let shape = S::from_array_shape(buffer.shape())?;
    View::<'_, S>::from_parts(shape, buffer.view().as_bytes()).ok().map(|_| shape)
}

/// The view that [`fit`] has checked.
#[doc(hidden)]
#[inline]
pub fn typed<S: WholeArray<Element: Stored>>(shape: S, bytes: &[u8]) -> View<'_, S> {
    View::<'_, S>::from_parts(shape, bytes).expect("`fit` has made the same view")
}

/// The mutable view that [`fit`] has checked.
#[doc(hidden)]
#[inline]
pub fn typed_mut<S: WholeArray<Element: Stored>>(shape: S, bytes: &mut [u8]) -> ViewMut<'_, S> {
    ViewMut::<'_, S>::from_parts(shape, bytes).expect("`fit` has made the same view")
}

/// The buffer with the shape that [`fit`] has checked.
#[doc(hidden)]
#[inline]
pub fn moved<S: WholeArray<Element: Stored>, B: Bytes>(shape: S, buffer: Buffer<DynShape, B>) -> Buffer<S, B> {
    Buffer::<S, B>::from_parts(shape, buffer.into_parts().1).expect("`fit` has made the same view")
}

/// Fails the compilation if an arm accepts only shapes that arms before it accept.
#[doc(hidden)]
#[track_caller]
pub const fn assert_arms_run(arms: &[&[(&ArrayShape, &str)]]) {
    let mut later = 0;
    while later < arms.len() {
        let mut earlier = 0;
        while earlier < later {
            if takes_all(arms[earlier], arms[later]) {
                let problem = ConstText::<2048>::new().push_str("arm ").push_count(later + 1).push_str(", ");
                let problem = push_shapes(problem, arms[later]).push_str(", never runs: arm ").push_count(earlier + 1);
                let problem = push_shapes(problem.push_str(", "), arms[earlier]).push_str(", takes all of its shapes");
                panic!("{}", problem.as_str())
            }
            earlier += 1;
        }
        later += 1;
    }
}

const fn push_shapes(mut text: ConstText<2048>, shapes: &[(&ArrayShape, &str)]) -> ConstText<2048> {
    let mut i = 0;
    while i < shapes.len() {
        text = text.push_str(if i == 0 { "`" } else { ", " }).push_str(shapes[i].1);
        i += 1;
    }
    text.push_str("`")
}

/// Whether one arm accepts every list of shapes that the other accepts.
const fn takes_all(this: &[(&ArrayShape, &str)], other: &[(&ArrayShape, &str)]) -> bool {
    // An arm with a different number of shapes is reported elsewhere.
    let mut i = 0;
    while i < this.len() && i < other.len() {
        if !takes_sizes(this[i].0, other[i].0) || !same_layout(this[i].1, other[i].1) {
            return false;
        }
        i += 1;
    }
    this.len() == other.len()
}

/// Whether the type of shape `this` accepts every shape that the type of shape `other` accepts, layouts aside. [`WholeArray::from_array_shape`]
/// decides the same for values.
const fn takes_sizes(this: &ArrayShape, other: &ArrayShape) -> bool {
    let (these, those) = (this.dimensions(), other.dimensions());
    if !ElementType::same(this.element_type(), other.element_type()) || these.len() != those.len() {
        return false;
    }
    let mut i = 0;
    while i < these.len() {
        if !takes(these[i], those[i]) {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether the layouts are equal: what follows `]` in the canonical texts.
const fn same_layout(this: &str, other: &str) -> bool {
    same_text(after_dimensions(this.as_bytes()), after_dimensions(other.as_bytes()))
}

const fn after_dimensions(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text {
        text = rest;
        if *first == b']' {
            break;
        }
    }
    text
}
