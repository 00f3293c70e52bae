//! Slices without a copy: in each slice that is reported as contiguous, every element is at its expected position.

use proptest::prelude::*;
use xla_shape::{Buffer, index, shape};
use xla_shape_core::bitcast::slice_obstacle;
use xla_shape_core::{ArrayShape, Dimension, Layout};
use xla_shape_tests::strategy;

/// Every index into an array of these sizes.
fn indices(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![vec![]], |all, &size| {
        all.iter().flat_map(|index| (0..size).map(move |i| index.iter().copied().chain([i]).collect())).collect()
    })
}

fn position(shape: &ArrayShape, index: &[u64]) -> u64 {
    shape.stride_table().expect("a small array").as_ref().linear_index(index)
}

proptest! {
    #[test]
    fn elements_of_a_slice_lie_as_in_the_array(
        shape in strategy::small_array_shape(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u64), 8),
    ) {
        let whole: Vec<u64> = shape.dimensions().iter().filter_map(|size| size.extent()).collect();
        prop_assume!(whole.len() == shape.num_dimensions() && whole.len() <= cuts.len() && !whole.contains(&0));
        let (mut starts, mut sizes) = (vec![], vec![]);
        for (dimension, (&size, (start, limit, kind))) in whole.iter().zip(&cuts).enumerate() {
            // Often cut at the edges of tiles, or take the whole dimension, so that many slices are contiguous.
            let tile = if *kind == 0 { 1 } else { shape.layout().tile_size(dimension).max(1) };
            let start = if *kind == 1 { 0 } else { start.index(size as usize) as u64 / tile * tile };
            let limit = if *kind == 1 { size } else { (limit.index(size as usize) as u64 / tile * tile + tile).min(size) };
            starts.push(start.min(limit));
            sizes.push(limit.saturating_sub(start));
        }
        if slice_obstacle(&shape, &starts, &sizes).is_some() {
            return Ok(());
        }
        let dimensions: Vec<Dimension> = sizes.iter().copied().map(Dimension::Static).collect();
        let part = ArrayShape::new(shape.element_type(), &dimensions, shape.layout().clone())?;
        let Some(origin) = (!sizes.contains(&0)).then(|| position(&shape, &starts)) else { return Ok(()) };
        for index in indices(&sizes) {
            let place: Vec<u64> = index.iter().zip(&starts).map(|(i, start)| i + start).collect();
            prop_assert_eq!(position(&shape, &place), origin + position(&part, &index));
        }
        let elements = |shape: &ArrayShape| shape.physical_elements().expect("a static shape");
        prop_assert!(origin + elements(&part) <= elements(&shape), "{} from {:?} of {}", part, starts, shape);
        // Padding of the slice is padding of the array, too.
        let own: std::collections::HashSet<u64> = indices(&sizes).iter().map(|index| position(&part, index)).collect();
        for index in indices(&whole) {
            let at = position(&shape, &index);
            let inside = index.iter().zip(&starts).zip(&sizes).all(|((&i, &start), &size)| i >= start && i < start + size);
            prop_assert!(inside || at < origin || at >= origin + elements(&part) || own.contains(&(at - origin)));
        }
    }

    /// Without tiles, a range of rows is a contiguous slice. A range of columns is a contiguous slice only if there is a single row.
    #[test]
    fn rows_of_an_untiled_array_are_slices(rows in 1..9_u64, columns in 2..9_u64, at in any::<prop::sample::Index>()) {
        let shape = ArrayShape::new(
            xla_shape_core::ElementType::F32,
            &[Dimension::Static(rows), Dimension::Static(columns)],
            Layout::descending(2),
        )?;
        let start = at.index(rows as usize) as u64;
        prop_assert!(slice_obstacle(&shape, &[start, 0], &[rows - start, columns]).is_none());
        prop_assert!(slice_obstacle(&shape, &[start, 1], &[1, columns - 1]).is_none());
        prop_assert_eq!(slice_obstacle(&shape, &[0, 1], &[rows, columns - 1]).is_none(), rows == 1);
        prop_assert!(slice_obstacle(&shape, &[start, 0], &[rows - start + 1, columns]).is_some());
        prop_assert!(slice_obstacle(&shape, &[u64::MAX, 0], &[u64::MAX, columns]).is_some());
        prop_assert!(slice_obstacle(&shape, &[0], &[1]).is_some());
    }
}

#[test]
fn slices_are_read_and_written_in_place() {
    type Pairs = shape!(bf16[32,256]{1,0:T(8,128)(2,1)});
    let mut x = Buffer::<Pairs>::zeroed();
    let mut rows = x.slice_mut::<shape!(bf16[8,256]{1,0:T(8,128)(2,1)}), _>(index![16, 0]);
    rows.fill_with(|[i, j]| half::bf16::from_f32((i * 256 + j) as f32));
    let tile = x.slice::<shape!(bf16[8,128]{1,0:T(8,128)(2,1)}), _>(index![16, 128]);
    assert_eq!(tile[[3, 5]], half::bf16::from_f32((3 * 256 + 133) as f32));
    assert!(x.indexed_iter().all(|([i, _], value)| (16..24).contains(&i) || value == half::bf16::ZERO));
}

#[test]
fn packed_slices_begin_at_bytes() {
    let x = Buffer::<shape!(s4[8,6]{1,0:E(4)})>::zeroed();
    let part = x.slice::<shape!(s4[2,6]{1,0:E(4)}), _>(index![3, 0]);
    assert_eq!(part.as_bytes().as_ptr(), x.as_bytes()[9..].as_ptr());
    assert_eq!(part.as_bytes().len(), 6);
}
