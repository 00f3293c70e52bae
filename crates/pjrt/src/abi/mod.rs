//! The part of PJRT's C interface that this crate calls: `xla/pjrt/c/pjrt_c_api.h`, version 0.114, and two of its extensions
//! (`pjrt_c_api_layouts_extension.h`, `pjrt_c_api_shardings_extension.h`).
//!
//! Every struct begins with `struct_size`: its size according to the header with which the struct's creator was compiled. Newer versions only append
//! fields, functions and numbers. So a table is read as far as its size says, and arguments for a plug-in that is newer than these declarations are
//! padded with zeros (see [`PaddedArguments`]).
//!
//! The names of structs are the header's without `PJRT_`; fields and functions have the header's names. `abi.txt` lists the sizes, offsets and
//! numbers of the header. A test compares the declarations here with that file, which `scripts/data/pjrt_abi.py` generates from a header.
//!
//! # Rules of the interface
//!
//! The SAFETY comments of this crate cite these rules by name. The header states these rules at its structs; whoever loads a plug-in
//! ([`Plugin::load`](crate::Plugin::load)) promises that the plug-in keeps them.
//!
//! - *Arguments*: a call reads and writes its argument struct up to `struct_size`, and what its pointers point to, only until it
//!   returns, unless the header says otherwise at a field.
//! - *Objects*: a pointer to an object (client, topology, executable, buffer, event, error, layout) is valid until the object's
//!   `…_Destroy` is called. An object that a call creates belongs to the caller, who destroys it once. Devices and their
//!   descriptions belong to their client or topology.
//! - *Answers*: texts and lists that a call returns belong to the object that was asked ("has the lifetime of …"), or to the
//!   plug-in if there was none. They do not change while it is alive.
//! - *Threads*: all functions may be called from any thread, several at a time, also for the same object.
//!
//! This module is for tests that imitate a plug-in; nothing in it is checked.
//!
//! # Another call, or a newer version
//!
//! To add a call, declare its argument struct in `arguments.rs`, and write the struct's name at the call's place in the table of functions here. The
//! plug-in for tests, in `tests/pjrt/src`, answers the call. For a newer version, `scripts/data/pjrt_abi.py` reads the new header, and the test says
//! what differs.

mod arguments;
mod macros;

pub use arguments::*;

use macros::functions;
use std::ffi::c_int;
use std::marker::PhantomData;

/// The major version, which changes with incompatible changes of the interface.
pub const API_MAJOR: c_int = 0;
/// The minor version of these declarations; it changes when fields or functions are appended.
pub const API_MINOR: c_int = 114;

/// The argument struct of a call. Only this module implements it.
pub trait Arguments: Default {
    /// The size of the struct up to the end of its last field.
    const SIZE: usize;

    /// Sets `struct_size`: the number of bytes that the plug-in may use.
    fn set_struct_size(&mut self, size: usize);
}

/// Arguments followed by zeros, for the fields of newer versions.
///
/// XLA's own plug-ins refuse arguments that are smaller than in their version of the header. In all fields that newer versions have
/// appended, 0 means "not given".
#[repr(C)]
#[derive(Default, Debug)]
pub struct PaddedArguments<A> {
    /// The arguments.
    pub args: A,
    pub(crate) spare: [u64; 8],
}

impl<A: Arguments> PaddedArguments<A> {
    /// The size of the arguments and the zeros, in bytes.
    pub const SIZE: usize = size_of::<Self>();
}

/// A function of a table: its name, and its offset in the table.
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

/// The first fields of every extension (`PJRT_Extension_Base`).
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
    /// The functions of a plug-in (`PJRT_Api`), which `GetPjrtApi()` returns.
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
    /// The extension that reports the layouts of arrays (`PJRT_Layouts_Extension`).
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
    /// The extension that reports how parameters and results are divided among devices (`PJRT_Shardings_Extension`).
    ShardingsExtension { base: ExtensionBase, }
    PJRT_Shardings_PJRT_Executable_ParameterShardings(ShardingsExecutableParameterShardingsArgs);
    PJRT_Shardings_PJRT_Executable_OutputShardings(ShardingsExecutableOutputShardingsArgs);
}

#[cfg(test)]
mod tests;
