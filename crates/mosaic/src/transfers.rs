//! What the grid of a kernel copies between HBM and its blocks in VMEM, from the index maps in Mosaic's text.
//!
//! Before each step of the grid, the blocks of that step must be in VMEM. The pipeline around a kernel fetches a block while the step before
//! works. It does not fetch a block that is at the same place as in the step before. A block of a result is written after the last step that
//! has it. So the copies follow from the places of the blocks in each step, which the index maps compute from the numbers of the step.

use crate::kernel::{Kernel, bounds, is_main, memory, symbol};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use xla_shape_mlir::{MlirError, Module, Operation, split_at_commas};

/// The most numbers that index maps read, compute or return, over all steps.
const MOST_WORK: u64 = 1 << 24;

/// The copies between HBM and VMEM that a kernel's grid makes.
///
/// ```
/// use xla_shape_mosaic::Transfers;
///
/// let text = "module @k {
///   func.func @k(%i: i32, %x: memref<8x128xf32, #xir.tiled<(8,128),[1,1]>, #xir.memory_space<vmem, tc>>, \
///     %y: memref<8x128xf32, #xir.tiled<(8,128),[1,1]>, #xir.memory_space<vmem, tc>>) attributes {iteration_bounds = array<i64: 4>, \
///     window_params = [{transform_indices = @transform_0}, {transform_indices = @transform_1}], xir.main} {
///     %c0 = arith.constant 0 : index
///     %v = xir.vector_load %x[%c0, %c0] : memref<8x128xf32>, vector<8x128xf32>
///     xir.vector_store %y[%c0, %c0], %v : memref<8x128xf32>, vector<8x128xf32>
///     return
///   }
///   func.func @transform_0(%i: i32) -> (i32, i32) {
///     %c0 = arith.constant 0 : i32
///     return %i, %c0 : i32, i32
///   }
///   func.func @transform_1(%i: i32) -> (i32, i32) {
///     %c0 = arith.constant 0 : i32
///     return %c0, %c0 : i32, i32
///   }
/// }";
/// let transfers = Transfers::read(text)?.unwrap();
/// let times: Vec<_> = transfers.windows.iter().map(|window| (window.times, window.is_written)).collect();
/// assert_eq!((times, transfers.bytes()), (vec![(4, false), (1, true)], 5 * 4096));
/// // 4 steps of 100 bundles at 1 GHz; a block takes a microsecond. The four blocks are fetched one after the other; after the last one come
/// // its step, and the copy of the result. The bound is that of the copies alone.
/// let seconds = transfers.least_seconds(400, 1e9, 4096e6);
/// assert!((seconds - 5e-6).abs() < 1e-12, "{seconds}");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Transfers {
    /// The blocks, in the order of the kernel's arguments.
    pub windows: Vec<WindowTransfers>,
    /// The names of the arrays that are in VMEM before the kernel starts. The grid does not copy them.
    pub in_vmem: Vec<String>,
    /// Whether the kernel's body starts other copies, which are not counted.
    pub has_own: bool,
    /// For each step of the grid, the bytes that are fetched for it, and those that are written after it.
    steps: Vec<[u64; 2]>,
}

/// The copies of a block.
///
/// ```
/// use xla_shape_mosaic::Transfers;
///
/// let text = "func.func @k(%x: memref<8x128xf32, #xir.tiled<(8,128),[1,1]>, #xir.memory_space<vmem, tc>>) attributes \
///     {window_params = [{transform_indices = @transform_0}], xir.main} {\n}\nfunc.func @transform_0() -> (i32) {\n  %c = arith.constant 0 : i32\n  return %c : i32\n}";
/// let transfers = Transfers::read(text)?.unwrap();
/// let window = &transfers.windows[0];
/// assert_eq!((window.name.as_str(), window.bytes, window.times), ("x", 4096, 1), "a kernel without a grid has one step");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WindowTransfers {
    /// The name of the kernel's argument.
    pub name: String,
    /// The bytes of one block, with padding. A block at the edge of an array counts whole.
    pub bytes: u64,
    /// How often it is copied.
    pub times: u64,
    /// Whether it is a result, which is copied from VMEM to HBM.
    pub is_written: bool,
    /// Whether its place depends on values that only the running program has. Each step is then taken to have another block, so `times` is an upper
    /// bound.
    pub is_assumed: bool,
    /// Whether the kernel's bundles say that the array is in HBM. Without them, it may also be in VMEM, and then nothing is copied.
    pub is_in_hbm: bool,
    /// Whether some blocks that the grid visits are certainly smaller, because the array ends inside of them: less is copied than `times` whole
    /// blocks.
    pub is_cut: bool,
    /// Whether the grid certainly ends before the array does, along some dimension. A result then has elements that are never written.
    pub is_short: bool,
}

/// Where an operand of a kernel's call is.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CallOperand {
    /// Whether it is in HBM, and not in VMEM or SMEM.
    is_in_hbm: bool,
    /// For each dimension, the sizes of the block and of the array; none if the bundles do not have both.
    sizes: Vec<[u64; 2]>,
}

/// The operands that the first bundle names, by number.
fn operands_in(bundles: &str) -> BTreeMap<usize, CallOperand> {
    let operand = |text: &str| {
        let (memory, rest) = text.split_once(" [")?;
        let number = rest.split_once("index: ")?.1.split(',').next()?.parse().ok()?;
        let sizes = |before: &str| {
            let (_, shape) = rest.split_once(before)?;
            let sizes = shape.split_once('[')?.1.split_once(']')?.0;
            sizes.split(',').map(|size| size.parse::<u64>().ok()).collect::<Option<Vec<_>>>()
        };
        let blocks = sizes("The window shape is ").zip(sizes("while the full shape is "));
        let blocks = blocks.filter(|(block, full)| block.len() == full.len());
        let sizes = blocks.into_iter().flat_map(|(block, full)| block.into_iter().zip(full)).map(<[u64; 2]>::from);
        Some((number, CallOperand { is_in_hbm: memory == "hbm", sizes: sizes.collect() }))
    };
    bundles.split("= inlined_call_operand.").skip(1).filter_map(operand).collect()
}

impl Transfers {
    /// The most steps of a grid that is read: each step keeps its bytes.
    pub const MOST_STEPS: u64 = 1 << 20;

    /// Reads Mosaic's text after any stage that has windows, as if all arrays were in HBM. `None` if the grid depends on
    /// values, an index map was not understood, the grid has more than [`MOST_STEPS`](Self::MOST_STEPS), or the maps need too many instructions.
    ///
    /// # Errors
    /// If the text is not valid MLIR syntax.
    pub fn read(text: &str) -> Result<Option<Self>, MlirError> {
        Ok(Self::of(&Module::parse(text)?, &BTreeMap::new()))
    }

    /// The copies of a kernel, without the windows whose arrays XLA keeps in VMEM or SMEM: those are not copied. `None` as for [`read`](Self::read),
    /// or if the kernel has no text of Mosaic.
    #[must_use]
    pub fn of_kernel(kernel: &Kernel<'_>) -> Option<Self> {
        let operands = kernel.texts.bundles.map(operands_in).unwrap_or_default();
        Self::of(&Module::parse(kernel.texts.mosaic()?).ok()?, &operands)
    }

    fn of(module: &Module<'_>, operands: &BTreeMap<usize, CallOperand>) -> Option<Self> {
        let all = module.operations();
        let (number, main) = all.iter().enumerate().find(|(_, operation)| is_main(operation))?;
        let grid = match main.attribute("iteration_bounds") {
            Some(text) => bounds(text)?,
            None => Vec::new(),
        };
        let steps = grid.iter().try_fold(1, |steps: u64, bound| steps.checked_mul(*bound))?;
        if steps > Self::MOST_STEPS {
            return None;
        }
        // An argument that stays in HBM has an entry without an index map.
        let params = main.attribute("window_params").unwrap_or("");
        let params = split_at_commas(params.trim().strip_prefix('[').unwrap_or(""));
        let prefetched =
            main.attribute("scalar_prefetch").and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0);
        let arguments = main.texts().first()?.split_once('(')?.1;
        let arguments = split_at_commas(arguments).into_iter().filter_map(|argument| argument.trim().strip_prefix('%'));
        let stored = stored(all, number);
        let (mut windows, mut maps, mut in_vmem) = (Vec::new(), Vec::new(), Vec::new());
        let mut work = 0_u64;
        let arguments = arguments.skip(grid.len().checked_add(prefetched)?).zip(&params);
        for (operand, (argument, param)) in (prefetched..).zip(arguments) {
            let (name, of) = argument.split_once(": ")?;
            // The kernel itself copies what stays in HBM.
            let Some((_, map)) =
                param.split_once("transform_indices = @").filter(|_| of.contains("vmem") || of.contains("smem"))
            else {
                continue;
            };
            let operand = operands.get(&operand);
            if operand.is_some_and(|operand| !operand.is_in_hbm) {
                in_vmem.extend(of.contains("vmem").then(|| name.to_owned()));
                continue;
            }
            let bytes = memory(argument)?.byte_size()?;
            let map = Map::find(all, map.split(['}', ',', ' ']).next()?)?;
            work = work.checked_add(map.work().checked_mul(steps)?)?;
            // If the function has fewer arguments than the grid has dimensions, it does not compute the place from the step.
            if work > MOST_WORK || map.arguments < grid.len() {
                return None;
            }
            windows.push(WindowTransfers {
                name: name.to_owned(),
                bytes,
                times: 0,
                is_written: stored.contains(name),
                is_assumed: map.loads(),
                is_in_hbm: operand.is_some(),
                is_cut: false,
                is_short: false,
            });
            maps.push((map, operand.map_or(&[][..], |operand| &operand.sizes)));
        }
        let has_own = all.iter().any(|operation| operation.name().contains("enqueue_dma"));
        let mut transfers =
            Self { windows, in_vmem, has_own, steps: alloc::vec![[0; 2]; usize::try_from(steps).ok()?] };
        for (number, (map, sizes)) in maps.iter().enumerate() {
            transfers.walk(number, map, sizes, &grid)?;
        }
        Some(transfers)
    }

    /// Counts the copies of one window, whose block and array have these sizes.
    fn walk(&mut self, number: usize, map: &Map, sizes: &[[u64; 2]], grid: &[u64]) -> Option<()> {
        let window = self.windows.get_mut(number)?;
        let is_known = sizes.len() == map.place.len() && !map.loads();
        // Where the last block ends along each dimension, in elements.
        let mut ends = sizes.iter().map(|_| 0).collect::<Vec<u64>>();
        let mut at = grid.iter().map(|_| 0_i64).collect::<Vec<_>>();
        let (mut before, mut registers) = (None::<Vec<i64>>, Vec::new());
        #[expect(clippy::arithmetic_side_effects, reason = "counts of few steps, and an `i64` and 1 as a `u64`")]
        for step in 0..self.steps.len() {
            let place = map.run(&at, &mut registers)?;
            if before.as_ref() != Some(&place) {
                window.times += 1;
                // A result is written after the last step that has it.
                let at = if window.is_written { step.checked_sub(1) } else { Some(step) };
                if let Some([fetched, written]) = at.and_then(|at| self.steps.get_mut(at)) {
                    let moved = if window.is_written { written } else { fetched };
                    *moved = moved.saturating_add(window.bytes);
                }
                for ((end, [block, _]), place) in ends.iter_mut().zip(sizes).zip(&place) {
                    let blocks = u64::try_from(*place).unwrap_or(0) + 1;
                    *end = blocks.saturating_mul(*block).max(*end);
                }
                before = Some(place);
            }
            // The last dimension of a grid advances first.
            for (number, bound) in at.iter_mut().zip(grid).rev() {
                *number += 1;
                if number.unsigned_abs() < *bound {
                    break;
                }
                *number = 0;
            }
        }
        let mut ends = ends.iter().zip(sizes).filter(|_| is_known).map(|(end, [_, full])| end.cmp(full));
        window.is_cut = ends.clone().any(Ordering::is_gt);
        window.is_short = ends.any(Ordering::is_lt);
        if let Some([_, written]) = self.steps.last_mut().filter(|_| window.is_written) {
            *written = written.saturating_add(window.bytes);
        }
        Some(())
    }

    /// The bytes of all copies.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.windows.iter().fold(0, |sum, window| sum.saturating_add(window.bytes.saturating_mul(window.times)))
    }

    /// For each step of the grid, the bytes that are fetched for it, and those that are written after it. A kernel without a grid has one step.
    #[must_use]
    pub fn steps(&self) -> &[[u64; 2]] {
        &self.steps
    }

    /// The least time of a kernel in seconds, if this many bundles execute, at a clock in hertz and a bandwidth in bytes per second. It is the
    /// larger of two times. One is the time of all copies. The other is the sum of the first fetch, the bundles and the last write, which run
    /// one after the other. All other copies may overlap with bundles.
    #[must_use]
    pub fn least_seconds(&self, bundles: u64, clock: f64, bandwidth: f64) -> f64 {
        let first = self.steps.first().map_or(0, |[fetched, _]| *fetched);
        let last = self.steps.last().map_or(0, |[_, written]| *written);
        let around = first.saturating_add(last) as f64 / bandwidth;
        (self.bytes() as f64 / bandwidth).max(around + bundles as f64 / clock)
    }
}

/// The arguments of the main function to which it stores, also through another view of them.
fn stored<'a>(all: &[Operation<'a>], main: usize) -> BTreeSet<&'a str> {
    let mut parts = BTreeMap::<&str, &str>::new();
    let mut found = BTreeSet::new();
    // The operations of the main function follow it, up to the next function.
    for operation in all.iter().skip(main + 1).take_while(|operation| operation.name() != "func.func") {
        // The first operand of these two operations is the value, and the second is the memory.
        let before = usize::from(matches!(operation.name(), "memref.store" | "vector.store"));
        let Some(memory) = operation.operands().nth(before) else { continue };
        let whole = parts.get(memory).copied().unwrap_or(memory);
        if operation.name().contains("store") {
            found.insert(whole);
        } else if result_type(operation).is_some_and(|result| result.starts_with("memref<")) {
            let results = operation.results().iter().filter_map(|result| result.strip_prefix('%'));
            parts.extend(results.map(|result| (result, whole)));
        }
    }
    found
}

/// The type of an operation's result, where the text has it after an arrow.
fn result_type<'a>(operation: &Operation<'a>) -> Option<&'a str> {
    Some(operation.texts().last()?.rsplit_once("-> ")?.1)
}

/// A function that computes the place of a block from the numbers of a step.
struct Map {
    arguments: usize,
    instructions: Vec<Instruction>,
    /// The registers that hold the place. The first registers hold the numbers of the step.
    place: Vec<usize>,
}

/// Computes the next register.
struct Instruction {
    operation: Compute,
    operands: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compute {
    Constant(i64),
    Copy,
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideDown,
    DivideUp,
    Remainder,
    Least,
    Most,
    And,
    Or,
    ExclusiveOr,
    Compare(Compare),
    Select,
    /// A value that only the running program has.
    Load,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compare {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Compute {
    fn of(operation: &Operation<'_>) -> Option<Self> {
        let text = operation.texts().first().copied().unwrap_or("").trim();
        Some(match operation.name() {
            "arith.constant" => {
                // After the attributes, before the type.
                let value = text.rsplit_once(" : ").map_or(text, |(value, _)| value);
                let value = value.rsplit([' ', '}']).next()?;
                Self::Constant(match value {
                    "true" => 1,
                    "false" => 0,
                    number => number.parse().ok()?,
                })
            }
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci" => Self::Copy,
            "arith.addi" => Self::Add,
            "arith.subi" => Self::Subtract,
            "arith.muli" => Self::Multiply,
            "arith.divsi" | "arith.divui" => Self::Divide,
            "arith.floordivsi" => Self::DivideDown,
            "arith.ceildivsi" | "arith.ceildivui" => Self::DivideUp,
            "arith.remsi" | "arith.remui" => Self::Remainder,
            "arith.minsi" | "arith.minui" => Self::Least,
            "arith.maxsi" | "arith.maxui" => Self::Most,
            "arith.andi" => Self::And,
            "arith.ori" => Self::Or,
            "arith.xori" => Self::ExclusiveOr,
            "arith.select" => Self::Select,
            "arith.cmpi" => Self::Compare(match text.split(',').next()?.trim() {
                "eq" => Compare::Equal,
                "ne" => Compare::Unequal,
                "slt" | "ult" => Compare::Less,
                "sle" | "ule" => Compare::LessOrEqual,
                "sgt" | "ugt" => Compare::Greater,
                "sge" | "uge" => Compare::GreaterOrEqual,
                _ => return None,
            }),
            "memref.load" => Self::Load,
            _ => return None,
        })
    }

    /// How many operands it has; `None` if any number.
    const fn arity(self) -> Option<usize> {
        match self {
            Self::Constant(_) => Some(0),
            Self::Copy => Some(1),
            Self::Select => Some(3),
            Self::Load => None,
            _ => Some(2),
        }
    }

    /// Its value. The number of operands is [`arity`](Self::arity).
    fn run(self, operands: &[i64]) -> Option<i64> {
        Some(match (self, operands) {
            (Self::Constant(value), _) => value,
            (Self::Copy, [a]) => *a,
            (Self::Add, [a, b]) => a.checked_add(*b)?,
            (Self::Subtract, [a, b]) => a.checked_sub(*b)?,
            (Self::Multiply, [a, b]) => a.checked_mul(*b)?,
            (Self::Divide, [a, b]) => a.checked_div(*b)?,
            (Self::Remainder, [a, b]) => a.checked_rem(*b)?,
            (Self::DivideDown, [a, b]) => down(*a, *b)?,
            // -floor(-a / b)
            (Self::DivideUp, [a, b]) => down(a.checked_neg()?, *b)?.checked_neg()?,
            (Self::Least, [a, b]) => *a.min(b),
            (Self::Most, [a, b]) => *a.max(b),
            (Self::And, [a, b]) => a & b,
            (Self::Or, [a, b]) => a | b,
            (Self::ExclusiveOr, [a, b]) => a ^ b,
            (Self::Select, [test, a, b]) => *(if *test != 0 { a } else { b }),
            (Self::Compare(compare), [a, b]) => i64::from(match compare {
                Compare::Equal => a == b,
                Compare::Unequal => a != b,
                Compare::Less => a < b,
                Compare::LessOrEqual => a <= b,
                Compare::Greater => a > b,
                Compare::GreaterOrEqual => a >= b,
            }),
            // The value is not known. A hash of the indices stands for it, so that different indices give different
            // values.
            (Self::Load, indices) => {
                indices.iter().fold(1, |hash: i64, index| hash.wrapping_mul(1_000_003).wrapping_add(*index)) | 1 << 40
            }
            _ => return None,
        })
    }
}

/// A division that rounds down.
fn down(a: i64, b: i64) -> Option<i64> {
    let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    if rest != 0 && (rest < 0) != (b < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

impl Map {
    /// The function of this name; `None` if it does more than arithmetic.
    fn find(all: &[Operation<'_>], name: &str) -> Option<Self> {
        let is_own =
            |operation: &Operation<'_>| operation.name() == "func.func" && symbol(operation).as_deref() == Some(name);
        let number = all.iter().position(is_own)?;
        let arguments = all.get(number)?.texts().first()?.split_once('(')?.1;
        let arguments = split_at_commas(arguments).into_iter().filter_map(|argument| argument.trim().strip_prefix('%'));
        let names = arguments.filter_map(|argument| argument.split(':').next());
        let mut registers = names.enumerate().map(|(register, name)| (name, register)).collect::<BTreeMap<_, _>>();
        let arguments = registers.len();
        let mut instructions = Vec::new();
        for operation in all.iter().skip(number + 1).take_while(|operation| operation.name() != "func.func") {
            let own = |name: &str| registers.get(name).copied();
            let operands = operation.operands().map(own).collect::<Option<Vec<_>>>()?;
            if matches!(operation.name(), "return" | "func.return") {
                return Some(Self { arguments, instructions, place: operands });
            }
            if operation.parent() != Some(number) {
                return None;
            }
            let compute = Compute::of(operation)?;
            if compute.arity().is_some_and(|arity| arity != operands.len()) {
                return None;
            }
            let [result] = operation.results() else { return None };
            registers.insert(result.strip_prefix('%')?, arguments + instructions.len());
            instructions.push(Instruction { operation: compute, operands });
        }
        None
    }

    /// How many numbers it reads, computes and returns in a step.
    fn work(&self) -> u64 {
        let operands = self.instructions.iter().map(|instruction| instruction.operands.len() + 1).sum::<usize>();
        (self.arguments + operands + self.place.len() + 1) as u64
    }

    fn loads(&self) -> bool {
        self.instructions.iter().any(|instruction| instruction.operation == Compute::Load)
    }

    /// The place of the block in a step.
    fn run(&self, step: &[i64], registers: &mut Vec<i64>) -> Option<Vec<i64>> {
        registers.clear();
        registers.extend_from_slice(step);
        // The arguments after the numbers of the step are tables in SMEM. Each is represented by the number of its own
        // register.
        registers.extend((step.len()..self.arguments).map(|register| register as i64));
        for Instruction { operation, operands } in &self.instructions {
            let operands =
                operands.iter().map(|&operand| registers.get(operand).copied()).collect::<Option<Vec<_>>>()?;
            registers.push(operation.run(&operands)?);
        }
        self.place.iter().map(|&register| registers.get(register).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_WORK, Transfers};
    use crate::kernel::{Kernel, Texts};
    use alloc::format;
    use alloc::string::{String, ToString};

    /// A kernel with one window. `map` is the index map without its name: its parameters, its result type and its body.
    fn kernel(grid: &str, body: &str, map: &str) -> String {
        format!(
            "module @k {{
  func.func @k(%i: i32, %x: memref<8x128xf32, #xir.tiled<(8,128),[1,1]>, #xir.memory_space<vmem, tc>>) attributes \
             {{iteration_bounds = array<i64: {grid}>, window_params = [{{transform_indices = @transform_0}}], xir.main}} {{
    {body}
    return
  }}
  func.func @transform_0{map}
  }}
}}"
        )
    }

    #[test]
    fn a_store_has_the_memory_first_or_second() {
        let map = "(%i: i32) -> (i32) {\n return %i : i32";
        for (body, is_written) in [
            ("memref.store %v, %x[%c0, %c0] : memref<8x128xf32>", true),
            ("vector.store %v, %x[%c0, %c0] : memref<8x128xf32>, vector<8x128xf32>", true),
            ("xir.vector_store %x[%c0, %c0], %v : memref<8x128xf32>, vector<8x128xf32>", true),
            ("memref.store %x, %v[%c0, %c0] : memref<8x128xf32>", false),
        ] {
            let transfers = Transfers::read(&kernel("4", body, map)).unwrap().unwrap();
            assert_eq!(transfers.windows[0].is_written, is_written, "{body}");
        }
    }

    #[test]
    fn what_takes_too_long_or_has_too_few_arguments_is_not_read() {
        let read = |grid: &str, map: &str| Transfers::read(&kernel(grid, "", map)).unwrap();
        assert!(read("4", "(%i: i32) -> (i32) {\n return %i : i32").is_some());
        assert!(read("4", "() -> (i32) {\n %c = arith.constant 0 : i32\n return %c : i32").is_none());
        let steps = Transfers::MOST_STEPS;
        let places = usize::try_from(MOST_WORK / steps).unwrap();
        let many = format!("(%i: i32) -> (i32) {{\n return {}%i : i32", "%i, ".repeat(places));
        assert!(read(&steps.to_string(), &many).is_none());
        assert!(read("4", &many).is_some());
    }

    #[test]
    fn arrays_in_vmem_are_not_copied() {
        let text = kernel("4", "", "(%i: i32) -> (i32) {\n return %i : i32");
        let bytes = |memory| {
            let bundles = format!(
                "%s1_s0 = inlined_call_operand.{memory} [shape: f32[32,128], index: 0, kind: input, shape index: {{}}]"
            );
            let texts = Texts { inferred: Some(&text), bundles: Some(&bundles), ..Texts::default() };
            let kernel = Kernel { texts, ..Kernel::default() };
            let transfers = Transfers::of_kernel(&kernel).unwrap();
            (transfers.bytes(), transfers.in_vmem.join(","))
        };
        assert_eq!((bytes("hbm"), bytes("vmem")), ((4 * 4096, String::new()), (0, "x".to_string())));
    }

    #[test]
    fn integers_of_four_bits_are_packed() {
        let text = kernel("4", "", "(%i: i32) -> (i32) {\n return %i : i32");
        let bytes = |kind: &str| {
            Transfers::read(&text.replace("8x128xf32", &format!("64x128x{kind}"))).unwrap().unwrap().windows[0].bytes
        };
        assert_eq!((bytes("f32"), bytes("i8"), bytes("i4")), (64 * 128 * 4, 64 * 128, 64 * 64));
    }

    #[test]
    fn blocks_are_cut_where_the_grid_passes_the_end_of_the_array_and_short_where_it_does_not_reach_it() {
        let map = "(%i: i32) -> (i32, i32) {\n %c = arith.constant 0 : i32\n return %i, %c : i32, i32";
        let text = kernel("4", "memref.store %v, %x[%c0, %c0] : memref<8x128xf32>", map);
        for (full, is_cut, is_short) in [
            ("f32[32,128]", false, false),
            ("f32[27,128]", true, false),
            ("f32[32,100]", true, false),
            // The last, smaller block is not visited.
            ("f32[35,128]", false, true),
            ("f32[64,128]", false, true),
            ("f32[27,200]", true, true),
            // What is not understood.
            ("f32[27,128,1]", false, false),
            ("", false, false),
        ] {
            let bundles = format!(
                "0 : {{ %s1_s0 = inlined_call_operand.hbm [shape: f32[1], index: 0, kind: input] /* The window shape is f32[8,128], while the full \
                 shape is {full}. */ }}"
            );
            let texts = Texts { inferred: Some(&text), bundles: Some(&bundles), ..Texts::default() };
            let transfers = Transfers::of_kernel(&Kernel { texts, ..Kernel::default() }).unwrap();
            let window = &transfers.windows[0];
            assert_eq!((window.is_cut, window.is_short), (is_cut, is_short), "{full}");
        }
    }
}
