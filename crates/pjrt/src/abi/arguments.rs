//! The argument structs of calls.

use super::macros::structs;
use super::{Arguments, ExtensionBase};
use std::ffi::{c_char, c_int, c_void};
use std::fmt;

macro_rules! opaque {
    ($($name:ident $doc:literal;)*) => { $(
        #[doc = $doc]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )* };
}

opaque! {
    RawError "An error; created and destroyed by the plug-in.";
    RawEvent "An event that the plug-in will signal.";
    RawClient "The opened devices of this machine.";
    RawDevice "A device of a client.";
    RawDeviceDescription "A device, whether or not this machine has it.";
    RawMemory "A memory of a device.";
    RawTopology "Devices and their connections, whether or not this machine has them.";
    RawExecutable "A compiled program.";
    RawBuffer "An array in the memory of a device.";
    RawLayout "A layout.";
    RawSerializedLayout "The owner of a layout's text.";
}

/// The kinds of [`NamedValueContent`].
pub mod named_value {
    use std::ffi::c_int;

    /// A text of `value_size` bytes.
    pub const STRING: c_int = 0;
    /// An integer.
    pub const INT64: c_int = 1;
    /// A list of `value_size` integers.
    pub const INT64_LIST: c_int = 2;
    /// A floating-point number.
    pub const FLOAT: c_int = 3;
    /// A truth value.
    pub const BOOL: c_int = 4;
}

/// The value of a [`NamedValue`]; its `type` says which field it is.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the fields are the header's, which says what they are")]
pub union NamedValueContent {
    pub string_value: *const c_char,
    pub int64_value: i64,
    pub int64_array_value: *const i64,
    pub float_value: f32,
    pub bool_value: bool,
}

impl Default for NamedValueContent {
    fn default() -> Self {
        Self { int64_value: 0 }
    }
}

impl fmt::Debug for NamedValueContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedValueContent")
    }
}

/// The `host_buffer_semantics` with which the plug-in reads the data only until the call returns.
pub const IMMUTABLE_ONLY_DURING_CALL: c_int = 0;

/// `type` of a [`BufferMemoryLayout`] with tiles.
pub const TILED: c_int = 0;

structs! {
    /// The version of a plug-in.
    ApiVersion = "PJRT_Api_Version" {
        major_version: c_int,
        minor_version: c_int,
    }

    /// The arguments of `PJRT_Error_Destroy`.
    ErrorDestroyArgs = "PJRT_Error_Destroy_Args" {
        error: *mut RawError,
    }

    /// The arguments of `PJRT_Error_Message`.
    ErrorMessageArgs = "PJRT_Error_Message_Args" {
        error: *const RawError,
        message: *const c_char,
        message_size: usize,
    }

    /// The arguments of `PJRT_Error_GetCode`.
    ErrorGetCodeArgs = "PJRT_Error_GetCode_Args" {
        error: *const RawError,
        code: c_int,
    }

    /// A property with a name.
    NamedValue = "PJRT_NamedValue" {
        name: *const c_char,
        name_size: usize,
        r#type: c_int,
        value: NamedValueContent,
        value_size: usize,
    }

    /// The arguments of `PJRT_Plugin_Initialize`.
    PluginInitializeArgs = "PJRT_Plugin_Initialize_Args" {}

    /// The arguments of `PJRT_Plugin_Attributes`.
    PluginAttributesArgs = "PJRT_Plugin_Attributes_Args" {
        attributes: *const NamedValue,
        num_attributes: usize,
    }

    /// The arguments of `PJRT_Event_Destroy`.
    EventDestroyArgs = "PJRT_Event_Destroy_Args" {
        event: *mut RawEvent,
    }

    /// The arguments of `PJRT_Event_Await`.
    EventAwaitArgs = "PJRT_Event_Await_Args" {
        event: *mut RawEvent,
    }

    /// The arguments of `PJRT_Client_Create`.
    ClientCreateArgs = "PJRT_Client_Create_Args" {
        create_options: *const NamedValue,
        num_options: usize,
        kv_get_callback: *const c_void,
        kv_get_user_arg: *mut c_void,
        kv_put_callback: *const c_void,
        kv_put_user_arg: *mut c_void,
        client: *mut RawClient,
        kv_try_get_callback: *const c_void,
        kv_try_get_user_arg: *mut c_void,
    }

    /// The arguments of `PJRT_Client_Destroy`.
    ClientDestroyArgs = "PJRT_Client_Destroy_Args" {
        client: *mut RawClient,
    }

    /// The arguments of `PJRT_Client_PlatformName`.
    ClientPlatformNameArgs = "PJRT_Client_PlatformName_Args" {
        client: *mut RawClient,
        platform_name: *const c_char,
        platform_name_size: usize,
    }

    /// The arguments of `PJRT_Client_PlatformVersion`.
    ClientPlatformVersionArgs = "PJRT_Client_PlatformVersion_Args" {
        client: *mut RawClient,
        platform_version: *const c_char,
        platform_version_size: usize,
    }

    /// The arguments of `PJRT_Client_AddressableDevices`.
    ClientAddressableDevicesArgs = "PJRT_Client_AddressableDevices_Args" {
        client: *mut RawClient,
        addressable_devices: *const *mut RawDevice,
        num_addressable_devices: usize,
    }

    /// The arguments of `PJRT_Client_BufferFromHostBuffer`.
    ClientBufferFromHostBufferArgs = "PJRT_Client_BufferFromHostBuffer_Args" {
        client: *mut RawClient,
        data: *const c_void,
        r#type: c_int,
        dims: *const i64,
        num_dims: usize,
        byte_strides: *const i64,
        num_byte_strides: usize,
        host_buffer_semantics: c_int,
        device: *mut RawDevice,
        memory: *mut RawMemory,
        device_layout: *mut BufferMemoryLayout,
        done_with_host_buffer: *mut RawEvent,
        buffer: *mut RawBuffer,
    }

    /// A layout: an order of dimensions, and tiles.
    BufferMemoryLayoutTiled = "PJRT_Buffer_MemoryLayout_Tiled" {
        minor_to_major: *const i64,
        minor_to_major_size: usize,
        tile_dims: *const i64,
        tile_dim_sizes: *const usize,
        num_tiles: usize,
    }

    /// A layout, with tiles (`type` 0). A layout given by strides (`type` 1) has two fields in the place of
    /// `minor_to_major` and `minor_to_major_size`.
    BufferMemoryLayout = "PJRT_Buffer_MemoryLayout" {
        tiled: BufferMemoryLayoutTiled,
        r#type: c_int,
    }

    /// The arguments of `PJRT_DeviceDescription_Id`.
    DeviceDescriptionIdArgs = "PJRT_DeviceDescription_Id_Args" {
        device_description: *mut RawDeviceDescription,
        id: c_int,
    }

    /// The arguments of `PJRT_DeviceDescription_Kind`.
    DeviceDescriptionKindArgs = "PJRT_DeviceDescription_Kind_Args" {
        device_description: *mut RawDeviceDescription,
        device_kind: *const c_char,
        device_kind_size: usize,
    }

    /// The arguments of `PJRT_DeviceDescription_ToString`.
    DeviceDescriptionToStringArgs = "PJRT_DeviceDescription_ToString_Args" {
        device_description: *mut RawDeviceDescription,
        to_string: *const c_char,
        to_string_size: usize,
    }

    /// The arguments of `PJRT_Device_GetDescription`.
    DeviceGetDescriptionArgs = "PJRT_Device_GetDescription_Args" {
        device: *mut RawDevice,
        device_description: *mut RawDeviceDescription,
    }

    /// The arguments of `PJRT_Executable_Destroy`.
    ExecutableDestroyArgs = "PJRT_Executable_Destroy_Args" {
        executable: *mut RawExecutable,
    }

    /// The arguments of `PJRT_Executable_Name`.
    ExecutableNameArgs = "PJRT_Executable_Name_Args" {
        executable: *mut RawExecutable,
        executable_name: *const c_char,
        executable_name_size: usize,
    }

    /// The arguments of `PJRT_Executable_GetCostAnalysis`.
    ExecutableGetCostAnalysisArgs = "PJRT_Executable_GetCostAnalysis_Args" {
        executable: *mut RawExecutable,
        num_properties: usize,
        properties: *const NamedValue,
    }

    /// The arguments of `PJRT_Executable_OptimizedProgram`.
    ExecutableOptimizedProgramArgs = "PJRT_Executable_OptimizedProgram_Args" {
        executable: *mut RawExecutable,
        program: *mut ProgramArgs,
    }

    /// The arguments of `PJRT_Executable_OutputElementTypes`.
    ExecutableOutputElementTypesArgs = "PJRT_Executable_OutputElementTypes_Args" {
        executable: *mut RawExecutable,
        output_types: *mut c_int,
        num_output_types: usize,
    }

    /// The arguments of `PJRT_Executable_OutputDimensions`.
    ExecutableOutputDimensionsArgs = "PJRT_Executable_OutputDimensions_Args" {
        executable: *mut RawExecutable,
        num_outputs: usize,
        dims: *const i64,
        dim_sizes: *const usize,
    }

    /// The arguments of `PJRT_Executable_Fingerprint`.
    ExecutableFingerprintArgs = "PJRT_Executable_Fingerprint_Args" {
        executable: *mut RawExecutable,
        executable_fingerprint: *const c_char,
        executable_fingerprint_size: usize,
    }

    /// The arguments of `PJRT_Executable_GetCompiledMemoryStats`.
    ExecutableGetCompiledMemoryStatsArgs = "PJRT_Executable_GetCompiledMemoryStats_Args" {
        executable: *mut RawExecutable,
        generated_code_size_in_bytes: i64,
        argument_size_in_bytes: i64,
        output_size_in_bytes: i64,
        alias_size_in_bytes: i64,
        temp_size_in_bytes: i64,
        host_generated_code_size_in_bytes: i64,
        host_argument_size_in_bytes: i64,
        host_output_size_in_bytes: i64,
        host_alias_size_in_bytes: i64,
        host_temp_size_in_bytes: i64,
        peak_memory_in_bytes: i64,
        total_size_in_bytes: i64,
        total_allocation_bytes: i64,
        indefinite_allocations: i64,
        peak_unpadded_heap_bytes: i64,
    }

    /// The arguments of `PJRT_Buffer_Destroy`.
    BufferDestroyArgs = "PJRT_Buffer_Destroy_Args" {
        buffer: *mut RawBuffer,
    }

    /// The arguments of `PJRT_Buffer_ElementType`.
    BufferElementTypeArgs = "PJRT_Buffer_ElementType_Args" {
        buffer: *mut RawBuffer,
        r#type: c_int,
    }

    /// The arguments of `PJRT_Buffer_Dimensions`.
    BufferDimensionsArgs = "PJRT_Buffer_Dimensions_Args" {
        buffer: *mut RawBuffer,
        dims: *const i64,
        num_dims: usize,
    }

    /// The arguments of `PJRT_Buffer_OnDeviceSizeInBytes`.
    BufferOnDeviceSizeArgs = "PJRT_Buffer_OnDeviceSizeInBytes_Args" {
        buffer: *mut RawBuffer,
        on_device_size_in_bytes: usize,
    }

    /// The arguments of `PJRT_Buffer_ToHostBuffer`.
    BufferToHostBufferArgs = "PJRT_Buffer_ToHostBuffer_Args" {
        src: *mut RawBuffer,
        host_layout: *mut BufferMemoryLayout,
        dst: *mut c_void,
        dst_size: usize,
        event: *mut RawEvent,
    }

    /// The arguments of `PJRT_Buffer_ReadyEvent`.
    BufferReadyEventArgs = "PJRT_Buffer_ReadyEvent_Args" {
        buffer: *mut RawBuffer,
        event: *mut RawEvent,
    }

    /// The arguments of `PJRT_TopologyDescription_Create`.
    TopologyDescriptionCreateArgs = "PJRT_TopologyDescription_Create_Args" {
        topology_name: *const c_char,
        topology_name_size: usize,
        create_options: *const NamedValue,
        num_options: usize,
        topology: *mut RawTopology,
    }

    /// The arguments of `PJRT_TopologyDescription_Destroy`.
    TopologyDescriptionDestroyArgs = "PJRT_TopologyDescription_Destroy_Args" {
        topology: *mut RawTopology,
    }

    /// The arguments of `PJRT_TopologyDescription_PlatformVersion`.
    TopologyDescriptionPlatformVersionArgs = "PJRT_TopologyDescription_PlatformVersion_Args" {
        topology: *mut RawTopology,
        platform_version: *const c_char,
        platform_version_size: usize,
    }

    /// The arguments of `PJRT_TopologyDescription_PlatformName`.
    TopologyDescriptionPlatformNameArgs = "PJRT_TopologyDescription_PlatformName_Args" {
        topology: *mut RawTopology,
        platform_name: *const c_char,
        platform_name_size: usize,
    }

    /// The arguments of `PJRT_TopologyDescription_GetDeviceDescriptions`.
    TopologyDescriptionGetDeviceDescriptionsArgs = "PJRT_TopologyDescription_GetDeviceDescriptions_Args" {
        topology: *mut RawTopology,
        descriptions: *const *mut RawDeviceDescription,
        num_descriptions: usize,
    }

    /// A program: its bytes, and their format.
    ProgramArgs = "PJRT_Program" {
        code: *mut c_char,
        code_size: usize,
        format: *const c_char,
        format_size: usize,
    }

    /// The arguments of `PJRT_Compile`.
    CompileArgs = "PJRT_Compile_Args" {
        topology: *const RawTopology,
        program: *const ProgramArgs,
        compile_options: *const c_char,
        compile_options_size: usize,
        client: *mut RawClient,
        executable: *mut RawExecutable,
    }

    /// The arguments of `PJRT_Layouts_MemoryLayout_Destroy`.
    LayoutsMemoryLayoutDestroyArgs = "PJRT_Layouts_MemoryLayout_Destroy_Args" {
        layout: *mut RawLayout,
    }

    /// The arguments of `PJRT_Layouts_MemoryLayout_Serialize`.
    LayoutsMemoryLayoutSerializeArgs = "PJRT_Layouts_MemoryLayout_Serialize_Args" {
        layout: *mut RawLayout,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_layout: *mut RawSerializedLayout,
        serialized_layout_deleter: Option<unsafe extern "C" fn(*mut RawSerializedLayout)>,
    }

    /// The arguments of `PJRT_Layouts_PJRT_Buffer_MemoryLayout`.
    LayoutsBufferMemoryLayoutArgs = "PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args" {
        buffer: *mut RawBuffer,
        layout: *mut RawLayout,
    }

    /// The arguments of `PJRT_Layouts_PJRT_Topology_GetDefaultLayout`.
    LayoutsTopologyGetDefaultLayoutArgs = "PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args" {
        topology_description: *mut RawTopology,
        r#type: c_int,
        dims: *const i64,
        num_dims: usize,
        layout: *mut RawLayout,
    }

    /// The arguments of `PJRT_Layouts_PJRT_Executable_GetOutputLayouts`.
    LayoutsExecutableGetOutputLayoutsArgs = "PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args" {
        executable: *mut RawExecutable,
        num_outputs: usize,
        layouts: *const *mut RawLayout,
    }

    /// The arguments of `PJRT_Layouts_PJRT_Executable_GetParameterLayouts`.
    LayoutsExecutableGetParameterLayoutsArgs = "PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args" {
        executable: *mut RawExecutable,
        num_parameters: usize,
        layouts: *const *mut RawLayout,
    }

    /// The arguments of `PJRT_Shardings_PJRT_Executable_ParameterShardings`.
    ShardingsExecutableParameterShardingsArgs = "PJRT_Shardings_PJRT_Executable_ParameterShardings_Args" {
        executable: *mut RawExecutable,
        num_parameters: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }

    /// The arguments of `PJRT_Shardings_PJRT_Executable_OutputShardings`.
    ShardingsExecutableOutputShardingsArgs = "PJRT_Shardings_PJRT_Executable_OutputShardings_Args" {
        executable: *mut RawExecutable,
        num_outputs: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }
}
