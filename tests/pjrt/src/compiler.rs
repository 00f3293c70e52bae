//! Topologies, and programs that are "compiled".

use crate::object::{
    INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, Refusal, answer, hand_out, list, object, properties, take_back,
    text,
};
use std::ffi::{c_char, c_int};
use std::ptr::null;
use std::time::Duration;
use xla_shape::hlo::Module;
use xla_shape::hlo::proto::GpuConfig;
use xla_shape::proto::encode_sharding;
use xla_shape::shard::Sharding;
use xla_shape::tpu::{Generation, default_layout};
use xla_shape::{Dimension, ElementType, Layout, Shape};
use xla_shape_pjrt::abi::*;

macro_rules! call {
    ($name:ident($args:ident: $kind:ty) $body:block) => {
        pub(crate) unsafe extern "C" fn $name(args: *mut $kind) -> *mut RawError {
            let work = |$args: &mut $kind| -> Result<(), Refusal> {
                $body
                Ok(())
            };
            // SAFETY: the interface passes arguments of this type.
            unsafe { answer(args, work) }
        }
    };
}
pub(crate) use call;

/// The element types that are used here, with their numbers in the interface.
const TYPES: &[(c_int, ElementType)] = &[
    (1, ElementType::Pred),
    (4, ElementType::S32),
    (6, ElementType::U8),
    (11, ElementType::F32),
    (12, ElementType::F64),
    (13, ElementType::Bf16),
    (21, ElementType::S4),
];

pub(crate) fn type_of(number: c_int) -> Result<ElementType, Refusal> {
    let found = TYPES.iter().find(|(known, _)| *known == number);
    found.map(|(_, kind)| *kind).ok_or_else(|| (INVALID_ARGUMENT, format!("no type {number}")))
}

pub(crate) fn number_of(kind: ElementType) -> c_int {
    TYPES.iter().find(|(_, known)| *known == kind).map_or(0, |(number, _)| *number)
}

/// A device.
pub(crate) struct Description {
    id: c_int,
    kind: &'static str,
    shown: String,
}

impl Description {
    pub(crate) fn new(id: c_int) -> Self {
        Self { id, kind: "Fake", shown: format!("FakeDevice(id={id})") }
    }
}

struct Topology {
    name: String,
    /// `None` for GPUs, whose arrays are row-major.
    generation: Option<Generation>,
    devices: Vec<*mut RawDeviceDescription>,
    /// The descriptions to which `devices` points.
    _held: Vec<Description>,
}

pub(crate) fn default_text(
    generation: Option<Generation>,
    kind: ElementType,
    sizes: &[u64],
) -> Result<String, Refusal> {
    let Some(generation) = generation else { return Ok(Layout::descending(sizes.len()).to_string()) };
    let sizes = sizes.iter().map(|&size| Dimension::Static(size)).collect::<Vec<_>>();
    default_layout(generation, kind, &sizes)
        .map(|layout| layout.to_string())
        .map_err(|error| (INVALID_ARGUMENT, error.to_string()))
}

call! { topology_create(args: TopologyDescriptionCreateArgs) {
    // SAFETY: the interface gives the name's bytes.
    let name = unsafe { text(args.topology_name, args.topology_name_size) };
    if name == "fake:null" {
        return Ok(());
    }
    if name == "fake:never" {
        loop {
            std::thread::park();
        }
    }
    let mut options = std::collections::BTreeMap::new();
    for number in 0..args.num_options {
        // SAFETY: the interface passes this many options.
        let option = unsafe { &*args.create_options.wrapping_add(number) };
        // SAFETY: all options are texts.
        let value = unsafe { option.value.string_value };
        // SAFETY: the interface gives the bytes of the text.
        let value = unsafe { text(value, option.value_size) };
        // SAFETY: the interface gives the bytes of the name.
        let name = unsafe { text(option.name, option.name_size) };
        options.insert(name, value);
    }
    let generation = match options.get("target_config").map(|config| GpuConfig::parse(config)) {
        None => {
            let generation = name.split(':').next().and_then(|name| name.parse().ok());
            Some(generation.ok_or_else(|| (NOT_FOUND, format!("no devices are called {name}")))?)
        }
        Some(Ok(config)) if config.missing().is_empty() && options.get("topology").is_some_and(|of| of.contains('x')) => None,
        Some(_) => return Err((INVALID_ARGUMENT, "Failed to parse GpuTargetConfigProto".to_owned())),
    };
    let held: Vec<_> = (0..4).map(Description::new).collect();
    let devices = held.iter().map(|device| (&raw const *device).cast_mut().cast()).collect();
    args.topology = hand_out(Topology { name, generation, devices, _held: held });
}}

call! { topology_destroy(args: TopologyDescriptionDestroyArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    unsafe { take_back::<Topology, _>(args.topology) };
}}

call! { topology_platform(args: TopologyDescriptionPlatformNameArgs) {
    (args.platform_name, args.platform_name_size) = (c"fake".as_ptr(), 4);
}}

call! { topology_version(args: TopologyDescriptionPlatformVersionArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let topology = unsafe { object::<Topology, _>(args.topology) };
    (args.platform_version, args.platform_version_size) = (topology.name.as_ptr().cast(), topology.name.len());
}}

call! { topology_devices(args: TopologyDescriptionGetDeviceDescriptionsArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let topology = unsafe { object::<Topology, _>(args.topology) };
    (args.descriptions, args.num_descriptions) = (topology.devices.as_ptr(), topology.devices.len());
}}

call! { device_id(args: DeviceDescriptionIdArgs) {
    // SAFETY: every description that this plug-in hands out is a `Description`.
    args.id = unsafe { object::<Description, _>(args.device_description) }.id;
}}

call! { device_kind(args: DeviceDescriptionKindArgs) {
    // SAFETY: every description that this plug-in hands out is a `Description`.
    let kind = unsafe { object::<Description, _>(args.device_description) }.kind;
    (args.device_kind, args.device_kind_size) = (kind.as_ptr().cast(), kind.len());
}}

call! { device_text(args: DeviceDescriptionToStringArgs) {
    // SAFETY: every description that this plug-in hands out is a `Description`.
    let shown = &unsafe { object::<Description, _>(args.device_description) }.shown;
    (args.to_string, args.to_string_size) = (shown.as_ptr().cast(), shown.len());
}}

call! { topology_layout(args: LayoutsTopologyGetDefaultLayoutArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let topology = unsafe { object::<Topology, _>(args.topology_description) };
    // SAFETY: the interface gives the sizes.
    let sizes = unsafe { list(args.dims, args.num_dims) };
    // This size makes the call fail.
    if sizes == [666] {
        return Ok(());
    }
    let sizes = sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let text = if sizes == [667] { "{1,0}".to_owned() } else { default_text(topology.generation, type_of(args.r#type)?, &sizes)? };
    args.layout = hand_out(text);
}}

call! { layout_destroy(args: LayoutsMemoryLayoutDestroyArgs) {
    // SAFETY: layouts are handed out as texts.
    unsafe { take_back::<String, _>(args.layout) };
}}

call! { layout_serialize(args: LayoutsMemoryLayoutSerializeArgs) {
    // SAFETY: layouts are texts.
    let copy = unsafe { object::<String, _>(args.layout) }.clone();
    (args.serialized_bytes, args.serialized_bytes_size) = (copy.as_ptr().cast(), copy.len());
    args.serialized_layout = hand_out(copy);
    args.serialized_layout_deleter = Some(delete_serialized);
}}

unsafe extern "C" fn delete_serialized(serialized: *mut RawSerializedLayout) {
    // SAFETY: serialized layouts are handed out as texts.
    unsafe { take_back::<String, _>(serialized) };
}

struct Executable {
    optimized: Vec<u8>,
    format: &'static str,
    layouts: [Vec<String>; 2],
    layout_places: [Vec<*mut RawLayout>; 2],
    lists: bool,
    types: Vec<c_int>,
    sizes: Vec<i64>,
    counts: Vec<usize>,
    sharding: Vec<u8>,
    sharding_places: [(Vec<*const c_char>, Vec<usize>); 2],
    properties: Vec<NamedValue>,
    hang_optimized: bool,
    hang_stats: bool,
}

/// Never returns.
pub(crate) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// The module to which programs in MLIR are compiled.
const MODULE: &str = "HloModule fake, is_scheduled=true

ENTRY main {
  x = f32[100,200]{1,0} parameter(0)
  w = bf16[2,200]{1,0} parameter(1)
  y = f32[100,200]{1,0} negate(x)
  ROOT result = (f32[100,200]{1,0}, bf16[2,200]{1,0}) tuple(y, w)
}
";

/// The module to which a program of `reshard` is compiled.
const RESHARDED: &str = "HloModule reshard, is_scheduled=true, num_partitions=4

ENTRY main {
  x = f32[100,200]{1,0:T(8,128)} parameter(0)
  start = (f32[100,200]{1,0:T(8,128)}, f32[400,200]{1,0:T(8,128)}) all-gather-start(x), replica_groups=[1,4]<=[4], dimensions={0}
  done = f32[400,200]{1,0:T(8,128)} all-gather-done(start)
  ROOT y = f32[400,200]{1,0:T(8,128)} collective-permute(done), source_target_pairs={{0,1},{1,0},{2,2},{3,3}}
}
";

/// The warning about that program.
const WARNING: &str = "W1129 15:14:48.976026   20560 spmd_partitioner.cc:797] [SPMD] Involuntary full rematerialization. The compiler cannot \
    go from sharding {devices=[4,1]<=[4]} to {replicated} efficiently for HLO operation %before = f32[100,200]{1,0} parameter(0).";

/// The module that the compiler dumps for a program that it refuses.
const TOO_LARGE: &str = "HloModule too_large, is_scheduled=true

ENTRY main {
  x = f32[1048576,1024]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}
  y = f32[1048576,3]{1,0:T(8,128)} slice(x), slice={[0:1048576], [0:3]}, metadata={op_name=\"jit(step)/slice\" source_file=\"train.py\" source_line=43}
  ROOT z = f32[1048576,1024]{1,0:T(8,128)} negate(x), metadata={op_name=\"jit(step)/neg\" source_file=\"train.py\" source_line=44}
}
";

/// The directory for dumps in the options. These are a message with a map of overrides, in which the entry with this name has a message with the path
/// as its only field.
fn dump_folder(options: &[u8]) -> Option<std::path::PathBuf> {
    let name = b"xla_dump_to";
    let start = options.windows(name.len()).position(|window| window == name)? + name.len();
    // The tag and the length of the value, then those of the path.
    let [_, _, _, length, path @ ..] = options.get(start..)? else { return None };
    Some(std::str::from_utf8(path.get(..usize::from(*length))?).ok()?.into())
}

/// Writes what libtpu would dump about kernels: with `fake:kernel-dump` the bundles of one, with `fake:xla-dump-v5e` an instruction that XLA compiled
/// itself, but only for v5e. With `fake:no-directory`, the directory disappears.
fn dump_kernels(has: impl Fn(&str) -> bool, generation: Option<Generation>) -> std::io::Result<()> {
    let flags = std::env::var("LIBTPU_INIT_ARGS").unwrap_or_default();
    let Some(folder) = flags.split(' ').find_map(|flag| flag.strip_prefix("--xla_jf_dump_to=")) else { return Ok(()) };
    let folder = std::path::Path::new(folder);
    if has("fake:kernel-dump") {
        let bundles = "0 : { %s1_s0 = smov.u32 0 }\n0x1 : {} /* exit bundle: %k = custom-call(%x) */\n";
        std::fs::write(folder.join("llo.k.final_bundles.txt"), bundles)?;
    }
    if has("fake:xla-dump-v5e") && generation == Some(Generation::V5e) {
        let schedule = "Schedule analysis:\n\ttotal scheduled bundles: 9\n\t 9.00 scheduled bundles (100.00%): %fusion.1 = f32[8] fusion(%x)\n";
        std::fs::write(folder.join("llo.fusion.1.schedule-analysis_final_bundles.txt"), schedule)?;
    }
    if has("fake:no-directory") {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// The layout that a program with `fake:tune` requests for its first parameter; `None` if it requests none or leaves the choice to the compiler.
fn asked_layout(program: &str) -> Option<&str> {
    let (_, parameter) = program.split_once("%arg0: ")?;
    let (parameter, _) = parameter.split_once("%arg1")?;
    let (_, layout) = parameter.split_once("mhlo.layout_mode = \"")?;
    let (layout, _) = layout.split_once('"')?;
    (layout != "auto").then_some(layout)
}

/// A module whose cycles depend on the layout of its first parameter: row-major takes fewer than column-major.
///
/// `less`: whether the program takes fewer cycles than its layouts alone would give.
fn tuned_module(layout: Option<&str>, less: bool) -> String {
    let cycles = if layout.is_some_and(|layout| layout.starts_with("{1,0")) { 500 } else { 900 };
    let cycles = if less { cycles - 100 } else { cycles };
    let config = format!("negate(x), backend_config={{\"window_config\":{{\"estimated_cycles\":\"{cycles}\"}}}}");
    MODULE.replace("negate(x)", &config)
}

call! { compile(args: CompileArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let topology = unsafe { object::<Topology, _>(args.topology) };
    // SAFETY: the interface gives a program.
    let program = unsafe { &*args.program };
    // SAFETY: the interface gives its bytes.
    let code = unsafe { list(program.code.cast::<u8>().cast_const(), program.code_size) };
    // SAFETY: the interface gives its format.
    let format = unsafe { text(program.format, program.format_size) };
    let program_text = String::from_utf8_lossy(&code).into_owned();
    let has = |word: &str| program_text.contains(word);
    if args.compile_options_size == 0 {
        return Err((INVALID_ARGUMENT, "no options".to_owned()));
    }
    dump_kernels(has, topology.generation).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    if has("fake:error") {
        return Err((INVALID_ARGUMENT, "the program asks for an error".to_owned()));
    }
    if has("fake:null") {
        return Ok(());
    }
    if has("fake:abort") {
        eprintln!("F1231 23:59:59.000000   1 fake.cc:7] Check failed: !program.asks_for_it()\n*** Check failure stack trace: ***");
        std::process::abort();
    }
    if has("fake:exit") {
        std::process::exit(3);
    }
    if has("fake:too-large") {
        // SAFETY: the interface gives their bytes.
        let options = unsafe { list(args.compile_options.cast::<u8>(), args.compile_options_size) };
        if let Some(folder) = dump_folder(&options).filter(|_| !has("fake:no-dump")) {
            let written = std::fs::write(folder.join("module_0001.fake.after_optimizations.txt"), TOO_LARGE);
            written.map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
        }
        eprintln!("a note of the compiler");
        let message = if has("fake:vmem") {
            "Ran out of memory in memory space vmem. Scoped allocation with size 23.50M and limit 16.00M exceeded scoped vmem limit by 7.50M."
        } else {
            "Ran out of memory in memory space hbm. Used 22.00G of 15.75G hbm. Exceeded hbm capacity by 6.25G."
        };
        return Err((RESOURCE_EXHAUSTED, message.to_owned()));
    }
    if has("fake:untuned") {
        // SAFETY: as above.
        let options = unsafe { list(args.compile_options.cast::<u8>(), args.compile_options_size) };
        let name = b"xla_gpu_require_complete_aot_autotune_results";
        let start = options.windows(name.len()).position(|window| window == name).map(|start| start + name.len());
        let value = start.and_then(|start| options.get(start..)).unwrap_or_default();
        // The value is a message of its own: a tag, its length, and its second field, which is 1.
        if value.get(2..4) == Some(&[0x10, 1]) {
            return Err((INVALID_ARGUMENT, "Failed to get configs for: 2 out of 3 instructions. See logs.".to_owned()));
        }
    }
    if has("fake:no-estimates") {
        // SAFETY: as above.
        let options = unsafe { list(args.compile_options.cast::<u8>(), args.compile_options_size) };
        let name = b"xla_gpu_collect_cost_model_stats";
        if options.windows(name.len()).any(|window| window == name) {
            return Err((INVALID_ARGUMENT, "Failed to get configs for: 4 out of 4 instructions. See logs.".to_owned()));
        }
    }
    if has("fake:options") {
        // SAFETY: the interface gives their bytes.
        let options = unsafe { list(args.compile_options.cast::<u8>(), args.compile_options_size) };
        return Err((INVALID_ARGUMENT, format!("the options are {}", String::from_utf8_lossy(&options))));
    }
    #[cfg(unix)]
    if has("fake:left") {
        // Starts a process in a group of its own. It keeps the streams of this process open, and writes a file when it ends.
        use std::os::unix::process::CommandExt as _;
        let mut left = std::process::Command::new("/bin/sh");
        let left = left.args(["-c", "sleep 30; echo > left"]).process_group(0).spawn();
        left.map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    }
    if has("fake:slow") {
        std::thread::sleep(Duration::from_millis(700));
    }
    let chooses_rows = has("fake:auto-rows") && has("mhlo.layout_mode = \"auto\"");
    let asked = match () {
        () if chooses_rows => Some("{1,0:T(8,128)}"),
        () if has("fake:tune") => asked_layout(&program_text),
        () => None,
    };
    if asked.is_some_and(|layout| layout.starts_with("{1,0")) {
        if has("fake:rows-refused") {
            return Err((INVALID_ARGUMENT, "this layout is not supported".to_owned()));
        }
        if has("fake:rows-abort") {
            std::process::abort();
        }
        if has("fake:rows-hang") {
            hang();
        }
    }
    let on_host = has("fake:tune") && program_text.contains("mhlo.memory_kind = \"pinned_host\"");
    if on_host && has("fake:host-refused") {
        return Err((INVALID_ARGUMENT, "E1200: the output is not in the host's memory".to_owned()));
    }
    let mut text = if has("fake:tune") { tuned_module(asked, chooses_rows) } else { MODULE.to_owned() };
    if on_host && !has("fake:host-not-taken") {
        let layout = "is_scheduled=true, entry_computation_layout={(f32[100,200]{1,0:S(5)}, bf16[2,200]{1,0})->(f32[100,200]{1,0}, bf16[2,200]{1,0})}";
        text = text.replacen("is_scheduled=true", layout, 1);
    }
    let message = match format.as_str() {
        "mlir" => Module::parse(&text).expect("a module").to_proto().expect("a message"),
        "hlo" if has("reshard") => {
            // Like libtpu, it writes warnings if its level asks for them.
            let is_asked = std::env::var("TPU_STDERR_LOG_LEVEL").is_ok_and(|level| level == "1");
            if is_asked && !has("between") {
                eprintln!("{WARNING}");
            }
            Module::parse(RESHARDED).expect("a module").to_proto().expect("a message")
        }
        "hlo" => code,
        other => return Err((INVALID_ARGUMENT, format!("no format {other}"))),
    };
    let module = Module::from_proto(&message).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    let entry = module.entry().ok_or((INVALID_ARGUMENT, "no entry".to_owned()))?;
    let inputs = entry.parameters_by_number().into_iter().map(|(_, made)| made.shape()).collect::<Vec<_>>();
    let root = entry.root().shape();
    let outputs = root.tuple_shapes().map_or_else(|| vec![root], |shapes| shapes.iter().collect());
    let chosen = |shapes: &[&Shape]| {
        let arrays = shapes.iter().filter_map(|shape| shape.array());
        arrays.map(|array| {
            let sizes = array.dimensions().iter().filter_map(|size| size.extent()).collect::<Vec<_>>();
            if has("fake:bad-layout") { Ok("{5}".to_owned()) } else { default_text(topology.generation, array.element_type(), &sizes) }
        }).collect::<Result<Vec<_>, _>>()
    };
    let mut layouts = [chosen(&inputs)?, chosen(&outputs)?];
    if let Some((asked, layout)) = asked.zip(layouts[0].first_mut()).filter(|_| !has("fake:not-taken")) {
        asked.clone_into(layout);
    }
    let arrays = outputs.iter().filter_map(|shape| shape.array()).collect::<Vec<_>>();
    // An HloModuleProtoWithConfig has the module as its field 1.
    let mut optimized = vec![0x0a];
    let mut length = message.len();
    while length >= 0x80 {
        optimized.push(length as u8 | 0x80);
        length >>= 7;
    }
    optimized.push(length as u8);
    optimized.extend_from_slice(&message);
    if has("fake:bad-module") {
        optimized = b"\x0a\x7fno module".to_vec();
    }
    let mut executable = Box::new(Executable {
        optimized,
        format: if has("fake:bad-format") { "mlir" } else { "hlo_with_config" },
        layout_places: [Vec::new(), Vec::new()],
        lists: !has("fake:no-list"),
        types: arrays.iter().map(|array| number_of(array.element_type())).collect(),
        sizes: arrays.iter().flat_map(|array| array.dimensions().iter().filter_map(|size| Some(size.extent()? as i64))).collect(),
        counts: arrays.iter().map(|array| array.num_dimensions()).collect(),
        sharding: encode_sharding(&"{replicated}".parse::<Sharding>().expect("a sharding")),
        sharding_places: [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())],
        properties: properties(),
        hang_optimized: has("fake:hang-optimized"),
        hang_stats: has("fake:hang-stats"),
        layouts,
    });
    for side in 0..2 {
        executable.layout_places[side] = executable.layouts[side].iter().map(|text| (&raw const *text).cast_mut().cast()).collect();
        let count = executable.layouts[side].len();
        let (place, size) = (executable.sharding.as_ptr().cast(), executable.sharding.len());
        executable.sharding_places[side] = (vec![place; count], vec![size; count]);
    }
    args.executable = hand_out::<Box<Executable>, _>(executable);
}}

/// # Safety
/// `executable` was handed out, and is not destroyed while `'a` lasts.
unsafe fn made<'a>(executable: *mut RawExecutable) -> &'a Executable {
    // SAFETY: executables are handed out as such boxes.
    unsafe { object::<Box<Executable>, _>(executable) }
}

call! { executable_destroy(args: ExecutableDestroyArgs) {
    // SAFETY: executables are handed out as such boxes.
    unsafe { take_back::<Box<Executable>, _>(args.executable) };
}}

call! { executable_name(args: ExecutableNameArgs) {
    (args.executable_name, args.executable_name_size) = (c"fake".as_ptr(), 4);
}}

call! { executable_fingerprint(args: ExecutableFingerprintArgs) {
    const BYTES: &[u8] = b"\x01\xab";
    (args.executable_fingerprint, args.executable_fingerprint_size) = (BYTES.as_ptr().cast(), BYTES.len());
}}

call! { executable_memory(args: ExecutableGetCompiledMemoryStatsArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    if unsafe { made(args.executable) }.hang_stats {
        hang();
    }
    args.generated_code_size_in_bytes = 7;
    args.argument_size_in_bytes = 1000;
    args.output_size_in_bytes = 200;
    args.alias_size_in_bytes = 100;
    args.temp_size_in_bytes = 30;
    args.host_argument_size_in_bytes = 5;
    args.peak_memory_in_bytes = 1130;
}}

call! { executable_cost(args: ExecutableGetCostAnalysisArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    (args.properties, args.num_properties) = (executable.properties.as_ptr(), executable.properties.len());
}}

call! { executable_types(args: ExecutableOutputElementTypesArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    (args.output_types, args.num_output_types) = (executable.types.as_ptr().cast_mut(), executable.types.len());
}}

call! { executable_sizes(args: ExecutableOutputDimensionsArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    (args.num_outputs, args.dims, args.dim_sizes) = (executable.counts.len(), executable.sizes.as_ptr(), executable.counts.as_ptr());
}}

call! { executable_optimized(args: ExecutableOptimizedProgramArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    if executable.hang_optimized {
        hang();
    }
    // SAFETY: the interface gives a program to fill.
    let program = unsafe { &mut *args.program };
    let bytes = &executable.optimized;
    if !program.code.is_null() {
        if program.code_size < bytes.len() {
            return Err((INVALID_ARGUMENT, "too little room".to_owned()));
        }
        // SAFETY: the interface guarantees room for `code_size` bytes, and `bytes` is not longer (checked above).
        unsafe { bytes.as_ptr().copy_to_nonoverlapping(program.code.cast(), bytes.len()) };
    }
    program.code_size = bytes.len();
    (program.format, program.format_size) = (executable.format.as_ptr().cast(), executable.format.len());
}}

call! { parameter_layouts(args: LayoutsExecutableGetParameterLayoutsArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    let places = &executable.layout_places[0];
    (args.layouts, args.num_parameters) = (if executable.lists { places.as_ptr() } else { null() }, places.len());
}}

call! { output_layouts(args: LayoutsExecutableGetOutputLayoutsArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    let places = &executable.layout_places[1];
    (args.layouts, args.num_outputs) = (if executable.lists { places.as_ptr() } else { null() }, places.len());
}}

call! { parameter_shardings(args: ShardingsExecutableParameterShardingsArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    let (texts, sizes) = &executable.sharding_places[0];
    let texts_place = if executable.lists { texts.as_ptr() } else { null() };
    (args.shardings, args.sharding_sizes, args.num_parameters) = (texts_place, sizes.as_ptr(), sizes.len());
}}

call! { output_shardings(args: ShardingsExecutableOutputShardingsArgs) {
    // SAFETY: the caller passes an executable that it has not destroyed.
    let executable = unsafe { made(args.executable) };
    let (texts, sizes) = &executable.sharding_places[1];
    let texts_place = if executable.lists { texts.as_ptr() } else { null() };
    (args.shardings, args.sharding_sizes, args.num_outputs) = (texts_place, sizes.as_ptr(), sizes.len());
}}

pub(crate) fn fill(api: &mut Api) {
    api.PJRT_TopologyDescription_Create = Some(topology_create);
    api.PJRT_TopologyDescription_Destroy = Some(topology_destroy);
    api.PJRT_TopologyDescription_PlatformName = Some(topology_platform);
    api.PJRT_TopologyDescription_PlatformVersion = Some(topology_version);
    api.PJRT_TopologyDescription_GetDeviceDescriptions = Some(topology_devices);
    api.PJRT_DeviceDescription_Id = Some(device_id);
    api.PJRT_DeviceDescription_Kind = Some(device_kind);
    api.PJRT_DeviceDescription_ToString = Some(device_text);
    api.PJRT_Compile = Some(compile);
    api.PJRT_Executable_Destroy = Some(executable_destroy);
    api.PJRT_Executable_Name = Some(executable_name);
    api.PJRT_Executable_Fingerprint = Some(executable_fingerprint);
    api.PJRT_Executable_GetCompiledMemoryStats = Some(executable_memory);
    api.PJRT_Executable_GetCostAnalysis = Some(executable_cost);
    api.PJRT_Executable_OutputElementTypes = Some(executable_types);
    api.PJRT_Executable_OutputDimensions = Some(executable_sizes);
    api.PJRT_Executable_OptimizedProgram = Some(executable_optimized);
}

pub(crate) fn fill_layouts(extension: &mut LayoutsExtension) {
    extension.PJRT_Layouts_MemoryLayout_Destroy = Some(layout_destroy);
    extension.PJRT_Layouts_MemoryLayout_Serialize = Some(layout_serialize);
    extension.PJRT_Layouts_PJRT_Topology_GetDefaultLayout = Some(topology_layout);
    extension.PJRT_Layouts_PJRT_Executable_GetParameterLayouts = Some(parameter_layouts);
    extension.PJRT_Layouts_PJRT_Executable_GetOutputLayouts = Some(output_layouts);
}
