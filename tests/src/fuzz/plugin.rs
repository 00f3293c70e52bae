//! A PJRT plug-in whose results are made of arbitrary bytes: numbers, texts, lists, null pointers, errors.
//!
//! It keeps the one promise that a caller cannot check: pointers that are not null are valid for the length that it states.

use std::any::Any;
use std::ffi::{c_char, c_int};
use std::fmt::Debug;
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use xla_shape::hlo::Module;
use xla_shape::proto::encode_sharding;
use xla_shape::shard::Sharding;
use xla_shape::{DynBuffer, ElementType, Layout};
use xla_shape_pjrt::abi::*;
use xla_shape_pjrt::{Client, CompileOptions, Error, Plugin, Program, Result};

/// The rest of the bytes, and everything that was handed out, which is kept until the next run.
#[derive(Default)]
struct Answers {
    bytes: Vec<u8>,
    next: usize,
    kept: Vec<Box<dyn Any + Send>>,
}

static ANSWERS: Mutex<Answers> = Mutex::new(Answers { bytes: Vec::new(), next: 0, kept: Vec::new() });

fn answers() -> MutexGuard<'static, Answers> {
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text and its length, or a list and its length.
type Span<T> = (*const T, usize);

impl Answers {
    /// The next byte; 0 if there are no more.
    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        byte
    }

    fn number(&mut self) -> i64 {
        const ODD: &[i64] = &[-1, i64::MIN, i64::MAX, 1 << 32, u32::MAX as i64, 1 << 31, 1 << 62, 1 << 20];
        match self.byte() {
            byte @ 0..128 => byte.into(),
            byte => ODD[usize::from(byte) % ODD.len()],
        }
    }

    fn keep<T: Send + 'static>(&mut self, values: Vec<T>) -> Span<T> {
        let values = values.into_boxed_slice();
        let span = (values.as_ptr(), values.len());
        self.kept.push(Box::new(values));
        span
    }

    /// A list; or null, also with a length.
    fn list<T: Send + 'static>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Span<T> {
        match self.byte() {
            255 => (null(), self.byte().into()),
            254 => (null(), usize::MAX),
            len => {
                let items = (0..len % 8).map(|_| item(self)).collect();
                self.keep(items)
            }
        }
    }

    /// A text made of the input's bytes, or one that real plug-ins return.
    fn text(&mut self) -> (*const c_char, usize) {
        let (data, len) = match self.byte() {
            255 => (null(), self.byte().into()),
            254 => (null(), usize::MAX),
            byte @ 200.. => {
                let known = known();
                self.keep(known[usize::from(byte) % known.len()].clone())
            }
            len => {
                let start = self.next.min(self.bytes.len());
                // 199 stands for all remaining bytes, because a message is longer than a byte can express.
                let len = if len == 199 { self.bytes.len() } else { usize::from(len) };
                let text = self.bytes[start..].iter().copied().take(len).collect::<Vec<_>>();
                self.next += text.len();
                self.keep(text)
            }
        };
        (data.cast(), len)
    }

    /// A pointer to an object whose contents are never read; or null.
    fn object<T>(&mut self) -> *mut T {
        without_provenance_mut(if self.byte() == 255 { 0 } else { 64 })
    }

    /// An error, now and then.
    fn error(&mut self) -> *mut RawError {
        without_provenance_mut(if self.byte() > 240 { 64 } else { 0 })
    }

    fn properties(&mut self) -> Span<NamedValue> {
        let property = |answers: &mut Self| {
            let name = answers.text();
            let mut property = NamedValue { name: name.0, name_size: name.1, ..Default::default() };
            property.r#type = c_int::from(answers.byte() % 7);
            (property.value, property.value_size) = match property.r#type {
                named_value::STRING => {
                    let text = answers.text();
                    (NamedValueContent { string_value: text.0 }, text.1)
                }
                named_value::INT64_LIST => {
                    let list = answers.list(Self::number);
                    (NamedValueContent { int64_array_value: list.0 }, list.1)
                }
                _ => (NamedValueContent { int64_value: answers.number() }, 1),
            };
            Sent(property)
        };
        let (data, len) = self.list(property);
        // The pointer is null, or points to `len` properties.
        (data.cast(), len)
    }
}

/// Pointers into memory that is kept.
#[repr(transparent)]
struct Sent<T>(T);

// SAFETY: the memory behind the pointers is kept, and nothing writes it.
unsafe impl<T> Send for Sent<T> {}

/// Meaningful answers: messages, layouts, and names of formats.
fn known() -> &'static [Vec<u8>] {
    static KNOWN: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let module = Module::parse(super::dump::MODULE).expect("a module");
        let sharding = "{devices=[2,1]<=[2]}".parse::<Sharding>().expect("a sharding");
        let texts = ["{1,0:T(8,128)}", "{1,0}", "{0}", "{}", "hlo", "hlo_with_config", "\u{e9}\0"];
        let texts = texts.map(|text| text.as_bytes().to_vec());
        [vec![module.to_proto().expect("a message"), encode_sharding(&sharding)], texts.to_vec()].concat()
    })
}

macro_rules! calls {
    ($($name:ident($args:ident: $kind:ty, $answers:ident) $body:block)*) => { $(
        unsafe extern "C" fn $name(args: *mut $kind) -> *mut RawError {
            let $answers = &mut *answers();
            // SAFETY: the interface passes arguments of this type.
            let $args = unsafe { &mut *args };
            $body
            $answers.error()
        }
    )* };
}

calls! {
    error_code(args: ErrorGetCodeArgs, answers) { args.code = answers.number() as c_int; }
    initialize(_args: PluginInitializeArgs, answers) {}
    attributes(args: PluginAttributesArgs, answers) {
        (args.attributes, args.num_attributes) = answers.properties();
    }
    event_destroy(_args: EventDestroyArgs, answers) {}
    event_await(_args: EventAwaitArgs, answers) {}
    client_create(args: ClientCreateArgs, answers) { args.client = answers.object(); }
    client_destroy(_args: ClientDestroyArgs, answers) {}
    client_name(args: ClientPlatformNameArgs, answers) {
        (args.platform_name, args.platform_name_size) = answers.text();
    }
    client_version(args: ClientPlatformVersionArgs, answers) {
        (args.platform_version, args.platform_version_size) = answers.text();
    }
    client_devices(args: ClientAddressableDevicesArgs, answers) {
        let list = answers.list(|answers| Sent(answers.object::<RawDevice>()));
        (args.addressable_devices, args.num_addressable_devices) = (list.0.cast(), list.1);
    }
    from_host(args: ClientBufferFromHostBufferArgs, answers) {
        (args.buffer, args.done_with_host_buffer) = (answers.object(), answers.object());
    }
    device_id(args: DeviceDescriptionIdArgs, answers) { args.id = answers.number() as c_int; }
    device_kind(args: DeviceDescriptionKindArgs, answers) {
        (args.device_kind, args.device_kind_size) = answers.text();
    }
    device_text(args: DeviceDescriptionToStringArgs, answers) {
        (args.to_string, args.to_string_size) = answers.text();
    }
    device_description(args: DeviceGetDescriptionArgs, answers) { args.device_description = answers.object(); }
    executable_destroy(_args: ExecutableDestroyArgs, answers) {}
    executable_name(args: ExecutableNameArgs, answers) {
        (args.executable_name, args.executable_name_size) = answers.text();
    }
    cost(args: ExecutableGetCostAnalysisArgs, answers) {
        (args.properties, args.num_properties) = answers.properties();
    }
    optimized(args: ExecutableOptimizedProgramArgs, answers) {
        // SAFETY: the interface passes a program to fill.
        let program = unsafe { &mut *args.program };
        (program.format, program.format_size) = answers.text();
        let (code, len) = answers.text();
        if program.code.is_null() || code.is_null() {
            // At most 1 MiB, because the caller allocates and writes that many bytes; `usize::MAX` makes its allocation fail.
            program.code_size = if len == usize::MAX { len } else { len.min(1 << 20) };
        } else {
            // SAFETY: the length is at most that of the code, and at most `code_size`, for which the caller has room.
            unsafe { code.copy_to_nonoverlapping(program.code, len.min(program.code_size)) };
            program.code_size = len;
        }
    }
    output_types(args: ExecutableOutputElementTypesArgs, answers) {
        let list = answers.list(|answers| answers.number() as c_int);
        (args.output_types, args.num_output_types) = (list.0.cast_mut(), list.1);
    }
    output_sizes(args: ExecutableOutputDimensionsArgs, answers) {
        let sizes = answers.list(Answers::number);
        // The counts of all results together are at most the number of sizes.
        let mut left = if sizes.0.is_null() { 0 } else { sizes.1 };
        let counts = answers.list(|answers| {
            let count = left.min(answers.byte().into());
            left -= count;
            count
        });
        (args.dims, args.dim_sizes, args.num_outputs) = (sizes.0, counts.0, counts.1);
    }
    fingerprint(args: ExecutableFingerprintArgs, answers) {
        (args.executable_fingerprint, args.executable_fingerprint_size) = answers.text();
    }
    memory(args: ExecutableGetCompiledMemoryStatsArgs, answers) {
        args.generated_code_size_in_bytes = answers.number();
        args.argument_size_in_bytes = answers.number();
        args.output_size_in_bytes = answers.number();
        args.alias_size_in_bytes = answers.number();
        args.temp_size_in_bytes = answers.number();
        args.host_temp_size_in_bytes = answers.number();
        args.peak_memory_in_bytes = answers.number();
        args.total_size_in_bytes = answers.number();
    }
    buffer_destroy(_args: BufferDestroyArgs, answers) {}
    buffer_type(args: BufferElementTypeArgs, answers) { args.r#type = answers.number() as c_int; }
    buffer_sizes(args: BufferDimensionsArgs, answers) {
        // Sizes are small or impossible, because the caller allocates and writes the array if it can.
        let size = |answers: &mut Answers| match answers.byte() {
            byte @ 0..250 => i64::from(byte % 8),
            byte => [-1, i64::MIN, i64::MAX][usize::from(byte % 3)],
        };
        (args.dims, args.num_dims) = answers.list(size);
    }
    buffer_bytes(args: BufferOnDeviceSizeArgs, answers) { args.on_device_size_in_bytes = answers.number() as usize; }
    to_host(args: BufferToHostBufferArgs, answers) {
        let size = answers.number() as usize;
        if args.dst.is_null() {
            args.dst_size = size;
        } else {
            // SAFETY: the interface guarantees that `dst` has room for `dst_size` bytes.
            unsafe { args.dst.cast::<u8>().write_bytes(0x5a, size.min(args.dst_size)) };
        }
        args.event = answers.object();
    }
    ready(args: BufferReadyEventArgs, answers) { args.event = answers.object(); }
    topology_create(args: TopologyDescriptionCreateArgs, answers) { args.topology = answers.object(); }
    topology_destroy(_args: TopologyDescriptionDestroyArgs, answers) {}
    topology_name(args: TopologyDescriptionPlatformNameArgs, answers) {
        (args.platform_name, args.platform_name_size) = answers.text();
    }
    topology_version(args: TopologyDescriptionPlatformVersionArgs, answers) {
        (args.platform_version, args.platform_version_size) = answers.text();
    }
    topology_devices(args: TopologyDescriptionGetDeviceDescriptionsArgs, answers) {
        let list = answers.list(|answers| Sent(answers.object::<RawDeviceDescription>()));
        (args.descriptions, args.num_descriptions) = (list.0.cast(), list.1);
    }
    compile(args: CompileArgs, answers) { args.executable = answers.object(); }
    layout_destroy(_args: LayoutsMemoryLayoutDestroyArgs, answers) {}
    layout_text(args: LayoutsMemoryLayoutSerializeArgs, answers) {
        (args.serialized_bytes, args.serialized_bytes_size) = answers.text();
        args.serialized_layout_deleter = (answers.byte() > 100).then_some(delete);
    }
    buffer_layout(args: LayoutsBufferMemoryLayoutArgs, answers) { args.layout = answers.object(); }
    default_layout(args: LayoutsTopologyGetDefaultLayoutArgs, answers) { args.layout = answers.object(); }
    output_layouts(args: LayoutsExecutableGetOutputLayoutsArgs, answers) {
        let list = answers.list(|answers| Sent(answers.object::<RawLayout>()));
        (args.layouts, args.num_outputs) = (list.0.cast(), list.1);
    }
    parameter_layouts(args: LayoutsExecutableGetParameterLayoutsArgs, answers) {
        let list = answers.list(|answers| Sent(answers.object::<RawLayout>()));
        (args.layouts, args.num_parameters) = (list.0.cast(), list.1);
    }
    parameter_shardings(args: ShardingsExecutableParameterShardingsArgs, answers) {
        (args.shardings, args.sharding_sizes, args.num_parameters) = texts(answers);
    }
    output_shardings(args: ShardingsExecutableOutputShardingsArgs, answers) {
        (args.shardings, args.sharding_sizes, args.num_outputs) = texts(answers);
    }
}

unsafe extern "C" fn error_destroy(_: *mut ErrorDestroyArgs) {}

unsafe extern "C" fn error_message(args: *mut ErrorMessageArgs) {
    // SAFETY: the interface passes arguments of this type.
    let args = unsafe { &mut *args };
    (args.message, args.message_size) = answers().text();
}

unsafe extern "C" fn delete(_: *mut RawSerializedLayout) {}

fn texts(answers: &mut Answers) -> (*const *const c_char, *const usize, usize) {
    let texts = (0..answers.byte() % 6).map(|_| answers.text()).collect::<Vec<_>>();
    let (data, sizes) = texts.into_iter().map(|(data, len)| (Sent(data), len)).unzip();
    let (data, sizes) = (answers.keep(data), answers.keep(sizes));
    (data.0.cast(), sizes.0, sizes.1)
}

/// The plug-in's table.
fn table() -> *const Api {
    static TABLE: OnceLock<usize> = OnceLock::new();
    let address = TABLE.get_or_init(|| {
        let head = |kind, size, next| ExtensionBase { struct_size: size, kind, next };
        let mut shardings = ShardingsExtension::empty(head(SHARDINGS_EXTENSION, ShardingsExtension::SIZE, null_mut()));
        shardings.PJRT_Shardings_PJRT_Executable_ParameterShardings = Some(parameter_shardings);
        shardings.PJRT_Shardings_PJRT_Executable_OutputShardings = Some(output_shardings);
        let next = (&raw mut *Box::leak(Box::new(shardings))).cast();
        let mut layouts = LayoutsExtension::empty(head(LAYOUTS_EXTENSION, LayoutsExtension::SIZE, next));
        layouts.PJRT_Layouts_MemoryLayout_Destroy = Some(layout_destroy);
        layouts.PJRT_Layouts_MemoryLayout_Serialize = Some(layout_text);
        layouts.PJRT_Layouts_PJRT_Buffer_MemoryLayout = Some(buffer_layout);
        layouts.PJRT_Layouts_PJRT_Topology_GetDefaultLayout = Some(default_layout);
        layouts.PJRT_Layouts_PJRT_Executable_GetOutputLayouts = Some(output_layouts);
        layouts.PJRT_Layouts_PJRT_Executable_GetParameterLayouts = Some(parameter_layouts);
        let next = (&raw mut *Box::leak(Box::new(layouts))).cast();
        let version = ApiVersion { major_version: API_MAJOR, minor_version: API_MINOR, ..ApiVersion::default() };
        let mut api = Api::empty(Api::SIZE, next, version);
        api.PJRT_Error_Destroy = Some(error_destroy);
        api.PJRT_Error_Message = Some(error_message);
        api.PJRT_Error_GetCode = Some(error_code);
        api.PJRT_Plugin_Initialize = Some(initialize);
        api.PJRT_Plugin_Attributes = Some(attributes);
        api.PJRT_Event_Destroy = Some(event_destroy);
        api.PJRT_Event_Await = Some(event_await);
        api.PJRT_Client_Create = Some(client_create);
        api.PJRT_Client_Destroy = Some(client_destroy);
        api.PJRT_Client_PlatformName = Some(client_name);
        api.PJRT_Client_PlatformVersion = Some(client_version);
        api.PJRT_Client_AddressableDevices = Some(client_devices);
        api.PJRT_Client_BufferFromHostBuffer = Some(from_host);
        api.PJRT_DeviceDescription_Id = Some(device_id);
        api.PJRT_DeviceDescription_Kind = Some(device_kind);
        api.PJRT_DeviceDescription_ToString = Some(device_text);
        api.PJRT_Device_GetDescription = Some(device_description);
        api.PJRT_Executable_Destroy = Some(executable_destroy);
        api.PJRT_Executable_Name = Some(executable_name);
        api.PJRT_Executable_GetCostAnalysis = Some(cost);
        api.PJRT_Executable_OptimizedProgram = Some(optimized);
        api.PJRT_Executable_OutputElementTypes = Some(output_types);
        api.PJRT_Executable_OutputDimensions = Some(output_sizes);
        api.PJRT_Executable_Fingerprint = Some(fingerprint);
        api.PJRT_Executable_GetCompiledMemoryStats = Some(memory);
        api.PJRT_Buffer_Destroy = Some(buffer_destroy);
        api.PJRT_Buffer_ElementType = Some(buffer_type);
        api.PJRT_Buffer_Dimensions = Some(buffer_sizes);
        api.PJRT_Buffer_OnDeviceSizeInBytes = Some(buffer_bytes);
        api.PJRT_Buffer_ToHostBuffer = Some(to_host);
        api.PJRT_Buffer_ReadyEvent = Some(ready);
        api.PJRT_TopologyDescription_Create = Some(topology_create);
        api.PJRT_TopologyDescription_Destroy = Some(topology_destroy);
        api.PJRT_TopologyDescription_PlatformName = Some(topology_name);
        api.PJRT_TopologyDescription_PlatformVersion = Some(topology_version);
        api.PJRT_TopologyDescription_GetDeviceDescriptions = Some(topology_devices);
        api.PJRT_Compile = Some(compile);
        (&raw const *Box::leak(Box::new(api))).expose_provenance()
    });
    std::ptr::with_exposed_provenance(*address)
}

/// A plug-in may return anything: each answer is accepted, or refused with an error message.
///
/// # Panics
/// If one of these checks fails.
pub fn plugin(bytes: &[u8]) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    *answers() = Answers { bytes: bytes.to_vec(), ..Answers::default() };
    // SAFETY: the table is as long as it says, and lives as long as the process.
    let Ok(plugin) = said(unsafe { Plugin::from_api("any", table()) }) else { return };
    let _ = said(plugin.attributes());
    if let Ok(topology) = said(plugin.topology_named("any")) {
        let _ = (said(topology.platform_name()), said(topology.platform_version()), said(topology.devices()));
        let _ = said(topology.default_layout(ElementType::F32, &[2, 3]));
        let program = Program::from_mlir(b"module {}");
        if let Ok(compiled) = said(topology.compile(&program, &CompileOptions::new())) {
            let _ = (said(compiled.name()), said(compiled.fingerprint()), said(compiled.cost()));
            if let Ok(memory) = said(compiled.memory()) {
                let _ = (memory.device.total(), memory.host.total());
            }
            let _ = (said(compiled.module()), said(compiled.inputs()), said(compiled.outputs()));
            let _ = (said(compiled.input_shardings()), said(compiled.output_shardings()));
        }
    }
    if let Ok(client) = said(Client::new(&plugin)) {
        let _ = (said(client.platform_name()), said(client.platform_version()));
        let devices = said(client.devices()).unwrap_or_default();
        let shape = "f32[2,3]{1,0:T(2,2)}".parse().expect("an array");
        let array = DynBuffer::zeroed_with(shape).expect("a small array");
        if let Some(Ok(buffer)) = devices.first().map(|device| said(device.put(&array.view(), None))) {
            let _ = (said(buffer.byte_size()), said(buffer.wait()), said(buffer.shape()));
            for layout in ["{0,1:T(2,4)}", "{0}", "{1,0}"] {
                let _ = said(buffer.to_host(&layout.parse::<Layout>().expect("a layout")));
            }
        }
    }
}

/// The answer. An error must have a message.
fn said<T: Debug>(answer: Result<T>) -> std::result::Result<T, Error> {
    answer.inspect_err(|error| assert!(!error.to_string().is_empty()))
}
