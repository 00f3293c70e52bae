//! The Pallas kernels that a program calls, before they are compiled.

use crate::kernel::{plain_memory, scratch_operands};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use xla_shape_core::ArrayShape;
use xla_shape_hlo::find_spelled_shapes;
use xla_shape_mlir::{Module, Operation, Signature, bytecode_functions, split_at_commas};

/// The target of the custom call by which JAX calls a kernel in StableHLO.
const TARGET: &str = "@tpu_custom_call";

/// A Pallas kernel that a program calls, as JAX gives it to the compiler.
///
/// ```
/// use xla_shape_mosaic::called_kernels;
///
/// // A kernel whose code cannot be read is left out: the compiler says what is wrong with it.
/// let call = r#"%0 = stablehlo.custom_call @tpu_custom_call(%x) {backend_config = "{}"} : (tensor<8x128xf32>) -> tensor<8x128xf32>"#;
/// assert!(called_kernels(call, 1).is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CalledKernel {
    /// The name of the kernel.
    pub name: String,
    /// The limit of vector memory that the program sets for it, in bytes.
    pub vmem_limit: Option<u64>,
    /// Its arguments in vector memory, in their order, without those whose types were not understood.
    pub windows: Vec<CalledWindow>,
    /// Whether the program only calls this kernel, and its arrays have the default memories and layouts. The kernel's operands are then the
    /// program's arguments, and the kernel's results are the program's.
    pub is_alone: bool,
}

/// An argument in vector memory of a kernel that is not compiled yet.
///
/// ```
/// use xla_shape_mosaic::{CalledWindow, WindowOf};
///
/// let of = WindowOf::Input("f32[4096,128]".parse()?);
/// // The rows follow the first index of the grid; all columns are there in each step.
/// let window = CalledWindow { of, block: "f32[512,128]".parse()?, moves: true, places: vec![Some(0), None] };
/// let buffers = if window.moves { 2 } else { 1 };
/// assert_eq!(window.block.byte_size().map(|bytes| bytes * buffers), Some(512 << 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CalledWindow {
    /// What it is a window of.
    pub of: WindowOf,
    /// The array, or the scratch buffer, that the kernel sees in each step of its grid. Its layout is not known yet.
    pub block: ArrayShape,
    /// Whether the grid certainly moves it, so that there are two buffers, and the next block is copied while the kernel works on this one. A window
    /// whose place is computed may still move.
    pub moves: bool,
    /// For each dimension of the block, the dimension of the grid, from 0, whose index is the number of the block there; `None` for another
    /// number, which may be computed from indices. Empty without a grid.
    pub places: Vec<Option<usize>>,
}

/// What a window of a kernel belongs to: an input, an output, or a scratch buffer.
///
/// ```
/// use xla_shape_mosaic::WindowOf;
///
/// let array = |of: &WindowOf| match of {
///     WindowOf::Input(array) | WindowOf::Output(array) => array.byte_size(),
///     WindowOf::Scratch => None,
/// };
/// assert_eq!(array(&WindowOf::Output("f32[8,128]".parse()?)), Some(4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowOf {
    /// An array that the kernel reads.
    Input(ArrayShape),
    /// An array that the kernel writes.
    Output(ArrayShape),
    /// A scratch buffer, which is not a window of an array. The compiler gives it no memory if the kernel does not need
    /// it after all.
    Scratch,
}

/// The Pallas kernels for TensorCores that a program calls, in the order of the calls. The program is StableHLO text. Kernels whose code is not
/// understood are left out; if the text is not valid MLIR, there are none. `cores` is how many cores share the steps of a parallel dimension of the
/// grid: those of one device.
///
/// The time is linear in the length of the text.
///
/// ```
/// assert!(xla_shape_mosaic::called_kernels("func.func @main() {\n  return\n}", 1).is_empty());
/// ```
#[must_use]
pub fn called_kernels(program: &str, cores: u64) -> Vec<CalledKernel> {
    if !program.contains(TARGET) {
        return Vec::new();
    }
    let Ok(module) = Module::parse(program) else { return Vec::new() };
    let is_call = |operation: &&Operation<'_>| operation.texts().first().is_some_and(|text| text.starts_with(TARGET));
    let calls = module.operations().iter().filter(is_call);
    // Arguments and results in other layouts or memories are copied.
    let is_default = !program.contains("mhlo.layout_mode") && !program.contains("mhlo.memory_kind");
    let results = is_default.then(|| results_of_the_only_call(&module)).flatten();
    calls.filter_map(|call| CalledKernel::read(call, results, cores)).collect()
}

/// The number of results of a program that is one call, in a function that is called once, or in `main`. `None` if it is something else.
fn results_of_the_only_call(module: &Module<'_>) -> Option<usize> {
    const CALLS: [&str; 2] = ["call", "func.call"];
    const RETURNS: [&str; 2] = ["return", "func.return"];
    let all = module.operations().iter();
    let functions = all.clone().filter(|operation| operation.name() == "func.func").count();
    let calls = all.clone().filter(|operation| CALLS.contains(&operation.name())).count();
    let is_other = |name: &str| {
        !matches!(name, "module" | "func.func" | "sdy.mesh") && !CALLS.contains(&name) && !RETURNS.contains(&name)
    };
    let others = all.clone().filter(|operation| is_other(operation.name())).count();
    let mut results = all.filter(|operation| RETURNS.contains(&operation.name())).map(|found| found.operands().count());
    let first = results.next()?;
    (others == 1 && functions.checked_sub(1) == Some(calls) && results.all(|other| other == first)).then_some(first)
}

impl CalledKernel {
    /// `program_results` is the number of results of a program that is this call and nothing else; `None` for other programs.
    fn read(call: &Operation<'_>, program_results: Option<usize>, cores: u64) -> Option<Self> {
        let config = call.attribute("backend_config")?.strip_prefix('"')?.strip_suffix('"')?;
        let config: Value = serde_json::from_str(&unescaped(config)?).ok()?;
        let custom = config.get("custom_call_config")?;
        let list = |name: &str| custom.get(name).and_then(Value::as_array).into_iter().flatten();
        // XLA computes such an operand in the kernel.
        if list("allow_input_fusion").any(|allowed| allowed == &Value::Bool(true)) {
            return None;
        }
        // The program asks for arrays in other memories than HBM.
        let is_placed = list("input_memory_space_colors").chain(list("output_memory_space_colors")).next().is_some();
        let code = BASE64_STANDARD.decode(custom.get("body")?.as_str()?).ok()?;
        let code = bytecode_functions(&code).ok()?;
        let [operands, results] = arrays_of(call)?;
        let limits = config.get("scoped_memory_configs").and_then(Value::as_array).into_iter().flatten();
        let limits = limits.filter(|config| number(config.get("memory_space")) == Some(1));
        Some(Self {
            name: call.attribute("kernel_name").map_or("", |name| name.trim_matches('"')).to_string(),
            vmem_limit: limits.filter_map(|config| number(config.get("size"))).next(),
            windows: windows(&code, &operands, &results, cores)?,
            is_alone: !is_placed && program_results == Some(results.len()),
        })
    }
}

/// The arguments of a kernel that are in vector memory. `code` has its functions, the first of which is the kernel; the others say where each window
/// is. `None` if it is not for TensorCores, or is not understood.
fn windows(
    code: &str,
    operands: &[Option<ArrayShape>],
    results: &[Option<ArrayShape>],
    cores: u64,
) -> Option<Vec<CalledWindow>> {
    let module = Module::parse(code).ok()?;
    let main = module.operations().iter().find(|operation| operation.attribute("scratch_operands").is_some())?;
    if !main.attribute("tpu.core_type").is_none_or(|kind| kind.contains("<tc>")) {
        return None;
    }
    let signature = Signature::find(code, symbol_of(main)?)?;
    // The arguments are the indices of the grid, scalars, inputs, outputs and scratch.
    let arguments = signature.parameters();
    let scratch = arguments.len().checked_sub(scratch_operands(main))?;
    let outputs = scratch.checked_sub(results.len())?;
    // Without a grid, nothing says where windows are: each is a whole array.
    let places = main.attribute("window_params").and_then(|all| all.strip_prefix('[')?.strip_suffix(']'));
    let places = places.map(split_at_commas).unwrap_or_default();
    let placed = scratch.checked_sub(places.len())?;
    let (grid, places_of) = (moving_dimensions(main, cores), places_in_grid(&module));
    let mut found = Vec::new();
    for (number, argument) in arguments.iter().enumerate() {
        let of = argument.type_text();
        let Some(block) = plain_memory(of).filter(|_| of.starts_with("memref<") && of.contains("vmem")) else {
            continue;
        };
        let array = |arrays: &[Option<ArrayShape>], number: usize| {
            let array = arrays.get(number)?.as_ref()?;
            // The kernel may see another element type, such as integers for truth values.
            let array = ArrayShape::new(block.element_type(), array.dimensions(), array.layout().clone()).ok()?;
            (array.dimensions().len() == block.dimensions().len()).then_some(array)
        };
        let of = match (number.checked_sub(outputs), number.checked_sub(scratch)) {
            (_, Some(_)) => Some(WindowOf::Scratch),
            (Some(output), None) => array(results, output).map(WindowOf::Output),
            // The last operands are the inputs; sizes of the grid and scalars come before them.
            (None, None) => {
                let from_end = outputs.saturating_sub(number);
                operands.len().checked_sub(from_end).and_then(|number| array(operands, number)).map(WindowOf::Input)
            }
        };
        let place = number.checked_sub(placed).and_then(|number| places.get(number));
        let name = place.and_then(|place| place.split_once("transform_indices = @")?.1.split([',', '}']).next());
        let places = name.and_then(|name| places_of.get(name.trim())).cloned().unwrap_or_default();
        // `pipeline_mode = #tpu.pipeline_mode<synchronous>` asks for one buffer.
        let is_alone = place.is_some_and(|place| place.contains("synchronous"));
        let moves = !is_alone && places.iter().flatten().any(|&dimension| grid.get(dimension) == Some(&true));
        // A scalar that the kernel gets before its grid begins is no index of the grid.
        let places = places.into_iter().map(|place| place.filter(|&dimension| dimension < grid.len())).collect();
        found.extend(of.map(|of| CalledWindow { of, block, moves, places }));
    }
    Some(found)
}

/// For each dimension of the grid, whether a core certainly works on several of its steps, one after the other.
fn moving_dimensions(main: &Operation<'_>, cores: u64) -> Vec<bool> {
    let bounds = main.attribute("iteration_bounds").and_then(|bounds| bounds.split_once(": "));
    let bounds = bounds.map_or("", |(_, bounds)| bounds.trim_end_matches('>'));
    let kinds = main.attribute("dimension_semantics").unwrap_or("");
    let mut kinds = kinds.split("#tpu.dimension_semantics<").skip(1);
    let moves = bounds.split(',').filter(|bound| !bound.is_empty()).map(|bound| {
        // Cores share the steps of a parallel dimension. A bound that is known only later is negative.
        let is_parallel = |kind: &str| kind.split('>').next().is_some_and(|kind| kind.ends_with("parallel"));
        let is_shared = kinds.next().is_none_or(is_parallel);
        bound.trim().parse::<u64>().is_ok_and(|bound| bound > if is_shared { cores } else { 1 })
    });
    moves.collect()
}

/// The functions that say where a window is, by name. For each result of a function, the number of the argument that it returns, or `None` if
/// the result is not an argument. The first arguments are the indices of the grid.
fn places_in_grid<'a>(module: &Module<'a>) -> BTreeMap<&'a str, Vec<Option<usize>>> {
    let returns = module.operations().iter().filter(|operation| operation.name() == "return");
    let argument = |name: &str| name.strip_prefix("arg")?.parse::<usize>().ok();
    let places = returns.filter_map(|returned| {
        let function = symbol_of(module.operations().get(returned.parent()?)?)?;
        Some((function, returned.operands().map(argument).collect()))
    });
    places.collect()
}

/// The name of a function: `k` of `@k(%x: …`.
fn symbol_of<'a>(function: &Operation<'a>) -> Option<&'a str> {
    function.texts().first()?.strip_prefix('@')?.split('(').next()
}

/// The types of the operands and of the results, from the end of a call: `(tensor<8xf32>, tensor<i32>) -> tensor<8xf32>`. A type that is not
/// understood is `None`.
fn arrays_of(call: &Operation<'_>) -> Option<[Vec<Option<ArrayShape>>; 2]> {
    let (_, types) = call.texts().last()?.rsplit_once(" : (")?;
    let (operands, results) = types.split_once(") -> ")?;
    let results = results.trim().trim_start_matches('(').trim_end_matches(')');
    let arrays = |types: &str| {
        let array = |text: &&str| find_spelled_shapes(text).next().and_then(|found| found.shape.array().cloned());
        split_at_commas(types).iter().map(array).collect()
    };
    Some([arrays(operands), arrays(results)])
}

/// A number of JSON, which may be a string.
fn number(value: Option<&Value>) -> Option<u64> {
    value.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()))
}

/// The content of a string in MLIR text, whose escapes are two hexadecimal digits or one character.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        bytes.push(match byte {
            b'\\' => {
                let escape = rest.get(..2).and_then(|digits| core::str::from_utf8(digits).ok());
                match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    Some(byte) => {
                        rest = rest.get(2..)?;
                        byte
                    }
                    None => {
                        let (&escaped, after) = rest.split_first()?;
                        rest = after;
                        if escaped == b'n' { b'\n' } else { escaped }
                    }
                }
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
