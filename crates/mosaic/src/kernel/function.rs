//! What the kernel's function in Mosaic's text says: its grid and its arguments.

use super::Kernel;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, ElementType};
use xla_shape_hlo::find_spelled_shapes;
use xla_shape_mlir::Operation;

/// An argument of a kernel in vector memory: a window of an operand or result, or scratch.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = "func.func @k(%x: memref<64x256xf32, #xir.tiled<(8,128),[2,1]>, #xir.memory_space<vmem, tc>>) \
///     attributes {iteration_bounds = array<i64: 4>} {\n}";
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let window = &kernel.windows[0];
/// assert_eq!((window.name.as_str(), window.shape.as_str()), ("x", "f32[64,256]{1,0:T(8,128)}"));
/// assert_eq!((window.bytes, window.buffers), (Some(65_536), 2), "the grid of 4 steps moves it");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The name of the argument.
    pub name: String,
    /// The array in memory, with its layout; the compiler's text if it was not understood.
    pub shape: String,
    /// The bytes of one buffer; `None` if they are not known, for example because a size is not.
    pub bytes: Option<u64>,
    /// The number of buffers: two where the grid moves a window, so that the next window is copied while the kernel's body runs.
    pub buffers: u64,
}

impl Kernel<'_> {
    /// The grid and the arguments of the kernel's function.
    pub(super) fn read_function(&mut self, operation: &Operation<'_>) {
        let text = operation.texts().first().copied().unwrap_or("");
        self.grid = operation.attribute("iteration_bounds").and_then(bounds);
        let arguments = text.split_once('(').map_or("", |(_, rest)| rest);
        self.windows.clear();
        let moves = self.grid.as_ref().is_some_and(|grid| grid.iter().any(|&steps| steps > 1));
        let moved = if moves { 2 } else { 1 };
        let arguments = xla_shape_mlir::split_at_commas(arguments);
        let arguments = arguments.iter().filter_map(|argument| argument.trim().strip_prefix('%')).collect::<Vec<_>>();
        // The last arguments are scratch buffers; each can be in any memory.
        let scratch = arguments.len().saturating_sub(scratch_operands(operation));
        for (number, argument) in arguments.into_iter().enumerate() {
            let Some((name, of)) = argument.split_once(": ").filter(|(_, of)| of.starts_with("memref<")) else {
                continue;
            };
            if !of.contains("vmem") {
                continue;
            }
            let array = memory(argument);
            let shape = array.as_ref().map_or_else(|| of.to_owned(), ToString::to_string);
            let bytes = array.and_then(|array| array.byte_size());
            if bytes.is_none() {
                self.not_read("sizes of arguments", 1);
            }
            let buffers = if number < scratch { moved } else { 1 };
            self.windows.push(Window { name: name.to_owned(), shape, bytes, buffers });
        }
    }
}

/// Whether an operation is the kernel's function, not one that computes the place of a block.
pub(crate) fn is_main(operation: &Operation<'_>) -> bool {
    operation.attributes().iter().any(|(name, _)| name.ends_with(".main"))
}

/// The bounds of a grid, such as 2 and 4 of `array<i64: 2, 4>`; `None` if one depends on values.
pub(crate) fn bounds(text: &str) -> Option<Vec<u64>> {
    let (_, bounds) = text.split_once(": ")?;
    bounds.trim_end_matches('>').split(',').map(|bound| bound.trim().parse().ok()).collect()
}

/// The symbol that an operation defines, such as `k` of `module @k`.
pub(crate) fn symbol(operation: &Operation<'_>) -> Option<String> {
    let (_, name) = operation.texts().first()?.split_once('@')?;
    let name = match name.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => name.split(|c: char| c.is_whitespace() || matches!(c, '(' | '{')).next()?,
    };
    (!name.is_empty()).then(|| name.to_owned())
}

/// The number of a kernel's last arguments that are scratch.
pub(crate) fn scratch_operands(function: &Operation<'_>) -> usize {
    let number = function.attribute("scratch_operands").and_then(|number| number.split(' ').next()?.parse().ok());
    number.unwrap_or(0)
}

/// The array of `memref<16x256xf32, …>`, without its tiles.
pub(crate) fn plain_memory(of: &str) -> Option<ArrayShape> {
    find_spelled_shapes(of).next()?.shape.array().cloned()
}

/// The array of `%x: memref<16x256xf32, #xir.tiled<(8,128),[2,1]>, …>`, with its tiles.
pub(crate) fn memory(argument: &str) -> Option<ArrayShape> {
    let plain_shape = plain(&plain_memory(argument)?);
    let array = plain_shape.parse::<ArrayShape>().ok()?;
    let tiles = argument.split_once("tiled<").and_then(|(_, tiled)| tiled.split(",[").next());
    // Numbers of fewer than eight bits lie side by side: Mosaic's text does not say so, but the back end packs them.
    let bits = Some(array.element_type()).filter(|element| *element != ElementType::Pred).map(ElementType::bits);
    let packed = bits.filter(|bits| (1..8).contains(bits));
    if tiles.is_none() && packed.is_none() {
        return Some(array);
    }
    let order = (0..array.dimensions().len()).rev().map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let tiles = tiles.map_or_else(String::new, |tiles| alloc::format!("T{tiles}"));
    let packed = packed.map_or_else(String::new, |bits| alloc::format!("E({bits})"));
    alloc::format!("{plain_shape}{{{order}:{tiles}{packed}}}").parse().ok()
}

/// An array as text, without its layout.
pub(super) fn plain(array: &ArrayShape) -> String {
    let text = array.to_string();
    text.split('{').next().unwrap_or("").to_owned()
}
