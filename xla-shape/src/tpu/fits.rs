//! Whether the blocks of a kernel fit into a memory of a TPU, decided by the compiler.

use super::{Block, DOUBLE_BUFFERED, Generation, GenerationType, vmem_bytes};
use crate::element::Element;
use crate::sealed::{Sealed, for_each_arity};
use crate::types::{Array, ArrayType, BoundedDimensions, LayoutType};
use core::marker::PhantomData;
use paste::paste;
use xla_shape_core::text::ConstText;

/// The VMEM of one core of a TPU of generation `G`, of which a kernel may use at most `LIMIT` bytes
/// (`vmem_limit_bytes` of Pallas); all of it, if there is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Vmem<G, const LIMIT: u64 = { u64::MAX }>(PhantomData<G>);

/// A block of an array, as a kernel of Pallas has it: `A` is the shape of the array, `B` that of the block.
///
/// Only their elements and sizes matter. The block is laid out in the device's tiles, and is in memory twice: the next one is
/// copied while the kernel works on this one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct BlockSpec<A, B>(PhantomData<(A, B)>);

/// A memory of a TPU, as a type: [`Vmem`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory of a TPU",
    label = "expected a memory of a TPU, such as `Vmem<V5e>`"
)]
pub trait Memory: Sealed {
    /// The TPU.
    type Generation: GenerationType;
    /// The bytes that a kernel can use.
    const BYTES: u64;
}

impl<G, const LIMIT: u64> Sealed for Vmem<G, LIMIT> {}

impl<G: GenerationType, const LIMIT: u64> Memory for Vmem<G, LIMIT> {
    type Generation = G;
    const BYTES: u64 = {
        let all = G::GENERATION.vmem_bytes();
        if LIMIT < all { LIMIT } else { all }
    };
}

/// What one thing takes in a memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InMemory {
    /// How many copies of it there are.
    pub copies: u64,
    /// The bytes of one copy.
    pub bytes: u64,
}

/// One thing in a memory of a TPU of generation `G`: an array, which is there once, or a [`BlockSpec`].
///
/// An array without tiles is laid out in the device's tiles; one with tiles takes what its layout says.
pub trait VmemPart<G>: Sealed {
    /// What it takes.
    const PART: InMemory;
}

impl<G: GenerationType, E: Element, D: BoundedDimensions, L: LayoutType> VmemPart<G> for Array<E, D, L> {
    const PART: InMemory = match vmem_bytes(G::GENERATION, Self::SHAPE) {
        Ok(bytes) => InMemory { copies: 1, bytes },
        Err(error) => error.panic(),
    };
}

impl<A, B> Sealed for BlockSpec<A, B> {}

impl<G: GenerationType, A: ArrayType, B: ArrayType> VmemPart<G> for BlockSpec<A, B> {
    const PART: InMemory = match Block::new(G::GENERATION, A::SHAPE, B::SHAPE) {
        Ok(block) => InMemory { copies: DOUBLE_BUFFERED, bytes: block.byte_size() },
        Err(error) => error.panic(),
    };
}

/// What can be in a memory of a TPU of generation `G`: a [`VmemPart`], or a tuple of up to 12 of them.
#[diagnostic::on_unimplemented(
    message = "the size of `{Self}` in TPU memory is not known",
    label = "expected arrays of known sizes, made by `shape!(…)`, `BlockSpec<array, block>`, or a tuple of up to 12 of them"
)]
pub trait Contents<G>: Sealed {
    /// What the parts take.
    const PARTS: &'static [InMemory];
}

impl<G, E, D, L> Contents<G> for Array<E, D, L>
where
    Self: VmemPart<G>,
{
    const PARTS: &'static [InMemory] = &[<Self as VmemPart<G>>::PART];
}

impl<G, A, B> Contents<G> for BlockSpec<A, B>
where
    Self: VmemPart<G>,
{
    const PARTS: &'static [InMemory] = &[<Self as VmemPart<G>>::PART];
}

macro_rules! contents {
    ($($i:literal)*) => { paste! {
        impl<G, $([<P $i>]: VmemPart<G>,)*> Contents<G> for ($([<P $i>],)*) {
            const PARTS: &'static [InMemory] = &[$([<P $i>]::PART,)*];
        }
    } };
}

for_each_arity!(contents);

/// Compiles only if the arrays and blocks fit into the memory together; the error shows the sum.
///
/// As a constant (`const _: () = assert_fits::<…>();`) it is checked in `cargo check`; in a function, in `cargo build`.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::tpu::{BlockSpec, V5e, Vmem, assert_fits};
///
/// type Lhs = BlockSpec<shape!(bf16[4096,1024]), shape!(bf16[512,1024])>;
/// type Sum = shape!(f32[512,512]);
/// const _: () = assert_fits::<Vmem<V5e>, (Lhs, Sum)>();
/// ```
///
/// ```compile_fail
/// # use xla_shape::shape;
/// # use xla_shape::tpu::{BlockSpec, V5e, Vmem, assert_fits};
/// # type Lhs = BlockSpec<shape!(bf16[4096,1024]), shape!(bf16[512,1024])>;
/// # type Sum = shape!(f32[512,512]);
/// const _: () = assert_fits::<Vmem<V5e, { 2 << 20 }>, (Lhs, Sum)>(); // 2 x 1 MiB + 1 MiB
/// ```
pub const fn assert_fits<M: Memory, C: Contents<M::Generation>>() {
    const { fit(C::PARTS, M::BYTES, M::Generation::GENERATION) }
}

const fn fit(parts: &[InMemory], most: u64, generation: Generation) {
    let mut sum = 0_u64;
    let mut i = 0;
    while i < parts.len() {
        let bytes = match parts[i].bytes.checked_mul(parts[i].copies) {
            Some(bytes) => bytes,
            None => u64::MAX,
        };
        sum = sum.saturating_add(bytes);
        i += 1;
    }
    if sum <= most {
        return;
    }
    let mut text = ConstText::<512>::new().push_str("expected at most ").push_number(most);
    text = text.push_str(" bytes in the VMEM of TPU ").push_str(generation.name()).push_str(", found ");
    i = 0;
    while i < parts.len() {
        let separator = if i == 0 { "" } else { " + " };
        text = text.push_str(separator);
        if parts[i].copies != 1 {
            text = text.push_number(parts[i].copies).push_str(" x ");
        }
        text = text.push_number(parts[i].bytes);
        i += 1;
    }
    if !matches!(parts, [InMemory { copies: 1, .. }]) {
        text = text.push_str(" = ").push_number(sum);
    }
    panic!("{}", text.as_str())
}
