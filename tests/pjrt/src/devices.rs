//! Devices whose memory is the memory of this machine.

use crate::compiler::{Description, call, default_text, number_of, type_of};
use crate::object::{INVALID_ARGUMENT, Refusal, UNIMPLEMENTED, answer, hand_out, list, object, take_back};
use std::ffi::c_int;
use std::ptr::null_mut;
use xla_shape::relayout::{Options, Plan};
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Layout, Tile, TileDimension};
use xla_shape_pjrt::abi::*;

struct Client {
    devices: Vec<*mut RawDevice>,
    /// The descriptions to which `devices` points.
    _held: Vec<Description>,
}

/// An array, whose bytes are stored in row-major order whatever its `layout`.
struct Array {
    kind: c_int,
    sizes: Vec<i64>,
    shape: ArrayShape,
    layout: String,
    bytes: Vec<u8>,
}

/// An event, which has already happened, with its result.
struct Event(Result<(), Refusal>);

call! { client_create(args: ClientCreateArgs) {
    let held: Vec<_> = (0..2).map(Description::new).collect();
    let devices = held.iter().map(|device| (&raw const *device).cast_mut().cast()).collect();
    args.client = hand_out(Client { devices, _held: held });
}}

call! { client_destroy(args: ClientDestroyArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    unsafe { take_back::<Client, _>(args.client) };
}}

call! { client_platform(args: ClientPlatformNameArgs) {
    (args.platform_name, args.platform_name_size) = (c"fake".as_ptr(), 4);
}}

call! { client_version(args: ClientPlatformVersionArgs) {
    (args.platform_version, args.platform_version_size) = (c"1.0".as_ptr(), 3);
}}

call! { client_devices(args: ClientAddressableDevicesArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let client = unsafe { object::<Client, _>(args.client) };
    (args.addressable_devices, args.num_addressable_devices) = (client.devices.as_ptr(), client.devices.len());
}}

call! { device_description(args: DeviceGetDescriptionArgs) {
    // A device is its own description.
    args.device_description = args.device.cast();
}}

/// # Safety
/// `layout` is null or a layout of the interface.
unsafe fn layout_of(layout: *const BufferMemoryLayout) -> Result<Option<Layout>, Refusal> {
    if layout.is_null() {
        return Ok(None);
    }
    let wrong = |error: &dyn std::fmt::Display| (INVALID_ARGUMENT, error.to_string());
    // SAFETY: the caller's promise.
    let tiled = unsafe { &(*layout).tiled };
    // SAFETY: the caller's promise.
    let order = unsafe { list(tiled.minor_to_major, tiled.minor_to_major_size) };
    // SAFETY: the caller's promise.
    let counts = unsafe { list(tiled.tile_dim_sizes, tiled.num_tiles) };
    // SAFETY: the caller's promise.
    let mut entries = unsafe { list(tiled.tile_dims, counts.iter().sum()) }.into_iter();
    let order = order.iter().map(|&dimension| dimension as usize).collect::<Vec<_>>();
    let mut tiles = Vec::new();
    for count in counts {
        let entries = entries.by_ref().take(count).map(|size| match size {
            i64::MIN => TileDimension::Combine,
            size => TileDimension::Size(size as u64),
        });
        tiles.push(Tile::new(&entries.collect::<Vec<_>>()));
    }
    let layout = Layout::new(&order).and_then(|layout| layout.with_tiles(&tiles));
    layout.map(Some).map_err(|error| wrong(&error))
}

call! { buffer_from_host(args: ClientBufferFromHostBufferArgs) {
    let kind = type_of(args.r#type)?;
    // SAFETY: the interface gives the sizes.
    let sizes = unsafe { list(args.dims, args.num_dims) };
    let unsigned = sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let shape = ArrayShape::with_default_layout(kind, &unsigned).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    // SAFETY: the interface gives as many bytes as the array has.
    let bytes = unsafe { list(args.data.cast::<u8>(), shape.byte_size().unwrap_or(0) as usize) };
    // SAFETY: the interface gives null or a layout.
    let layout = match unsafe { layout_of(args.device_layout) }? {
        Some(layout) => layout.to_string(),
        None => default_text(Some(Generation::V5e), kind, &unsigned)?,
    };
    args.buffer = hand_out(Array { kind: number_of(kind), sizes, shape, layout, bytes });
    args.done_with_host_buffer = hand_out(Event(Ok(())));
}}

call! { buffer_destroy(args: BufferDestroyArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    unsafe { take_back::<Array, _>(args.buffer) };
}}

call! { buffer_type(args: BufferElementTypeArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    args.r#type = unsafe { object::<Array, _>(args.buffer) }.kind;
}}

call! { buffer_sizes(args: BufferDimensionsArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let array = unsafe { object::<Array, _>(args.buffer) };
    (args.dims, args.num_dims) = (array.sizes.as_ptr(), array.sizes.len());
}}

call! { buffer_bytes(args: BufferOnDeviceSizeArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    args.on_device_size_in_bytes = unsafe { object::<Array, _>(args.buffer) }.bytes.len();
}}

call! { buffer_layout(args: LayoutsBufferMemoryLayoutArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    args.layout = hand_out(unsafe { object::<Array, _>(args.buffer) }.layout.clone());
}}

call! { buffer_ready(args: BufferReadyEventArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let array = unsafe { object::<Array, _>(args.buffer) };
    // An array of this size never becomes ready.
    let result = if array.sizes == [13] { Err((INVALID_ARGUMENT, "13 is unlucky".to_owned())) } else { Ok(()) };
    args.event = hand_out(Event(result));
}}

call! { buffer_to_host(args: BufferToHostBufferArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    let array = unsafe { object::<Array, _>(args.src) };
    // SAFETY: the interface gives null or a layout.
    let layout = unsafe { layout_of(args.host_layout) }?.unwrap_or_else(|| array.shape.layout().clone());
    // Most real plug-ins do not support tiles, either.
    if layout.tiles().iter().any(|tile| tile.dimensions().first() == Some(&TileDimension::Size(3))) {
        return Err((UNIMPLEMENTED, "no tiles of three rows".to_owned()));
    }
    let wanted = array.shape.clone().with_layout(layout).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    let size = wanted.byte_size().unwrap_or(0) as usize;
    if args.dst.is_null() {
        args.dst_size = size;
        args.event = null_mut();
        return Ok(());
    }
    if args.dst_size < size {
        return Err((INVALID_ARGUMENT, "too little room".to_owned()));
    }
    let mut copy = vec![0; size];
    let plan = Plan::new(&array.shape, &wanted, &Options::new()).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    plan.run(&array.bytes, &mut copy).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    // SAFETY: the interface guarantees room for `dst_size` bytes, and `size` is not larger (checked above).
    unsafe { copy.as_ptr().copy_to_nonoverlapping(args.dst.cast(), size) };
    let result = if array.sizes == [13] { Err((INVALID_ARGUMENT, "13 is unlucky".to_owned())) } else { Ok(()) };
    args.event = hand_out(Event(result));
}}

call! { event_destroy(args: EventDestroyArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    unsafe { take_back::<Event, _>(args.event) };
}}

call! { event_await(args: EventAwaitArgs) {
    // SAFETY: the calls receive only pointers that `hand_out` made for this type.
    unsafe { object::<Event, _>(args.event) }.0.clone()?;
}}

pub(crate) fn fill(api: &mut Api) {
    api.PJRT_Client_Create = Some(client_create);
    api.PJRT_Client_Destroy = Some(client_destroy);
    api.PJRT_Client_PlatformName = Some(client_platform);
    api.PJRT_Client_PlatformVersion = Some(client_version);
    api.PJRT_Client_AddressableDevices = Some(client_devices);
    api.PJRT_Client_BufferFromHostBuffer = Some(buffer_from_host);
    api.PJRT_Device_GetDescription = Some(device_description);
    api.PJRT_Buffer_Destroy = Some(buffer_destroy);
    api.PJRT_Buffer_ElementType = Some(buffer_type);
    api.PJRT_Buffer_Dimensions = Some(buffer_sizes);
    api.PJRT_Buffer_OnDeviceSizeInBytes = Some(buffer_bytes);
    api.PJRT_Buffer_ReadyEvent = Some(buffer_ready);
    api.PJRT_Buffer_ToHostBuffer = Some(buffer_to_host);
    api.PJRT_Event_Destroy = Some(event_destroy);
    api.PJRT_Event_Await = Some(event_await);
}
