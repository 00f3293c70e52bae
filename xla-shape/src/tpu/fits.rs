//! Whether the blocks of a kernel fit into a memory of a TPU, decided by the compiler.

use super::{Block, Generation, GenerationType, InMemory, kernel_bytes, vmem_bytes};
use crate::element::Element;
use crate::sealed::{Sealed, for_each_arity, named_in_errors};
use crate::types::{Array, ArrayType, BoundedDimensions, LayoutType};
use core::marker::PhantomData;
use xla_shape_core::text::ConstText;

/// The `LIMIT` of a kernel without `vmem_limit_bytes`.
const NOT_GIVEN: u64 = 0;

/// The VMEM that a kernel may use on one core of a TPU of generation `G`: `LIMIT` bytes (`vmem_limit_bytes` of Pallas), or the compiler's
/// own limit if `LIMIT` is omitted (or 0). See [`Generation::kernel_vmem`].
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::tpu::{Memory, V5e, Vmem, assert_fits};
///
/// // An array of 4 MiB fits into the 16 MiB that the compiler allows by default.
/// const _: () = assert_fits::<Vmem<V5e>, shape!(f32[1024,1024])>();
/// assert_eq!(<Vmem<V5e> as Memory>::BYTES, 16 << 20);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Vmem<G, const LIMIT: u64 = NOT_GIVEN>(PhantomData<G>);

/// A block of an array, as in a Pallas kernel: `A` is the shape of the array, `B` that of the block.
///
/// Only their element types and sizes matter: the block is laid out in the device's tiles. The block counts twice, because the next block is copied
/// while the kernel works on this one; a block of the whole array counts once. For an operand that is the same in every step of the grid, write its
/// shape instead, which counts once.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::tpu::{BlockSpec, V5e, Vmem, assert_fits};
///
/// // Blocks of 1 MiB of an array that is larger than VMEM.
/// type Weights = BlockSpec<shape!(bf16[65536,1024]), shape!(bf16[512,1024])>;
/// const _: () = assert_fits::<Vmem<V5e>, (Weights, shape!(f32[512,1024]))>();
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct BlockSpec<A, B>(PhantomData<(A, B)>);

/// A memory of a TPU, as a type: [`Vmem`].
///
/// ```
/// use xla_shape::tpu::{Memory, V5e, Vmem};
///
/// assert_eq!(<Vmem<V5e> as Memory>::BYTES, 16 << 20, "the compiler's default");
/// assert_eq!(<Vmem<V5e, { 64 << 20 }> as Memory>::BYTES, 64 << 20);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory of a TPU",
    label = "expected a memory of a TPU, such as `Vmem<V5e>`"
)]
pub trait Memory: Sealed {
    /// The generation of the TPU.
    type Generation: GenerationType;
    /// The bytes that a kernel may use.
    const BYTES: u64;
}

impl<G, const LIMIT: u64> Sealed for Vmem<G, LIMIT> {}

impl<G: GenerationType, const LIMIT: u64> Memory for Vmem<G, LIMIT> {
    type Generation = G;
    const BYTES: u64 = match G::GENERATION.kernel_vmem() {
        Some(vmem) => vmem.limit(if LIMIT == NOT_GIVEN { None } else { Some(LIMIT) }),
        None if LIMIT == NOT_GIVEN => {
            panic!("the compiler's limit on VMEM is not known; name one: Vmem<GENERATION, BYTES>")
        }
        None => LIMIT,
    };
}

/// An operand in a memory of a TPU of generation `G`: an array, which counts once, or a [`BlockSpec`].
///
/// An array without tiles is laid out in the device's tiles; one with tiles takes the bytes of its layout.
pub trait VmemPart<G>: Sealed {
    /// The bytes that it takes.
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
        Ok(block) => block.in_memory(),
        Err(error) => error.panic(),
    };
}

/// The operands in a memory of a TPU of generation `G`: an array or a [`BlockSpec`], or a tuple of up to 12 of them.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::tpu::{BlockSpec, Contents, V5e};
///
/// type Whole = shape!(f32[4096,1024]);
/// type Parts = (BlockSpec<Whole, shape!(f32[8,128])>, shape!(f32[8,128]));
/// let parts = <Parts as Contents<V5e>>::PARTS;
/// assert_eq!((parts[0].copies, parts[0].bytes), (2, 4096), "a block and the next one");
/// assert_eq!((parts[1].copies, parts[1].bytes), (1, 4096));
/// ```
#[diagnostic::on_unimplemented(
    message = "the size of `{Self}` in TPU memory is not known",
    label = "expected arrays of known sizes, made by `shape!(…)`, `BlockSpec<array, block>`, or a tuple of up to 12 of them"
)]
pub trait Contents<G>: Sealed {
    /// The bytes of all parts.
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
    ($(($i:tt $T:ident $N:ident $t:ident))*) => {
        impl<G, $($T: VmemPart<G>,)*> Contents<G> for ($($T,)*) {
            const PARTS: &'static [InMemory] = &[$($T::PART,)*];
        }
    };
}

for_each_arity!(contents);

/// Compiles only if the arrays and blocks fit into the memory together; otherwise the error shows the sum.
///
/// The kernel's own intermediate values may need more: see [`kernel_bytes`].
///
/// As a constant (`const _: () = assert_fits::<…>();`), it is checked in `cargo check`; in a function, in `cargo build`.
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
    named_in_errors!((M, C));
    const { fit(C::PARTS, M::BYTES, M::Generation::GENERATION) }
}

const fn fit(parts: &[InMemory], most: u64, generation: Generation) {
    let sum = kernel_bytes(parts);
    if sum <= most {
        return;
    }
    let mut text = ConstText::<512>::new().push_str("a kernel on TPU ").push_str(generation.name());
    text = text.push_str(" may use ").push_number(most).push_str(" bytes of VMEM, found ");
    let mut i = 0;
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
