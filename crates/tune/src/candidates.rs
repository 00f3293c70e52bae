//! The layouts that an array can have, with a TPU's tiles, or without tiles on a GPU. They are computed without a compiler.

use super::memory::without_space;
use std::collections::BTreeMap;
use xla_shape_core::tpu::{Generation, layouts};
use xla_shape_core::{ArrayShape, Layout, Tile, TileDimension};

/// Arrays with more dimensions than this have too many orders: only their two most minor dimensions change.
const MOST_ORDERED: usize = 6;

/// A layout in the device's tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    pub(crate) layout: Layout,
    pub(crate) bytes: u64,
    /// Whether it has the tiles that the device chooses for this order of dimensions.
    pub(crate) has_default_tiles: bool,
}

/// A tile has `LANES` elements in a row, and at least `SUBLANES` rows if the array has that many.
const LANES: u64 = 128;
const SUBLANES: u64 = 8;

/// The different layouts of an array, sorted by bytes, the fewest first. Among layouts of the same size, the array's own comes first. Orders that
/// differ only in dimensions of size 1 are one layout. The second result is the number of layouts that are left out.
///
/// - `generation`: of the TPU, which gives the layouts their tiles; `None` for a GPU.
/// - `tilings`: also return layouts with other tiles, if elements are packed.
pub(crate) fn candidates(array: &ArrayShape, generation: Option<Generation>, tilings: bool) -> (Vec<Candidate>, usize) {
    let today = without_space(array.layout());
    let own = bytes(array, &today);
    let own = own.map(|bytes| Candidate { layout: today.clone(), bytes, has_default_tiles: true });
    let mut found: Vec<Candidate> = own.into_iter().collect();
    let rank = array.num_dimensions();
    let pairs = match generation {
        // For some arrays, the tiles are not known. For these, only the layouts that programs prefer are tried.
        Some(generation) => {
            let pairs = layouts(generation, array.element_type(), array.dimensions()).unwrap_or_default();
            pairs.into_iter().map(|layout| layout.layout()).collect()
        }
        None => untiled(&today),
    };
    let tiled: BTreeMap<Vec<usize>, &Layout> =
        pairs.iter().map(|layout| (layout.minor_to_major().iter().take(2).copied().collect(), layout)).collect();
    let orders = if rank <= MOST_ORDERED {
        permutations(rank)
    } else {
        pairs.iter().map(|layout| layout.minor_to_major().to_vec()).collect()
    };
    let mut repeated = 0;
    for order in orders {
        let minor: Vec<usize> = order.iter().take(2).copied().collect();
        let Some(layout) = tiled.get(&minor).and_then(|layout| (*layout).clone().with_minor_to_major(&order).ok())
        else {
            continue;
        };
        let Some(size) = bytes(array, &layout) else { continue };
        let is_new = |found: &[Candidate], layout: &Layout, bytes: u64| {
            !found.iter().any(|other| other.bytes == bytes && is_same(array, &other.layout, layout))
        };
        let others = if tilings { other_tilings(&layout) } else { Vec::new() };
        if is_new(&found, &layout, size) {
            found.push(Candidate { layout, bytes: size, has_default_tiles: true });
        } else if layout != today {
            repeated += 1;
            continue;
        }
        for layout in others {
            if let Some(bytes) = bytes(array, &layout).filter(|&bytes| is_new(&found, &layout, bytes)) {
                found.push(Candidate { layout, bytes, has_default_tiles: false });
            }
        }
    }
    found.sort_by_key(|candidate| candidate.bytes);
    (found, repeated)
}

/// The layouts without tiles: one for each choice of the two most minor dimensions. The other dimensions are in descending order.
fn untiled(layout: &Layout) -> Vec<Layout> {
    let rank = layout.minor_to_major().len();
    let pair = |first: usize| (0..rank).filter(move |&second| second != first).map(move |second| vec![first, second]);
    let pairs: Vec<Vec<usize>> = match rank {
        0 => vec![vec![]],
        1 => vec![vec![0]],
        _ => (0..rank).flat_map(pair).collect(),
    };
    let order = |pair: Vec<usize>| {
        let others = (0..rank).rev().filter(|dimension| !pair.contains(dimension)).collect::<Vec<_>>();
        layout.clone().with_minor_to_major(&[pair, others].concat()).ok()
    };
    pairs.into_iter().filter_map(order).collect()
}

/// The same order of dimensions, with the other tiles that TPU compilers choose for packed elements. The first has as many rows as a register has
/// sublanes; the second, as many rows as fill a whole register. For elements of 32 bits, the two are the same.
fn other_tilings(layout: &Layout) -> Vec<Layout> {
    let [tile, packed] = layout.tiles() else { return Vec::new() };
    let [TileDimension::Size(packing), TileDimension::Size(1)] = packed.dimensions() else { return Vec::new() };
    let rows = [SUBLANES, SUBLANES.saturating_mul(*packing)];
    let tiles = rows.map(|rows| Tile::new(&[TileDimension::Size(rows), TileDimension::Size(LANES)]));
    let others = tiles.into_iter().filter(|other| other != tile);
    others.filter_map(|other| layout.clone().with_tiles(&[other, packed.clone()]).ok()).collect()
}

/// The bytes of an array in another layout.
pub(crate) fn bytes(array: &ArrayShape, layout: &Layout) -> Option<u64> {
    array.clone().with_layout(layout.clone()).ok()?.byte_size()
}

/// Whether two layouts of an array put every byte at the same place, for example because only dimensions of size 1 change their order. Memory spaces
/// are ignored.
pub(crate) fn is_same(array: &ArrayShape, one: &Layout, other: &Layout) -> bool {
    if one == other {
        return true;
    }
    // Compares the order of the dimensions that are not of size 1 first, because that is fast.
    let order = |layout: &Layout| {
        let is_long =
            |dimension: &usize| array.dimensions().get(*dimension).is_some_and(|size| size.extent() != Some(1));
        layout.minor_to_major().iter().copied().filter(is_long).collect::<Vec<_>>()
    };
    if order(one) != order(other) {
        return false;
    }
    let [one, other] = [one, other].map(|layout| array.clone().with_layout(layout.clone()));
    match (one, other) {
        (Ok(one), Ok(other)) => one.layout_change_is_bitcast(&other).is_ok_and(|answer| answer.is_yes()),
        _ => false,
    }
}

/// All orders of `rank` dimensions, in lexicographic order, beginning with the descending one.
fn permutations(rank: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..rank {
        let longer = |order: Vec<usize>| {
            let next = (0..rank).rev().filter(|dimension| !order.contains(dimension)).collect::<Vec<_>>();
            next.into_iter().map(move |dimension| [order.as_slice(), &[dimension]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::candidates;
    use xla_shape_core::ArrayShape;
    use xla_shape_core::tpu::Generation;

    #[test]
    fn every_order_is_there_once() {
        let count = |text: &str| {
            let array = text.parse::<ArrayShape>().unwrap().with_tpu_layout(Generation::V5e).unwrap();
            let (all, repeated) = candidates(&array, Some(Generation::V5e), false);
            assert!(all.is_sorted_by_key(|candidate| candidate.bytes), "{text}");
            assert!(all.iter().any(|candidate| candidate.layout == *array.layout()), "{text}");
            (all.len(), repeated)
        };
        assert_eq!(count("s8[24,2048,8,128]"), (24, 0));
        assert_eq!(count("f32[]"), (1, 0));
        assert_eq!(count("bf16[7]"), (1, 0));
        // If the dimension of size 1 is not one of the two most minor ones, its place in the order does not matter.
        assert_eq!(count("bf16[4,8,1,128]"), (18, 6));
        // Seven dimensions have 5,040 orders; only the 42 orders of the two most minor dimensions are tried.
        assert_eq!(count("f32[2,3,4,5,6,7,8]").0, 42);
        // An array without elements has no tiles.
        assert_eq!(count("f32[0,3]").0, 2);
    }

    #[test]
    fn arrays_of_gpus_have_orders_without_tiles() {
        let of = |text: &str| {
            let (all, repeated) = candidates(&text.parse::<ArrayShape>().unwrap(), None, false);
            (all.iter().map(|one| one.layout.to_string()).collect::<Vec<_>>(), repeated)
        };
        let (nchw, repeated) = of("bf16[8,64,56,56]{3,2,1,0}");
        assert_eq!((nchw.len(), repeated, nchw[0].as_str()), (24, 0, "{3,2,1,0}"));
        assert!(nchw.contains(&"{1,3,2,0}".to_owned()), "NHWC");
        assert_eq!(of("s4[8,16]{1,0:E(4)}").0, ["{1,0:E(4)}", "{0,1:E(4)}"]);
        assert_eq!((of("f32[]").0, of("f32[7]{0}").0), (vec!["{}".to_owned()], vec!["{0}".to_owned()]));
        assert_eq!(of("f32[2,3,4,5,6,7,8]{6,5,4,3,2,1,0}").0.len(), 42);
    }

    #[test]
    fn packed_elements_have_other_tiles() {
        let tiles = |text: &str| {
            let array = text.parse::<ArrayShape>().unwrap().with_tpu_layout(Generation::V5e).unwrap();
            let (all, _) = candidates(&array, Some(Generation::V5e), true);
            let own = |one: &&super::Candidate| one.layout.minor_to_major() == array.layout().minor_to_major();
            let texts = all.iter().filter(own).map(|one| (one.layout.to_string(), one.has_default_tiles));
            texts.collect::<Vec<_>>()
        };
        let pair = |text: &str, own| (text.to_owned(), own);
        assert_eq!(tiles("f32[256,256]"), [pair("{1,0:T(8,128)}", true)]);
        let both = [pair("{1,0:T(8,128)(2,1)}", true), pair("{1,0:T(16,128)(2,1)}", false)];
        assert_eq!(tiles("bf16[256,256]"), both);
        let both = [pair("{1,0:T(32,128)(4,1)}", true), pair("{1,0:T(8,128)(4,1)}", false)];
        assert_eq!(tiles("s8[256,256]"), both);
        // With one column of tiles, every tiling puts the elements at the same places.
        assert_eq!(tiles("bf16[256,128]").len(), 1);
    }
}
