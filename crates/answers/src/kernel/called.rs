//! Kernels that need more VMEM than they may use, however they are compiled.

use crate::block::{BlockAnswer, Fitting, Measured, Part, PartKind};
use crate::numbers::Bytes;
use std::fmt;
use xla_shape_core::compare::LayoutEqual;
use xla_shape_core::tpu::{Generation, default_layout, row_major_layout};
use xla_shape_core::{ArrayShape, Layout};
use xla_shape_mosaic::{CalledKernel, CalledWindow, WindowOf};

/// A kernel whose blocks alone need more VMEM than the kernel may use. Its text says so, and which blocks fit.
///
/// ```
/// use xla_shape_answers::kernel::TooLarge;
/// use xla_shape_core::tpu::Generation;
///
/// // No kernel is called.
/// assert!(TooLarge::find("func.func @main() {\n  return\n}", Generation::V5e).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct TooLarge {
    /// The name of the kernel.
    pub kernel: String,
    /// The VMEM that its blocks need. Blocks that may not need VMEM of their own are not counted.
    pub needed: BlockAnswer,
    /// The largest blocks that fit together with the scratch buffers, found by halving; `None` if none are found.
    pub fitting: Option<Fitting>,
}

impl TooLarge {
    /// The kernels that do not fit, in a program given as StableHLO text.
    ///
    /// The compiler may refuse other kernels, too, because only memory that is certainly needed counts. The compiler needs no window for an array
    /// that is in VMEM when the kernel begins, uses a single buffer for a block that does not move, and gives no memory to scratch buffers that the
    /// kernel does not need.
    #[must_use]
    pub fn find(program: &str, generation: Generation) -> Vec<Self> {
        let kernels = xla_shape_mosaic::called_kernels(program, generation.cores_per_device());
        kernels.iter().filter_map(|kernel| Self::new(kernel, generation)).collect()
    }

    fn new(kernel: &CalledKernel, generation: Generation) -> Option<Self> {
        let of = |wanted: &dyn Fn(&CalledWindow) -> bool, moves: fn(&CalledWindow) -> bool| {
            let windows = kernel.windows.iter().filter(|window| wanted(window));
            let parts = windows.map(|window| (part(window, moves), window.places.clone()));
            let (parts, places) = parts.unzip::<_, _, Vec<_>, Vec<_>>();
            BlockAnswer::placed(&parts, &places, Some(generation), kernel.vmem_limit).ok()
        };
        let needs = |window: &CalledWindow| needs_memory(window, kernel.is_alone, generation);
        let needed = of(&needs, |window| window.moves).filter(|needed| !needed.fits)?;
        // The search halves blocks. A block that is smaller than its array moves from step to step, so count every block as moving.
        let fitting = of(&|_| true, |_| true).and_then(|all| all.fitting);
        Some(Self { kernel: kernel.name.clone(), needed, fitting })
    }
}

/// Whether a window certainly takes VMEM of its own. An array that fits into VMEM may be there already: XLA may place it there if the program
/// computes it, or copies it because the kernel reads another layout. On v7x, XLA also copies arguments of the program there.
fn needs_memory(window: &CalledWindow, is_alone: bool, generation: Generation) -> bool {
    let (WindowOf::Input(array) | WindowOf::Output(array)) = &window.of else { return false };
    let stays = matches!(generation, Generation::V5e | Generation::V5p | Generation::V6e);
    if is_alone && stays && !is_copied(array, generation) {
        return true;
    }
    // This layout packs elements of 4 bits.
    let (element_type, dimensions) = (array.element_type(), array.dimensions());
    let layout = row_major_layout(generation, element_type, dimensions).ok().map(|found| found.layout());
    let in_memory = layout.and_then(|layout| ArrayShape::new(element_type, dimensions, layout).ok());
    in_memory.and_then(|array| array.byte_size()).is_some_and(|bytes| bytes > generation.vmem_bytes())
}

/// Whether XLA may give an argument or a result of a program another layout than a kernel reads and writes.
fn is_copied(array: &ArrayShape, generation: Generation) -> bool {
    let (element_type, dimensions) = (array.element_type(), array.dimensions());
    let own = default_layout(generation, element_type, dimensions);
    let kernels = row_major_layout(generation, element_type, dimensions);
    let equal = |own: &Layout, kernels: &Layout| LayoutEqual::new().compare(own, kernels);
    !matches!((own, kernels), (Ok(own), Ok(kernels)) if equal(&own.layout(), &kernels.layout()))
}

fn part(window: &CalledWindow, moves: fn(&CalledWindow) -> bool) -> Part {
    let block = window.block.clone();
    match &window.of {
        WindowOf::Scratch => Part::Scratch(block),
        WindowOf::Input(array) if moves(window) => Part::Input { array: array.clone(), block },
        WindowOf::Output(array) if moves(window) => Part::Output { array: array.clone(), block },
        WindowOf::Input(array) | WindowOf::Output(array) => Part::Fixed { array: array.clone(), block },
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, needed, fitting } = self;
        let part = |part: &Measured| {
            let shape = part.shape.split('{').next().unwrap_or_default();
            let of = part.array.as_ref().map(|array| format!(" of {array}")).unwrap_or_default();
            let copies = if part.copies > 1 { format!("{} buffers of ", part.copies) } else { String::new() };
            // A block whose place is computed counts with one buffer, like one that does not move. But it may move, so do not call it fixed.
            let kind = if part.kind == PartKind::Fixed { "block".to_owned() } else { part.kind.to_string() };
            format!("{kind} {shape}{of}, {copies}{}", Bytes(part.bytes))
        };
        let parts = needed.parts.iter().map(part).collect::<Vec<_>>().join("; ");
        let (bytes, limit) = (Bytes(needed.vmem_bytes), Bytes(needed.limit_bytes));
        write!(
            f,
            "the kernel {kernel} needs at least {bytes} of VMEM for its blocks alone, and may use {limit}: {parts}."
        )?;
        match fitting {
            Some(fitting) => write!(f, " {fitting}")?,
            None => f.write_str(" No smaller blocks are known that fit.")?,
        }
        if needed.vmem_bytes <= needed.most_bytes {
            write!(f, " vmem_limit_bytes can be up to {}.", Bytes(needed.most_bytes))?;
        }
        Ok(())
    }
}
