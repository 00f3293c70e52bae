//! PJRT's C interface (`xla/pjrt/c/pjrt_c_api.h`, version 0.114, and two of its extensions): what is needed of it.
//!
//! Every struct begins with the size that its maker knew. Newer versions only append fields, functions and numbers, so a table
//! is read as far as its size says, and arguments for a plug-in that is newer than these declarations get empty room after
//! them (see [`Room`]).
//!
//! The names of structs are the header's without `PJRT_`; the fields and functions have the header's names. `abi.txt` has the
//! sizes, offsets and numbers of the header itself; a test compares what is here with it, and `scripts/pjrt_abi.py` makes it
//! anew from a header.
//!
//! This module is for those who write a plug-in, or need a call that is not wrapped; nothing in it is checked.

mod arguments;
mod macros;

pub use arguments::*;

use macros::functions;
use std::ffi::c_int;
use std::marker::PhantomData;

/// Changes when old and new sides do not understand each other.
pub const API_MAJOR: c_int = 0;
/// The version of these declarations; changes when something is appended.
pub const API_MINOR: c_int = 114;

/// Arguments of a call: a struct of the interface.
///
/// Its implementations are those of this module.
pub trait Arguments: Default {
    /// What the interface calls its struct size.
    const SIZE: usize;

    /// Says how many bytes the called side may use.
    fn set_struct_size(&mut self, size: usize);
}

/// Arguments with room after them, all 0, for the fields of newer versions.
///
/// XLA's own plug-ins refuse arguments that are smaller than those they know. All that newer versions append means "not given"
/// when it is 0.
#[repr(C)]
#[derive(Default, Debug)]
pub struct Room<A> {
    /// The arguments.
    pub args: A,
    pub(crate) spare: [u64; 8],
}

impl<A: Arguments> Room<A> {
    /// How many bytes there are with the room.
    pub const SIZE: usize = size_of::<Self>();
}

/// A function of a table: its name, and where it stands.
#[derive(Debug)]
pub(crate) struct Function<A> {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    arguments: PhantomData<fn(A)>,
}

impl<A> Function<A> {
    const fn new(name: &'static str, offset: usize) -> Self {
        Self { name, offset, arguments: PhantomData }
    }
}

/// The head of every extension.
#[repr(C)]
#[derive(Debug)]
pub struct ExtensionBase {
    /// The size of the extension with its functions.
    pub struct_size: usize,
    /// Which extension it is, such as [`LAYOUTS_EXTENSION`].
    pub kind: c_int,
    /// The next one, or null.
    pub next: *mut ExtensionBase,
}

/// [`ExtensionBase::kind`] of [`LayoutsExtension`].
pub const LAYOUTS_EXTENSION: c_int = 4;
/// [`ExtensionBase::kind`] of [`ShardingsExtension`].
pub const SHARDINGS_EXTENSION: c_int = 19;

functions! {
    /// What a plug-in offers: `GetPjrtApi()` gives it.
    Api { struct_size: usize, extension_start: *mut ExtensionBase, pjrt_api_version: ApiVersion, }
    PJRT_Error_Destroy[ErrorDestroyArgs];
    PJRT_Error_Message[ErrorMessageArgs];
    PJRT_Error_GetCode(ErrorGetCodeArgs);
    PJRT_Plugin_Initialize(PluginInitializeArgs);
    PJRT_Plugin_Attributes(PluginAttributesArgs);
    PJRT_Event_Destroy(EventDestroyArgs);
    PJRT_Event_IsReady;
    PJRT_Event_Error;
    PJRT_Event_Await(EventAwaitArgs);
    PJRT_Event_OnReady;
    PJRT_Client_Create(ClientCreateArgs);
    PJRT_Client_Destroy(ClientDestroyArgs);
    PJRT_Client_PlatformName(ClientPlatformNameArgs);
    PJRT_Client_ProcessIndex;
    PJRT_Client_PlatformVersion(ClientPlatformVersionArgs);
    PJRT_Client_Devices;
    PJRT_Client_AddressableDevices(ClientAddressableDevicesArgs);
    PJRT_Client_LookupDevice;
    PJRT_Client_LookupAddressableDevice;
    PJRT_Client_AddressableMemories;
    PJRT_Client_Compile;
    PJRT_Client_DefaultDeviceAssignment;
    PJRT_Client_BufferFromHostBuffer(ClientBufferFromHostBufferArgs);
    PJRT_DeviceDescription_Id(DeviceDescriptionIdArgs);
    PJRT_DeviceDescription_ProcessIndex;
    PJRT_DeviceDescription_Attributes;
    PJRT_DeviceDescription_Kind(DeviceDescriptionKindArgs);
    PJRT_DeviceDescription_DebugString;
    PJRT_DeviceDescription_ToString(DeviceDescriptionToStringArgs);
    PJRT_Device_GetDescription(DeviceGetDescriptionArgs);
    PJRT_Device_IsAddressable;
    PJRT_Device_LocalHardwareId;
    PJRT_Device_AddressableMemories;
    PJRT_Device_DefaultMemory;
    PJRT_Device_MemoryStats;
    PJRT_Memory_Id;
    PJRT_Memory_Kind;
    PJRT_Memory_DebugString;
    PJRT_Memory_ToString;
    PJRT_Memory_AddressableByDevices;
    PJRT_Executable_Destroy(ExecutableDestroyArgs);
    PJRT_Executable_Name(ExecutableNameArgs);
    PJRT_Executable_NumReplicas;
    PJRT_Executable_NumPartitions;
    PJRT_Executable_NumOutputs;
    PJRT_Executable_SizeOfGeneratedCodeInBytes;
    PJRT_Executable_GetCostAnalysis(ExecutableGetCostAnalysisArgs);
    PJRT_Executable_OutputMemoryKinds;
    PJRT_Executable_OptimizedProgram(ExecutableOptimizedProgramArgs);
    PJRT_Executable_Serialize;
    PJRT_LoadedExecutable_Destroy;
    PJRT_LoadedExecutable_GetExecutable;
    PJRT_LoadedExecutable_AddressableDevices;
    PJRT_LoadedExecutable_Delete;
    PJRT_LoadedExecutable_IsDeleted;
    PJRT_LoadedExecutable_Execute;
    PJRT_Executable_DeserializeAndLoad;
    PJRT_LoadedExecutable_Fingerprint;
    PJRT_Buffer_Destroy(BufferDestroyArgs);
    PJRT_Buffer_ElementType(BufferElementTypeArgs);
    PJRT_Buffer_Dimensions(BufferDimensionsArgs);
    PJRT_Buffer_UnpaddedDimensions;
    PJRT_Buffer_DynamicDimensionIndices;
    PJRT_Buffer_GetMemoryLayout;
    PJRT_Buffer_OnDeviceSizeInBytes(BufferOnDeviceSizeArgs);
    PJRT_Buffer_Device;
    PJRT_Buffer_Memory;
    PJRT_Buffer_Delete;
    PJRT_Buffer_IsDeleted;
    PJRT_Buffer_CopyToDevice;
    PJRT_Buffer_ToHostBuffer(BufferToHostBufferArgs);
    PJRT_Buffer_IsOnCpu;
    PJRT_Buffer_ReadyEvent(BufferReadyEventArgs);
    PJRT_Buffer_UnsafePointer;
    PJRT_Buffer_IncreaseExternalReferenceCount;
    PJRT_Buffer_DecreaseExternalReferenceCount;
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer;
    PJRT_CopyToDeviceStream_Destroy;
    PJRT_CopyToDeviceStream_AddChunk;
    PJRT_CopyToDeviceStream_TotalBytes;
    PJRT_CopyToDeviceStream_GranuleSize;
    PJRT_CopyToDeviceStream_CurrentBytes;
    PJRT_TopologyDescription_Create(TopologyDescriptionCreateArgs);
    PJRT_TopologyDescription_Destroy(TopologyDescriptionDestroyArgs);
    PJRT_TopologyDescription_PlatformName(TopologyDescriptionPlatformNameArgs);
    PJRT_TopologyDescription_PlatformVersion(TopologyDescriptionPlatformVersionArgs);
    PJRT_TopologyDescription_GetDeviceDescriptions(TopologyDescriptionGetDeviceDescriptionsArgs);
    PJRT_TopologyDescription_Serialize;
    PJRT_TopologyDescription_Attributes;
    PJRT_Compile(CompileArgs);
    PJRT_Executable_OutputElementTypes(ExecutableOutputElementTypesArgs);
    PJRT_Executable_OutputDimensions(ExecutableOutputDimensionsArgs);
    PJRT_Buffer_CopyToMemory;
    PJRT_Client_CreateViewOfDeviceBuffer;
    PJRT_Executable_Fingerprint(ExecutableFingerprintArgs);
    PJRT_Client_TopologyDescription;
    PJRT_Executable_GetCompiledMemoryStats(ExecutableGetCompiledMemoryStatsArgs);
    PJRT_Memory_Kind_Id;
    PJRT_ExecuteContext_Create;
    PJRT_ExecuteContext_Destroy;
    PJRT_Buffer_CopyRawToHost;
    PJRT_AsyncHostToDeviceTransferManager_Destroy;
    PJRT_AsyncHostToDeviceTransferManager_TransferData;
    PJRT_Client_CreateBuffersForAsyncHostToDevice;
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer;
    PJRT_AsyncHostToDeviceTransferManager_Device;
    PJRT_AsyncHostToDeviceTransferManager_BufferCount;
    PJRT_AsyncHostToDeviceTransferManager_BufferSize;
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError;
    PJRT_AsyncHostToDeviceTransferManager_AddMetadata;
    PJRT_Client_DmaMap;
    PJRT_Client_DmaUnmap;
    PJRT_Client_CreateUninitializedBuffer;
    PJRT_Client_UpdateGlobalProcessInfo;
    PJRT_TopologyDescription_Deserialize;
    PJRT_Client_CreateAliasBuffer;
    PJRT_Client_FulfillAliasBuffer;
    PJRT_LoadedExecutable_GetDeviceAssignment;
    PJRT_Client_CreateErrorBuffer;
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral;
    PJRT_Buffer_CopyRawToHostFuture;
    PJRT_Device_PoisonExecution;
    PJRT_Device_CreateAsyncTrackingEvent;
    PJRT_AsyncTrackingEvent_Destroy;
    PJRT_Executable_GetCompileOptions;
    PJRT_Buffer_DonateWithControlDependency;
    PJRT_Event_Create;
    PJRT_Event_Set;
    PJRT_Device_GetAttributes;
    PJRT_Client_Load;
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds;
    PJRT_Buffer_Bitcast;
    PJRT_Error_ForEachPayload;
    PJRT_TopologyDescription_Fingerprint;
    PJRT_Executable_ParameterMemoryKinds;
    PJRT_Device_ClearMemoryStats;
    PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace;
    PJRT_TopologyDescription_GetMemorySpaceKindIds;
}

functions! {
    /// Which layouts arrays have on a device.
    LayoutsExtension { base: ExtensionBase, }
    PJRT_Layouts_MemoryLayout_Destroy(LayoutsMemoryLayoutDestroyArgs);
    PJRT_Layouts_MemoryLayout_Serialize(LayoutsMemoryLayoutSerializeArgs);
    PJRT_Layouts_PJRT_Client_GetDefaultLayout;
    PJRT_Layouts_PJRT_Buffer_MemoryLayout(LayoutsBufferMemoryLayoutArgs);
    PJRT_Layouts_PJRT_Topology_GetDefaultLayout(LayoutsTopologyGetDefaultLayoutArgs);
    PJRT_Layouts_PJRT_Executable_GetOutputLayouts(LayoutsExecutableGetOutputLayoutsArgs);
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts(LayoutsExecutableGetParameterLayoutsArgs);
}

functions! {
    /// How the parameters and results of a program are divided among devices.
    ShardingsExtension { base: ExtensionBase, }
    PJRT_Shardings_PJRT_Executable_ParameterShardings(ShardingsExecutableParameterShardingsArgs);
    PJRT_Shardings_PJRT_Executable_OutputShardings(ShardingsExecutableOutputShardingsArgs);
}

#[cfg(test)]
mod tests;
