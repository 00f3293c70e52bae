//! Compiled programs.

use crate::abi::{
    Api, CompileArgs, ExecutableDestroyArgs, ExecutableFingerprintArgs, ExecutableGetCompiledMemoryStatsArgs,
    ExecutableGetCostAnalysisArgs, ExecutableNameArgs, ExecutableOptimizedProgramArgs, ExecutableOutputDimensionsArgs,
    ExecutableOutputElementTypesArgs, LayoutsExecutableGetOutputLayoutsArgs, LayoutsExecutableGetParameterLayoutsArgs,
    LayoutsExtension, ProgramArgs, RawExecutable, RawLayout, ShardingsExecutableOutputShardingsArgs,
    ShardingsExecutableParameterShardingsArgs, ShardingsExtension,
};
use crate::deadline::within;
use crate::element;
use crate::error::{Error, Result};
use crate::layout;
use crate::memory::MemoryStats;
use crate::options::CompileOptions;
use crate::plugin::Plugin;
use crate::program::Program;
use crate::property::{Properties, properties};
use crate::raw;
use crate::topology::Topology;
use std::ffi::c_char;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use xla_shape::hlo::Module;
use xla_shape::proto::decode_sharding;
use xla_shape::shard::Sharding;
use xla_shape::{ArrayShape, Layout, Shape};

/// A compiled program (`PJRT_Executable`): its layouts, memory, cost and optimized module. Clones share the same program.
///
/// ```no_run
/// use xla_shape_pjrt::{CompileOptions, Plugin, Program};
///
/// let program = Program::from_bytes(&std::fs::read("program.mlir")?)?;
/// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
/// let plugin = unsafe { Plugin::find() }?;
/// let compiled = plugin.topology(&"v5e:2x2".parse()?)?.compile(&program, &CompileOptions::new())?;
/// for input in compiled.inputs()? {
///     println!("{input}"); // such as f32[100,200]{1,0:T(8,128)}
/// }
/// println!("{} bytes of HBM", compiled.memory()?.device.total());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiled {
    inner: Arc<ExecutableHandle>,
}

#[derive(Debug)]
struct ExecutableHandle {
    plugin: Plugin,
    raw: NonNull<RawExecutable>,
    /// The bytes of the optimized program, after the first request.
    optimized: OnceLock<Vec<u8>>,
}

// SAFETY: the functions of the interface may be called from any thread, also for the same executable (*threads*); `optimized` is
// `Send` and `Sync` itself.
unsafe impl Send for ExecutableHandle {}
// SAFETY: as above.
unsafe impl Sync for ExecutableHandle {}

impl Drop for ExecutableHandle {
    fn drop(&mut self) {
        let args = ExecutableDestroyArgs { executable: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the executable belongs to `self` (*objects*) and is destroyed here only.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_Executable_Destroy, args) };
        // `drop` cannot report an error; the object then leaks inside the plug-in.
        drop(destroyed);
    }
}

/// The format in which the optimized program is requested: `HloModuleProtoWithConfig`.
const OPTIMIZED: &str = "hlo_with_config";

impl Topology {
    /// Compiles a program for these devices.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::{CompileOptions, Plugin, Program};
    ///
    /// # fn example(plugin: &Plugin) -> Result<(), Box<dyn std::error::Error>> {
    /// let program = Program::from_bytes(&std::fs::read("program.mlir")?)?;
    /// let compiled = plugin.topology(&"v5e:2x2".parse()?)?.compile(&program, &CompileOptions::new())?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the program is for more devices than there are, a parameter has an unbounded dimension or too many elements, the compiler refuses the
    /// program, or it takes longer than [`CompileOptions::time_limit`].
    pub fn compile(&self, program: &Program, options: &CompileOptions) -> Result<Compiled> {
        Compiled::compile(self, program, options)
    }
}

impl Compiled {
    fn compile(topology: &Topology, program: &Program, options: &CompileOptions) -> Result<Self> {
        program.check_parameters()?;
        // libtpu ends the process if a program needs more devices than there are. Not every plug-in can report its
        // devices.
        let needed = options.devices(program);
        let available = topology.devices().map_or(needed, |devices| devices.len() as u64);
        if needed > available {
            return Err(Error::TooFewDevices { needed, available });
        }
        let message = options.clone().or_options(topology.defaults()).to_proto(program);
        let (topology, program) = (topology.clone(), program.clone());
        within(options.time_limit, Api::PJRT_Compile.name, move || {
            let code = program.code();
            let format = program.format().name();
            let program = ProgramArgs {
                code: code.as_ptr().cast_mut().cast::<c_char>(),
                code_size: code.len(),
                format: format.as_ptr().cast(),
                format_size: format.len(),
                ..Default::default()
            };
            let args = CompileArgs {
                topology: topology.raw(),
                program: &raw const program,
                compile_options: message.as_ptr().cast(),
                compile_options_size: message.len(),
                ..Default::default()
            };
            // SAFETY: this closure owns the topology, the program and the options, so they live until the call returns. The call does
            // not write through `code`, although the header's pointer is not `const`.
            let args = unsafe { topology.plugin().functions().call(&Api::PJRT_Compile, args) }?;
            let raw = NonNull::new(args.executable);
            let raw = raw.ok_or_else(|| Error::answer(Api::PJRT_Compile.name, "the result is null"))?;
            let plugin = topology.plugin().clone();
            Ok(Self { inner: Arc::new(ExecutableHandle { plugin, raw, optimized: OnceLock::new() }) })
        })
    }

    fn raw(&self) -> *mut RawExecutable {
        self.inner.raw.as_ptr()
    }

    fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// The program's name, such as `jit_train_step`.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// println!("{}", compiled.name()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn name(&self) -> Result<String> {
        let call = &Api::PJRT_Executable_Name;
        let args = ExecutableNameArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text belongs to the executable (*answers*), which `self` keeps alive.
        unsafe { raw::answer_text(call.name, args.executable_name, args.executable_name_size) }
    }

    /// A text that identifies the program, the options and the compiler: if all three are the same, so is the text.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled, cached: &str) -> xla_shape_pjrt::Result<()> {
    /// let is_up_to_date = compiled.fingerprint()? == cached;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn fingerprint(&self) -> Result<String> {
        let call = &Api::PJRT_Executable_Fingerprint;
        let args = ExecutableFingerprintArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the bytes belong to the executable (*answers*), which `self` keeps alive.
        let bytes = unsafe { raw::bytes(args.executable_fingerprint, args.executable_fingerprint_size) };
        let bytes = bytes.ok_or_else(|| Error::answer(call.name, "the result is null"))?;
        // Some plug-ins return bytes that are not text.
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains(char::is_control) => text.to_owned(),
            _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// The memory that the program takes on each device, in bytes.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// let memory = compiled.memory()?;
    /// println!("{} bytes of HBM, {} of them temporary", memory.device.total(), memory.device.temporaries);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn memory(&self) -> Result<MemoryStats> {
        let args = ExecutableGetCompiledMemoryStatsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(&Api::PJRT_Executable_GetCompiledMemoryStats, args) }?;
        Ok(MemoryStats::new(&args))
    }

    /// The compiler's cost analysis, such as `flops` and `bytes accessed`. Each plug-in has its own properties.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// for (name, value) in compiled.cost()? {
    ///     println!("{name}: {value}"); // flops: 4294967296
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn cost(&self) -> Result<Properties> {
        let call = &Api::PJRT_Executable_GetCostAnalysis;
        let args = ExecutableGetCostAnalysisArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the properties belong to the executable (*answers*), which `self` keeps alive.
        unsafe { properties(call.name, args.properties, args.num_properties) }
    }

    /// The bytes of the optimized program: a message `HloModuleProtoWithConfig`, or another one that
    /// [`Module::from_proto`] reads.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> Result<(), Box<dyn std::error::Error>> {
    /// std::fs::write("optimized.hlo.pb", compiled.optimized()?)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, refuses it, or returns a format other than HLO.
    pub fn optimized(&self) -> Result<&[u8]> {
        if let Some(bytes) = self.inner.optimized.get() {
            return Ok(bytes);
        }
        let call = &Api::PJRT_Executable_OptimizedProgram;
        let ask = |code: *mut c_char, code_size: usize| -> Result<(usize, String)> {
            let mut program = ProgramArgs {
                code,
                code_size,
                format: OPTIMIZED.as_ptr().cast(),
                format_size: OPTIMIZED.len(),
                ..Default::default()
            };
            let args = ExecutableOptimizedProgramArgs {
                executable: self.raw(),
                program: &raw mut program,
                ..Default::default()
            };
            // SAFETY: `self` keeps the executable alive. `program` lives until the call returns, and its `code` is null or points to
            // `code_size` writable bytes; with null, the call only sets the size.
            unsafe { self.plugin().functions().call(call, args) }?;
            // SAFETY: the text belongs to the executable (*answers*), which `self` keeps alive.
            let format = unsafe { raw::text(program.format, program.format_size) };
            Ok((program.code_size, format.unwrap_or_default()))
        };
        let (size, _) = ask(std::ptr::null_mut(), 0)?;
        let mut bytes = Vec::<u8>::new();
        bytes.try_reserve_exact(size).map_err(|_| Error::answer(call.name, format_args!("{size} bytes")))?;
        bytes.resize(size, 0);
        let (filled, format) = ask(bytes.as_mut_ptr().cast(), size)?;
        if !format.starts_with("hlo") {
            return Err(Error::answer(call.name, format_args!("its format is `{}`", format.escape_debug())));
        }
        bytes.truncate(filled);
        Ok(self.inner.optimized.get_or_init(|| bytes))
    }

    /// The optimized program, with the layouts and memory spaces that the compiler has chosen.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// let module = compiled.module()?;
    /// println!("{module}"); // as XLA prints it
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As for [`optimized`](Self::optimized), or if the message cannot be read.
    pub fn module(&self) -> Result<Module> {
        Ok(Module::from_proto(self.optimized()?)?)
    }

    /// The shapes of the parameters on each device, with the layouts that the compiler has chosen.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// for shape in compiled.inputs()? {
    ///     println!("{shape}"); // such as bf16[128,256]{1,0:T(8,128)(2,1)}
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As for [`module`](Self::module), or if the layouts are not valid for the shapes.
    pub fn inputs(&self) -> Result<Vec<Shape>> {
        self.inputs_from(&self.module()?)
    }

    /// The [`inputs`](Self::inputs), from a [`module`](Self::module) that has already been read.
    pub(crate) fn inputs_from(&self, module: &Module) -> Result<Vec<Shape>> {
        let call = &Api::PJRT_Executable_OptimizedProgram;
        let entry = module.entry().ok_or_else(|| Error::answer(call.name, "the module has no entry"))?;
        let shapes = entry.parameters_by_number().into_iter().map(|(_, made)| made.shape().clone()).collect();
        with_layouts(
            shapes,
            self.input_layouts()?,
            LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetParameterLayouts.name,
        )
    }

    /// The shapes of the results on each device, with the layouts that the compiler has chosen.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// for shape in compiled.outputs()? {
    ///     println!("{shape}: {:?} bytes", shape.byte_size());
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn outputs(&self) -> Result<Vec<Shape>> {
        match self.module() {
            Ok(module) => self.outputs_from(&module),
            Err(Error::MissingCall { .. }) => self.described_outputs(),
            Err(error) => Err(error),
        }
    }

    /// The [`outputs`](Self::outputs), from a [`module`](Self::module) that has already been read.
    pub(crate) fn outputs_from(&self, module: &Module) -> Result<Vec<Shape>> {
        let call = &Api::PJRT_Executable_OptimizedProgram;
        let entry = module.entry().ok_or_else(|| Error::answer(call.name, "the module has no entry"))?;
        let root = entry.root().shape();
        let shapes = root.tuple_shapes().map_or_else(|| vec![root.clone()], <[Shape]>::to_vec);
        with_layouts(
            shapes,
            self.output_layouts()?,
            LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetOutputLayouts.name,
        )
    }

    /// The outputs, made from their element types, sizes and layouts, for a plug-in that does not return the optimized program.
    fn described_outputs(&self) -> Result<Vec<Shape>> {
        let call = &Api::PJRT_Executable_OutputElementTypes;
        let null = |call| move || Error::answer(call, "a list is null");
        let args = ExecutableOutputElementTypesArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the list belongs to the executable (*answers*), which `self` keeps alive.
        let types = unsafe { raw::list(args.output_types.cast_const(), args.num_output_types) };
        let types = types.ok_or_else(null(call.name))?;
        let call = &Api::PJRT_Executable_OutputDimensions;
        let args = ExecutableOutputDimensionsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the list belongs to the executable (*answers*), which `self` keeps alive.
        let counts = unsafe { raw::list(args.dim_sizes, args.num_outputs) }.ok_or_else(null(call.name))?;
        let all = counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count)).ok_or_else(null(call.name))?;
        // SAFETY: the list has as many numbers as the sum of `dim_sizes`, and belongs to the executable (*answers*).
        let mut sizes = unsafe { raw::list(args.dims, all) }.ok_or_else(null(call.name))?;
        if types.len() != counts.len() {
            return Err(Error::answer(call.name, format_args!("{} of {} results", counts.len(), types.len())));
        }
        let mut shapes = Vec::new();
        for (&number, &count) in types.iter().zip(counts) {
            let (these, rest) = sizes.split_at(count);
            sizes = rest;
            let these = these.iter().map(|&size| u64::try_from(size)).collect::<std::result::Result<Vec<_>, _>>();
            let these = these.map_err(|_| Error::answer(call.name, "a size is negative"))?;
            let array = ArrayShape::with_default_layout(element::from_number(call.name, number)?, &these)?;
            shapes.push(Shape::from(array));
        }
        with_layouts(
            shapes,
            self.output_layouts()?,
            LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetOutputLayouts.name,
        )
    }

    /// The layouts of the parameters; `None` if the plug-in does not have the call.
    fn input_layouts(&self) -> Result<Option<Vec<Layout>>> {
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetParameterLayouts;
        let args = LayoutsExecutableGetParameterLayoutsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call_layouts(call, args) };
        let Some(args) = if_supported(args)? else { return Ok(None) };
        // SAFETY: the list and its layouts belong to the executable (*answers*), which `self` keeps alive.
        unsafe { self.layouts(call.name, args.layouts, args.num_parameters) }.map(Some)
    }

    /// The layouts of the results; `None` if the plug-in does not have the call.
    fn output_layouts(&self) -> Result<Option<Vec<Layout>>> {
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetOutputLayouts;
        let args = LayoutsExecutableGetOutputLayoutsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call_layouts(call, args) };
        let Some(args) = if_supported(args)? else { return Ok(None) };
        // SAFETY: the list and its layouts belong to the executable (*answers*), which `self` keeps alive.
        unsafe { self.layouts(call.name, args.layouts, args.num_outputs) }.map(Some)
    }

    /// The values of a list of layout objects, which `call` has returned.
    ///
    /// # Safety
    /// If `layouts` is not null, it points to `len` layout objects of the plug-in that live as long as the executable.
    unsafe fn layouts(&self, call: &'static str, layouts: *const *mut RawLayout, len: usize) -> Result<Vec<Layout>> {
        // SAFETY: the list has `len` entries and does not change while `self` lives (caller).
        let layouts = unsafe { raw::list(layouts, len) };
        let layouts = layouts.ok_or_else(|| Error::answer(call, "the list of layouts is null"))?;
        // SAFETY: the objects belong to the plug-in and are not destroyed while `self` lives (caller).
        layouts.iter().map(|&layout| unsafe { layout::read(self.plugin(), call, layout) }).collect()
    }

    /// The sharding of each parameter; `None` if the plug-in does not report it.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// for sharding in compiled.input_shardings()?.unwrap_or_default() {
    ///     println!("{sharding}"); // {devices=[4,1]<=[4]}
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in refuses the call, or a sharding cannot be decoded.
    pub fn input_shardings(&self) -> Result<Option<Vec<Sharding>>> {
        let call = &ShardingsExtension::PJRT_Shardings_PJRT_Executable_ParameterShardings;
        let args = ShardingsExecutableParameterShardingsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call_shardings(call, args) };
        let Some(args) = if_supported(args)? else { return Ok(None) };
        // SAFETY: the lists and texts belong to the executable (*answers*), which `self` keeps alive.
        unsafe { shardings(call.name, args.shardings, args.sharding_sizes, args.num_parameters) }
    }

    /// The sharding of each result; `None` if the plug-in does not report it.
    ///
    /// ```no_run
    /// # fn example(compiled: &xla_shape_pjrt::Compiled) -> xla_shape_pjrt::Result<()> {
    /// let shardings = compiled.output_shardings()?;
    /// assert!(shardings.is_none_or(|shardings| shardings.len() == compiled.outputs().map_or(0, |all| all.len())));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in refuses the call, or a sharding cannot be decoded.
    pub fn output_shardings(&self) -> Result<Option<Vec<Sharding>>> {
        let call = &ShardingsExtension::PJRT_Shardings_PJRT_Executable_OutputShardings;
        let args = ShardingsExecutableOutputShardingsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the executable alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call_shardings(call, args) };
        let Some(args) = if_supported(args)? else { return Ok(None) };
        // SAFETY: the lists and texts belong to the executable (*answers*), which `self` keeps alive.
        unsafe { shardings(call.name, args.shardings, args.sharding_sizes, args.num_outputs) }
    }
}

/// Returns `None` instead of the error if the plug-in lacks the call.
fn if_supported<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::MissingCall { .. } | Error::MissingExtension { .. }) => Ok(None),
        Err(Error::Plugin { error, .. }) if error.code == crate::ErrorCode::Unimplemented => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sets the layouts of shapes to those that a plug-in has returned, one for each shape.
fn with_layouts(shapes: Vec<Shape>, layouts: Option<Vec<Layout>>, call: &'static str) -> Result<Vec<Shape>> {
    let Some(layouts) = layouts else { return Ok(shapes) };
    // For nested tuples, there may be another number of layouts than of shapes. The shapes then keep the layouts that they have in the module.
    if layouts.len() != shapes.len() {
        return Ok(shapes);
    }
    let chosen = shapes.into_iter().zip(layouts).map(|(shape, layout)| match shape.array() {
        Some(array) => {
            let shown = format!("the layout {layout} of {shape}");
            let array = array.clone().with_layout(layout);
            array.map(Shape::from).map_err(|error| Error::answer(call, format_args!("{shown}: {error}")))
        }
        None => Ok(shape),
    });
    chosen.collect()
}

/// Decodes shardings; `None` if the plug-in returned null.
///
/// # Safety
/// If not null, `texts` and `sizes` point to `len` texts and their lengths. Nobody writes them during the call.
unsafe fn shardings(
    call: &'static str,
    texts: *const *const c_char,
    sizes: *const usize,
    len: usize,
) -> Result<Option<Vec<Sharding>>> {
    // The header: null if the shardings are unknown.
    if texts.is_null() || sizes.is_null() {
        return Ok(None);
    }
    let null = || Error::answer(call, "a list is null");
    // SAFETY: `texts` has `len` entries that nobody writes (caller).
    let texts = unsafe { raw::list(texts, len) }.ok_or_else(null)?;
    // SAFETY: `sizes` has `len` entries that nobody writes (caller).
    let sizes = unsafe { raw::list(sizes, len) }.ok_or_else(null)?;
    let mut shardings = Vec::new();
    for (&text, &size) in texts.iter().zip(sizes) {
        // SAFETY: `text` points to `size` bytes that nobody writes (caller).
        let bytes = unsafe { raw::bytes(text, size) }.ok_or_else(null)?;
        shardings.push(decode_sharding(bytes).map_err(|error| Error::answer(call, error))?);
    }
    Ok(Some(shardings))
}
