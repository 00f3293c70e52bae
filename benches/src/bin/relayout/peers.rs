//! Other libraries for the same task.

use crate::cases::Case;
use crate::onednn::Library;
use crate::registers::Nest;
use bytemuck::Pod;
use ndarray::{ArrayView, ArrayViewMut, IxDyn, ShapeBuilder};
use xla_shape::ElementType;

/// A function that fills a destination from a source, and takes turns with others.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    /// Whether it only copies the bytes of the elements.
    pub(crate) is_copy: bool,
    /// Why its result may differ; it is then not comparable. `None` if it must be the same.
    pub(crate) may_differ: Option<&'static str>,
    pub(crate) run: Run<'a>,
}

pub(crate) type Run<'a> = Box<dyn Fn(&[u8], &mut [u8]) + 'a>;

impl<'a> Contender<'a> {
    pub(crate) fn new(name: &'static str, run: impl Fn(&[u8], &mut [u8]) + 'a) -> Self {
        Self { name, is_copy: false, may_differ: None, run: Box::new(run) }
    }
}

pub(crate) fn peers<'a>(case: &Case, onednn: Option<&'a Library>) -> Vec<Contender<'a>> {
    let mut peers = match case.from.element_bits() {
        8 => peers_of::<u8>(case),
        16 => peers_of::<u16>(case),
        32 => peers_of::<u32>(case),
        64 => peers_of::<u64>(case),
        128 => peers_of::<u128>(case),
        _ => Vec::new(),
    };
    if let Some(reorder) = onednn.and_then(|library| library.reorder(case)) {
        let may_differ = (case.from.element_type() == ElementType::Bf16)
            .then_some("without AVX-512, it converts bf16 to f32 and back, and subnormal numbers become 0");
        let run = move |source: &[u8], destination: &mut [u8]| reorder.run(source, destination);
        peers.push(Contender { may_differ, ..Contender::new("oneDNN", run) });
    }
    peers
}

fn peers_of<T: Pod>(case: &Case) -> Vec<Contender<'static>> {
    let mut peers = Vec::new();
    let Some(loops) = case.as_strided() else { return peers };
    let (batch, last) = loops.split_at(loops.len().saturating_sub(2));
    // A single matrix, or several that are adjacent in memory, on both sides.
    if let ([a, b], true) = (last, batch.len() < 2)
        && (a.from, a.to, b.from, b.to) == (1, b.size, a.size, 1)
        && batch.iter().all(|batch| (batch.from, batch.to) == (a.size * b.size, a.size * b.size))
    {
        let (columns, rows) = (a.size, b.size);
        peers.push(Contender::new("transpose crate", move |source, destination| {
            let (source, destination) =
                (bytemuck::cast_slice::<_, T>(source), bytemuck::cast_slice_mut::<_, T>(destination));
            let matrices = source.chunks_exact(rows * columns).zip(destination.chunks_exact_mut(rows * columns));
            matrices.for_each(|(source, destination)| transpose::transpose(source, destination, columns, rows));
        }));
    }
    let nest = Nest::new(loops.clone());
    peers.push(Contender::new("blocks in registers", move |source, destination| {
        nest.run(bytemuck::cast_slice::<_, T>(source), bytemuck::cast_slice_mut::<_, T>(destination));
    }));
    let list = |of: fn(&crate::cases::Loop) -> usize| loops.iter().map(of).collect::<Vec<_>>();
    let (sizes, from_strides, to_strides) = (list(|of| of.size), list(|of| of.from), list(|of| of.to));
    peers.push(Contender::new("ndarray", move |source, destination| {
        let (from, to) = (IxDyn(&sizes).strides(IxDyn(&from_strides)), IxDyn(&sizes).strides(IxDyn(&to_strides)));
        let from = ArrayView::from_shape(from, bytemuck::cast_slice::<_, T>(source));
        let to = ArrayViewMut::from_shape(to, bytemuck::cast_slice_mut::<_, T>(destination));
        to.expect("the strides fit").assign(&from.expect("the strides fit"));
    }));
    peers
}
