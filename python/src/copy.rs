//! Copies between layouts. Long copies release the GIL.

use crate::error::shape_error;
use crate::memory::{Elements, prefer_large_pages};
use crate::room::no_memory;
use crate::threads::{Helpers, Signals};
use pyo3::prelude::*;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Options, Plan, RelayoutError, Slabs};
use xla_shape::{ArrayShape, Layout};
use xla_shape_answers::numbers::no_size;

/// The bytes of an array.
pub(crate) fn size(shape: &ArrayShape) -> PyResult<u64> {
    shape.byte_size().ok_or_else(|| shape_error(no_size(&shape.clone().into())))
}

/// Zeroed memory for an array.
pub(crate) fn room(shape: &ArrayShape) -> PyResult<AlignedBytes> {
    let bytes = usize::try_from(size(shape)?).ok().and_then(|bytes| AlignedBytes::zeroed(bytes).ok());
    let mut bytes = bytes.ok_or_else(|| no_memory(shape))?;
    prefer_large_pages(bytes.as_mut());
    Ok(bytes)
}

/// Copies into new memory, where padding is 0.
pub(crate) fn copied(
    py: Python<'_>,
    from: &ArrayShape,
    to: &ArrayShape,
    source: &[u8],
    threads: Option<usize>,
) -> PyResult<AlignedBytes> {
    let bytes = size(to)?;
    let copied = detached(py, bytes.max(source.len() as u64), || {
        let plan = Plan::new(from, to, &Options::new().zero_padding()).map_err(shape_error)?;
        Helpers::for_bytes(bytes as usize, threads)?.run_new(&plan, source)
    });
    copied?.ok_or_else(|| no_memory(to))
}

/// Copies into existing memory, and leaves its padding unchanged.
pub(crate) fn copy_into(
    py: Python<'_>,
    from: &ArrayShape,
    to: &ArrayShape,
    source: &[u8],
    result: &mut [u8],
    threads: Option<usize>,
) -> PyResult<()> {
    detached(py, source.len().max(result.len()) as u64, || {
        let plan = Plan::new(from, to, &Options::new()).map_err(shape_error)?;
        Helpers::for_bytes(result.len(), threads)?.run(&plan, source, result)
    })
}

/// A copy of this many bytes takes so little time that it is not worth releasing the GIL for other threads.
const SMALL: u64 = 16 << 10;

/// Copies this many bytes without the GIL, unless they are few.
fn detached<T: Send>(py: Python<'_>, bytes: u64, copy: impl FnOnce() -> T + Send) -> T {
    if bytes <= SMALL { copy() } else { py.detach(copy) }
}

/// The most bytes that are gathered at a time from an array with gaps between its elements.
const GATHERED: usize = 4 << 20;

/// How many slabs are gathered between two checks for signals. A check needs the GIL, so it waits as long as another
/// thread keeps it.
const SLABS_PER_CHECK: usize = 16;

/// Copies an array with gaps between its elements. It gathers one part at a time.
pub(crate) fn gather(
    py: Python<'_>,
    elements: &Elements<'_>,
    shape: &ArrayShape,
    to: &ArrayShape,
    result: &mut [u8],
    options: &Options,
    threads: Option<usize>,
) -> PyResult<()> {
    let row_major = shape.clone().with_layout(Layout::descending(shape.num_dimensions())).map_err(shape_error)?;
    py.detach(|| {
        let slabs = Slabs::new(&row_major, to, options, GATHERED).map_err(shape_error)?;
        // This can fail for lack of threads, so it comes before anything is written.
        let helpers = Helpers::for_bytes(result.len(), threads)?;
        let (mut gathered, signals) = (Vec::new(), Signals::default());
        for (number, slab) in slabs.enumerate() {
            if number % SLABS_PER_CHECK == SLABS_PER_CHECK - 1 && !signals.check() {
                return Err(signals.error(&RelayoutError::Interrupted));
            }
            gathered.clear();
            for piece in slab.source() {
                let start = gathered.len();
                gathered.resize(start + piece.len(), 0);
                elements.copy_row_major(piece.start / elements.width, &mut gathered[start..]);
            }
            let plan = slab.plan().map_err(shape_error)?;
            for piece in slab.destination() {
                // `Slabs::new` makes slabs in the order of the destination, so each has a single piece there.
                helpers.run(&plan, &gathered, &mut result[piece])?;
            }
        }
        Ok(())
    })
}
