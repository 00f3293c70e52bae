//! Access to single elements by index, in random order.

use crate::turn::{Contender, Turn};
use crate::{Case, Ratio};
use std::hint::black_box;
use xla_shape::element::{F32, S16};
use xla_shape::{ArrayShape, Buffer, DynBuffer, TileDimension, shape};

/// The position of an element, computed from the layout's definition each time.
fn rederived(shape: &ArrayShape, index: &[usize]) -> usize {
    let layout = shape.layout();
    let physical = || layout.minor_to_major().iter().rev();
    let mut sizes = physical().map(|&d| shape.dimensions()[d].extent().expect("sizes are static")).collect::<Vec<_>>();
    let mut entries = physical().map(|&d| index[d] as u64).collect::<Vec<_>>();
    for tile in layout.tiles() {
        let mut tile = tile.dimensions().to_vec();
        // If the tile has more entries than the array has dimensions, add leading dimensions of size 1.
        while sizes.len() < tile.len() {
            sizes.insert(0, 1);
            entries.insert(0, 0);
        }
        // Each `*` combines its dimension with the next more minor one.
        while let Some(star) = tile.iter().position(|entry| *entry == TileDimension::Combine) {
            let at = sizes.len() - tile.len() + star;
            entries[at + 1] += entries[at] * sizes[at + 1];
            sizes[at + 1] *= sizes[at];
            sizes.remove(at);
            entries.remove(at);
            tile.remove(star);
        }
        let covered = sizes.len() - tile.len();
        for (i, entry) in tile.iter().enumerate() {
            let TileDimension::Size(size) = *entry else { continue };
            sizes.push(size);
            entries.push(entries[covered + i] % size);
            entries[covered + i] /= size;
            sizes[covered + i] = sizes[covered + i].div_ceil(size);
        }
    }
    sizes.iter().zip(&entries).fold(0, |position, (size, entry)| position * size + entry) as usize
}

const ROWS: usize = 32;
const COLUMNS: usize = 256;
/// The number of accesses: the indices and the array fit into the L1 cache together.
const ACCESSES: usize = 1024;

/// Indices in random order.
fn indices() -> Vec<[usize; 2]> {
    let mut state = 1_u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    (0..ACCESSES).map(|_| [next(ROWS), next(COLUMNS)]).collect()
}

/// Sums the results of `get` for all indices. Integer additions take very little time.
fn contender(get: impl Fn(&[usize; 2]) -> u64 + 'static) -> Contender {
    let indices = indices();
    Box::new(move |turn: &mut Turn| {
        let mut total = 0_u64;
        turn.time(|| total = black_box(black_box(&indices).iter().fold(0, |sum, index| sum.wrapping_add(get(index)))));
        turn.result(|| vec![total as f32])
    })
}

/// The bits of a value as an integer, which is cheap to add.
trait Bits {
    fn bits(self) -> u64;
}

impl Bits for f32 {
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Bits for i16 {
    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
}

macro_rules! case {
    ($shape:ty, $element:ident, $value:ty, ($i:ident, $j:ident) => $position:expr) => {{
        type S = $shape;
        let make = || Buffer::<S>::from_fn(|[i, j]| (i * 300 + j) as $value);
        let dynamic = || -> &'static DynBuffer { Box::leak(Box::new(make().into_dyn())) };
        let (typed, hand, unknown, unprepared) = (make(), make(), dynamic(), dynamic());
        let accessor = unknown.accessor::<$element>().expect("the elements are of this type");
        let rederiving = make();
        Case {
            name: format!("access {}", S::TEXT),
            elements: ACCESSES,
            contenders: vec![
                ("typed", contender(move |&index| typed[index].bits())),
                (
                    "by hand",
                    contender(move |&[$i, $j]| {
                        assert!($i < ROWS && $j < COLUMNS, "the index is inside");
                        // SAFETY: the index has just been checked, so `$position`, the layout's position for it, is within the array.
                        unsafe { hand.as_slice().get_unchecked($position) }.bits()
                    }),
                ),
                ("prepared", contender(move |index| accessor.get(index).expect("the index is inside").bits())),
                (
                    "unprepared",
                    contender(move |index| unprepared.get::<$element>(index).expect("the index is inside").bits()),
                ),
                ("re-derived", contender(move |index| rederiving.as_slice()[rederived(S::SHAPE, index)].bits())),
            ],
            ratios: vec![
                Ratio("typed", "by hand", 1.0),
                Ratio("prepared", "typed", 2.0),
                Ratio("prepared", "re-derived", 0.05),
                Ratio("prepared", "unprepared", 1.0),
            ],
        }
    }};
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!(shape!(f32[32,256]{1,0:T(8,128)}), F32, f32, (i, j) => {
            ((i >> 3) << 11) + ((j >> 7) << 10) + ((i & 7) << 7) + (j & 127)
        }),
        case!(shape!(s16[32,256]{1,0:T(8,128)(2,1)}), S16, i16, (i, j) => {
            ((i >> 3) << 11) + ((j >> 7) << 10) + ((i & 6) << 7) + ((j & 127) << 1) + (i & 1)
        }),
    ]
}
