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

/// A compiled program: what the compiler made of it. Copies are the same.
///
/// ```no_run
/// use xla_shape_pjrt::{CompileOptions, Plugin, Program};
///
/// let program = Program::from_bytes(&std::fs::read("program.mlir")?)?;
/// let compiled = Plugin::find()?.topology(&"v5e:2x2".parse()?)?.compile(&program, &CompileOptions::new())?;
/// for input in compiled.inputs()? {
///     println!("{input}"); // such as f32[100,200]{1,0:T(8,128)}
/// }
/// println!("{} bytes of HBM", compiled.memory()?.device.total());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiled {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    plugin: Plugin,
    raw: NonNull<RawExecutable>,
    /// The message of the optimized program, once it was asked for.
    optimized: OnceLock<Arc<[u8]>>,
}

// SAFETY: what the compiler made does not change, and the interface may be called from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let args = ExecutableDestroyArgs { executable: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the program is the plug-in's and ours to destroy, once.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_Executable_Destroy, args) };
        // Nothing is left to do where a plug-in cannot destroy what it made.
        drop(destroyed);
    }
}

/// The format of the optimized program: an `HloModuleProtoWithConfig`.
const OPTIMIZED: &str = "hlo_with_config";

impl Topology {
    /// Compiles a program for these devices.
    ///
    /// # Errors
    /// If a parameter has a dimension without a bound, the compiler refuses the program, or takes longer than
    /// [`CompileOptions::time_limit`].
    pub fn compile(&self, program: &Program, options: &CompileOptions) -> Result<Compiled> {
        Compiled::compile(self, program, options)
    }
}

impl Compiled {
    fn compile(topology: &Topology, program: &Program, options: &CompileOptions) -> Result<Self> {
        program.check_parameters()?;
        let message = options.to_proto(program);
        let (topology, program) = (topology.clone(), program.clone());
        within(options.time_limit, Api::PJRT_Compile.name, move || {
            let code = program.code();
            let format = program.format();
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
            // SAFETY: the topology, the program and the options are there while the call runs; it only reads the program.
            let args = unsafe { topology.plugin().functions().call(&Api::PJRT_Compile, args) }?;
            let raw = NonNull::new(args.executable);
            let raw = raw.ok_or_else(|| Error::answer(Api::PJRT_Compile.name, "it is null"))?;
            let plugin = topology.plugin().clone();
            Ok(Self { inner: Arc::new(Inner { plugin, raw, optimized: OnceLock::new() }) })
        })
    }

    fn raw(&self) -> *mut RawExecutable {
        self.inner.raw.as_ptr()
    }

    fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// The program's name.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn name(&self) -> Result<String> {
        let call = &Api::PJRT_Executable_Name;
        let args = ExecutableNameArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text lives as long as the program.
        unsafe { raw::answered(call.name, args.executable_name, args.executable_name_size) }
    }

    /// A text that is the same for the same program, options and compiler.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn fingerprint(&self) -> Result<String> {
        let call = &Api::PJRT_Executable_Fingerprint;
        let args = ExecutableFingerprintArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the bytes live as long as the program.
        let bytes = unsafe { raw::bytes(args.executable_fingerprint, args.executable_fingerprint_size) };
        let bytes = bytes.ok_or_else(|| Error::answer(call.name, "it is null"))?;
        // Some plug-ins answer with bytes that are not text.
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains(char::is_control) => text.to_owned(),
            _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// What the program takes in memory.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn memory(&self) -> Result<MemoryStats> {
        let args = ExecutableGetCompiledMemoryStatsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(&Api::PJRT_Executable_GetCompiledMemoryStats, args) }?;
        Ok(MemoryStats::new(&args))
    }

    /// What the compiler expects the program to cost, such as `flops` and `bytes accessed`. Which properties there are is the
    /// plug-in's matter.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn cost(&self) -> Result<Properties> {
        let call = &Api::PJRT_Executable_GetCostAnalysis;
        let args = ExecutableGetCostAnalysisArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the properties live as long as the program.
        unsafe { properties(call.name, args.properties, args.num_properties) }
    }

    /// The message of the optimized program: `HloModuleProtoWithConfig`, or another form of HLO.
    ///
    /// # Errors
    /// If the plug-in does not give it.
    pub fn optimized(&self) -> Result<Arc<[u8]>> {
        if let Some(bytes) = self.inner.optimized.get() {
            return Ok(Arc::clone(bytes));
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
            // SAFETY: the program is not destroyed before `self`; what is filled is there, and `code` is null or has room for
            // `code_size` bytes.
            unsafe { self.plugin().functions().call(call, args) }?;
            // SAFETY: the text lives as long as the program.
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
        Ok(Arc::clone(self.inner.optimized.get_or_init(|| bytes.into())))
    }

    /// The optimized program, with the layouts and memory spaces that the compiler chose.
    ///
    /// # Errors
    /// If the plug-in does not give it, or it cannot be read.
    pub fn module(&self) -> Result<Module<'static>> {
        Ok(Module::from_proto(&self.optimized()?)?)
    }

    /// The shapes of the parameters on each device, with the layouts that the compiler chose.
    ///
    /// # Errors
    /// If the plug-in does not give the optimized program, or says something else of its layouts.
    pub fn inputs(&self) -> Result<Vec<Shape>> {
        self.inputs_of(&self.module()?)
    }

    /// The same with a module that was [read](Self::module) before.
    pub(crate) fn inputs_of(&self, module: &Module<'_>) -> Result<Vec<Shape>> {
        let call = &Api::PJRT_Executable_OptimizedProgram;
        let entry = module.entry().ok_or_else(|| Error::answer(call.name, "the module has no entry"))?;
        let shapes = entry.parameters_by_number().into_iter().map(|(_, made)| made.shape().clone()).collect();
        with_layouts(
            shapes,
            self.input_layouts()?,
            LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetParameterLayouts.name,
        )
    }

    /// The shapes of the results on each device, with the layouts that the compiler chose.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn outputs(&self) -> Result<Vec<Shape>> {
        match self.module() {
            Ok(module) => self.outputs_of(&module),
            Err(Error::MissingCall { .. }) => self.described_outputs(),
            Err(error) => Err(error),
        }
    }

    /// The same with a module that was [read](Self::module) before.
    pub(crate) fn outputs_of(&self, module: &Module<'_>) -> Result<Vec<Shape>> {
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

    /// The results by their element types, sizes and layouts, of a plug-in that does not give the optimized program.
    fn described_outputs(&self) -> Result<Vec<Shape>> {
        let call = &Api::PJRT_Executable_OutputElementTypes;
        let null = |call| move || Error::answer(call, "a list is null");
        let args = ExecutableOutputElementTypesArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the list lives as long as the program.
        let types = unsafe { raw::list(args.output_types.cast_const(), args.num_output_types) };
        let types = types.ok_or_else(null(call.name))?;
        let call = &Api::PJRT_Executable_OutputDimensions;
        let args = ExecutableOutputDimensionsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the list lives as long as the program.
        let counts = unsafe { raw::list(args.dim_sizes, args.num_outputs) }.ok_or_else(null(call.name))?;
        let all = counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count)).ok_or_else(null(call.name))?;
        // SAFETY: the list has as many numbers as the others say together.
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

    /// The layouts of the parameters; `None` if the plug-in does not say.
    fn input_layouts(&self) -> Result<Option<Vec<Layout>>> {
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetParameterLayouts;
        let args = LayoutsExecutableGetParameterLayoutsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call_layouts(call, args) };
        let Some(args) = known(args)? else { return Ok(None) };
        // SAFETY: the list and its layouts live as long as the program.
        unsafe { self.layouts(call.name, args.layouts, args.num_parameters) }.map(Some)
    }

    /// The layouts of the results; `None` if the plug-in does not say.
    fn output_layouts(&self) -> Result<Option<Vec<Layout>>> {
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Executable_GetOutputLayouts;
        let args = LayoutsExecutableGetOutputLayoutsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call_layouts(call, args) };
        let Some(args) = known(args)? else { return Ok(None) };
        // SAFETY: the list and its layouts live as long as the program.
        unsafe { self.layouts(call.name, args.layouts, args.num_outputs) }.map(Some)
    }

    /// # Safety
    /// If `layouts` is not null, it points to `len` layouts that live as long as the program.
    unsafe fn layouts(&self, call: &'static str, layouts: *const *mut RawLayout, len: usize) -> Result<Vec<Layout>> {
        // SAFETY: the caller's promise.
        let layouts = unsafe { raw::list(layouts, len) };
        let layouts = layouts.ok_or_else(|| Error::answer(call, "the list of layouts is null"))?;
        // SAFETY: the caller's promise.
        layouts.iter().map(|&layout| unsafe { layout::read(self.plugin(), call, layout) }).collect()
    }

    /// How the parameters are divided among devices; `None` if the plug-in does not say.
    ///
    /// # Errors
    /// If what the plug-in says cannot be read.
    pub fn input_shardings(&self) -> Result<Option<Vec<Sharding>>> {
        let call = &ShardingsExtension::PJRT_Shardings_PJRT_Executable_ParameterShardings;
        let args = ShardingsExecutableParameterShardingsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call_shardings(call, args) };
        let Some(args) = known(args)? else { return Ok(None) };
        // SAFETY: the lists and what they point to live as long as the program.
        unsafe { shardings(call.name, args.shardings, args.sharding_sizes, args.num_parameters) }
    }

    /// How the results are divided among devices; `None` if the plug-in does not say.
    ///
    /// # Errors
    /// If what the plug-in says cannot be read.
    pub fn output_shardings(&self) -> Result<Option<Vec<Sharding>>> {
        let call = &ShardingsExtension::PJRT_Shardings_PJRT_Executable_OutputShardings;
        let args = ShardingsExecutableOutputShardingsArgs { executable: self.raw(), ..Default::default() };
        // SAFETY: the program is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call_shardings(call, args) };
        let Some(args) = known(args)? else { return Ok(None) };
        // SAFETY: the lists and what they point to live as long as the program.
        unsafe { shardings(call.name, args.shardings, args.sharding_sizes, args.num_outputs) }
    }
}

/// `None` if the plug-in does not have the call.
fn known<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::MissingCall { .. } | Error::MissingExtension { .. }) => Ok(None),
        Err(Error::Plugin { error, .. }) if error.code == crate::ErrorCode::Unimplemented => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives the arrays of shapes the layouts that a plug-in lists, one for each array.
fn with_layouts(shapes: Vec<Shape>, layouts: Option<Vec<Layout>>, call: &'static str) -> Result<Vec<Shape>> {
    let Some(layouts) = layouts else { return Ok(shapes) };
    // Where the two sides count otherwise, as with tuples in tuples, the module has the layouts, too.
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

/// # Safety
/// If they are not null, the first two point to `len` texts and their lengths, which nobody changes during the call.
unsafe fn shardings(
    call: &'static str,
    texts: *const *const c_char,
    sizes: *const usize,
    len: usize,
) -> Result<Option<Vec<Sharding>>> {
    // This is how the interface says that nothing is known.
    if texts.is_null() || sizes.is_null() {
        return Ok(None);
    }
    let null = || Error::answer(call, "a list is null");
    // SAFETY: the caller's promise.
    let texts = unsafe { raw::list(texts, len) }.ok_or_else(null)?;
    // SAFETY: the caller's promise.
    let sizes = unsafe { raw::list(sizes, len) }.ok_or_else(null)?;
    let mut shardings = Vec::new();
    for (&text, &size) in texts.iter().zip(sizes) {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes(text, size) }.ok_or_else(null)?;
        shardings.push(decode_sharding(bytes).map_err(|error| Error::answer(call, error))?);
    }
    Ok(Some(shardings))
}
