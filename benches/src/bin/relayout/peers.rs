//! Other libraries for the same task.

use crate::cases::Case;
use crate::onednn::Library;
use bytemuck::Pod;
use ndarray::{ArrayView, ArrayViewMut, IxDyn, ShapeBuilder};

/// A contender: fills the destination from the source.
pub(crate) type Contender<'a> = Box<dyn Fn(&[u8], &mut [u8]) + 'a>;

pub(crate) fn peers<'a>(case: &Case, onednn: Option<&'a Library>) -> Vec<(&'static str, Contender<'a>)> {
    let mut peers = match case.from.element_bits() {
        8 => peers_of::<u8>(case),
        16 => peers_of::<u16>(case),
        32 => peers_of::<u32>(case),
        64 => peers_of::<u64>(case),
        128 => peers_of::<u128>(case),
        _ => Vec::new(),
    };
    if let Some(reorder) = onednn.and_then(|library| library.reorder(case)) {
        peers.push(("oneDNN", Box::new(move |source, destination| reorder.run(source, destination))));
    }
    peers
}

fn peers_of<T: Pod>(case: &Case) -> Vec<(&'static str, Contender<'static>)> {
    let mut peers: Vec<(_, Contender<'static>)> = Vec::new();
    let Some(loops) = case.as_strided() else { return peers };
    let (batch, last) = loops.split_at(loops.len().saturating_sub(2));
    // Matrices that are contiguous, one after the other, on both sides.
    if let ([a, b], true) = (last, batch.len() < 2)
        && (a.from, a.to, b.from, b.to) == (1, b.size, a.size, 1)
        && batch.iter().all(|batch| (batch.from, batch.to) == (a.size * b.size, a.size * b.size))
    {
        let (columns, rows) = (a.size, b.size);
        peers.push((
            "transpose crate",
            Box::new(move |source, destination| {
                let (source, destination) =
                    (bytemuck::cast_slice::<_, T>(source), bytemuck::cast_slice_mut::<_, T>(destination));
                let matrices = source.chunks_exact(rows * columns).zip(destination.chunks_exact_mut(rows * columns));
                matrices.for_each(|(source, destination)| transpose::transpose(source, destination, columns, rows));
            }),
        ));
    }
    let list = |of: fn(&crate::cases::Loop) -> usize| loops.iter().map(of).collect::<Vec<_>>();
    let (sizes, from_strides, to_strides) = (list(|of| of.size), list(|of| of.from), list(|of| of.to));
    peers.push((
        "ndarray",
        Box::new(move |source, destination| {
            let (from, to) = (IxDyn(&sizes).strides(IxDyn(&from_strides)), IxDyn(&sizes).strides(IxDyn(&to_strides)));
            let from = ArrayView::from_shape(from, bytemuck::cast_slice::<_, T>(source));
            let to = ArrayViewMut::from_shape(to, bytemuck::cast_slice_mut::<_, T>(destination));
            to.expect("the strides fit").assign(&from.expect("the strides fit"));
        }),
    ));
    peers
}
