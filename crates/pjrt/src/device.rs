//! The devices of this machine, and copying arrays to them.

use crate::abi::{
    Api, ClientAddressableDevicesArgs, ClientBufferFromHostBufferArgs, DeviceGetDescriptionArgs,
    IMMUTABLE_ONLY_DURING_CALL, RawDevice,
};
use crate::client::Client;
use crate::device_buffer::{DeviceBuffer, TiledLayout, row_major};
use crate::element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::raw;
use crate::topology::{DeviceDescription, describe, to_signed};
use std::fmt;
use std::ptr::NonNull;
use xla_shape::relayout::{Options, Plan};
use xla_shape::{DynBuffer, DynView, Layout};

/// A device of this machine (`PJRT_Device`).
#[derive(Clone)]
pub struct Device {
    client: Client,
    raw: NonNull<RawDevice>,
    description: DeviceDescription,
}

// SAFETY: `raw` belongs to the client, which `client` keeps alive (*objects*); the functions of the interface may be called from any
// thread, also for the same device (*threads*).
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.description.fmt(f)
    }
}

impl Client {
    /// The devices that this process can use.
    ///
    /// ```no_run
    /// # fn example(client: &xla_shape_pjrt::Client) -> xla_shape_pjrt::Result<()> {
    /// for device in client.devices()? {
    ///     println!("{}", device.description().kind); // TPU v5 lite
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let call = &Api::PJRT_Client_AddressableDevices;
        let args = ClientAddressableDevicesArgs { client: self.raw(), ..Default::default() };
        let functions = self.plugin().functions();
        // SAFETY: `self` keeps the client alive (*objects*); the arguments have no other pointer.
        let args = unsafe { functions.call(call, args) }?;
        // SAFETY: the list belongs to the client (*answers*), which `self` keeps alive.
        let devices = unsafe { raw::list(args.addressable_devices, args.num_addressable_devices) };
        let devices = devices.ok_or_else(|| Error::answer(call.name, "the list is null"))?;
        let mut described = Vec::new();
        for &device in devices {
            let raw = NonNull::new(device).ok_or_else(|| Error::answer(call.name, "a device is null"))?;
            let call = &Api::PJRT_Device_GetDescription;
            let args = DeviceGetDescriptionArgs { device, ..Default::default() };
            // SAFETY: the device belongs to the client (*objects*), which `self` keeps alive.
            let args = unsafe { functions.call(call, args) }?;
            if args.device_description.is_null() {
                return Err(Error::answer(call.name, "the result is null"));
            }
            // SAFETY: it is a description of this plug-in, which belongs to the client (*objects*) that `self` keeps alive.
            let description = unsafe { describe(self.plugin(), args.device_description) }?;
            described.push(Device { client: self.clone(), raw, description });
        }
        Ok(described)
    }
}

impl Device {
    /// The number and the kind of the device.
    ///
    /// ```no_run
    /// # fn example(device: &xla_shape_pjrt::Device) {
    /// println!("{}: {}", device.description().id, device.description().kind);
    /// # }
    /// ```
    #[must_use]
    pub const fn description(&self) -> &DeviceDescription {
        &self.description
    }

    /// Copies an array to the device: into this layout, or into one that the device chooses if `layout` is `None`.
    ///
    /// The interface reads row-major arrays without tiles. An array in another layout is first copied to a row-major array on the host.
    ///
    /// ```no_run
    /// use xla_shape::{DynBuffer, element::F32};
    ///
    /// # fn example(device: &xla_shape_pjrt::Device) -> Result<(), Box<dyn std::error::Error>> {
    /// let host = DynBuffer::filled_with::<F32>("f32[100,200]".parse()?, 1.5)?;
    /// let on_device = device.put(&host.view(), Some(&"{0,1}".parse()?))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the interface does not have the element type, or cannot describe the layout; if the device does not support the layout, or
    /// does not have enough memory.
    pub fn put(&self, array: &DynView<'_>, layout: Option<&Layout>) -> Result<DeviceBuffer> {
        let shape = array.shape();
        let plain = row_major(shape)?;
        let relaid;
        let bytes = if *shape == plain {
            array.as_bytes()
        } else {
            let mut copy = DynBuffer::zeroed_with(plain.clone())?;
            Plan::new(shape, &plain, &Options::new())?.run(array.as_bytes(), copy.as_bytes_mut())?;
            relaid = copy;
            relaid.as_bytes()
        };
        let tiled = layout.map(TiledLayout::new).transpose()?;
        let mut tiled = tiled.as_ref().map(TiledLayout::raw);
        let dims = to_signed(plain.dimensions().iter().filter_map(|size| size.extent()));
        let call = &Api::PJRT_Client_BufferFromHostBuffer;
        let args = ClientBufferFromHostBufferArgs {
            client: self.client.raw(),
            data: bytes.as_ptr().cast(),
            r#type: element::number(plain.element_type())?,
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            host_buffer_semantics: IMMUTABLE_ONLY_DURING_CALL,
            device: self.raw.as_ptr(),
            device_layout: tiled.as_mut().map_or(std::ptr::null_mut(), |tiled| &raw mut *tiled),
            ..Default::default()
        };
        let plugin = self.client.plugin();
        // SAFETY: `self` keeps the client and the device alive. `bytes` holds a row-major array of this type and these sizes, and
        // `dims` and `tiled` describe it; all live until the call returns, and `IMMUTABLE_ONLY_DURING_CALL` forbids the plug-in to
        // use the data afterwards.
        let args = unsafe { plugin.functions().call(call, args) }?;
        // SAFETY: the call has created the event for its caller (*objects*).
        let done = unsafe { Event::new(plugin, args.done_with_host_buffer) };
        let raw = NonNull::new(args.buffer).ok_or_else(|| Error::answer(call.name, "the result is null"))?;
        // SAFETY: the call has created the buffer, with this client, for its caller (*objects*).
        let buffer = unsafe { DeviceBuffer::new(self.client.clone(), raw) };
        done.wait()?;
        Ok(buffer)
    }
}
