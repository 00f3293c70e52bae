//! The devices of this machine, and copies of arrays to them.

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
use crate::topology::{DeviceDescription, describe, signed};
use std::fmt;
use std::ptr::NonNull;
use xla_shape::relayout::{Options, Plan};
use xla_shape::{DynBuffer, DynView, Layout};

/// A device of this machine.
#[derive(Clone)]
pub struct Device {
    client: Client,
    raw: NonNull<RawDevice>,
    description: DeviceDescription,
}

// SAFETY: a device lives as long as its client, which it holds, and does not change.
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
    /// # Errors
    /// If the plug-in does not say.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let call = &Api::PJRT_Client_AddressableDevices;
        let args = ClientAddressableDevicesArgs { client: self.raw(), ..Default::default() };
        let functions = self.plugin().functions();
        // SAFETY: the client is not destroyed before `self`.
        let args = unsafe { functions.call(call, args) }?;
        // SAFETY: the list lives as long as the client.
        let devices = unsafe { raw::list(args.addressable_devices, args.num_addressable_devices) };
        let devices = devices.ok_or_else(|| Error::answer(call.name, "the list is null"))?;
        let mut described = Vec::new();
        for &device in devices {
            let raw = NonNull::new(device).ok_or_else(|| Error::answer(call.name, "a device is null"))?;
            let call = &Api::PJRT_Device_GetDescription;
            let args = DeviceGetDescriptionArgs { device, ..Default::default() };
            // SAFETY: the device lives as long as the client.
            let args = unsafe { functions.call(call, args) }?;
            if args.device_description.is_null() {
                return Err(Error::answer(call.name, "it is null"));
            }
            // SAFETY: the description lives as long as the device.
            let description = unsafe { describe(self.plugin(), args.device_description) }?;
            described.push(Device { client: self.clone(), raw, description });
        }
        Ok(described)
    }
}

impl Device {
    /// What the plug-in says of it.
    #[must_use]
    pub const fn description(&self) -> &DeviceDescription {
        &self.description
    }

    /// Copies an array to the device, into the layout that is asked for, or the device's own choice.
    ///
    /// An array in a layout that the interface cannot read is copied in this machine's memory first.
    ///
    /// # Errors
    /// If the interface does not have the element type or cannot say the layout, or the device has no such layout or not enough
    /// memory.
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
        let dims = signed(plain.dimensions().iter().filter_map(|size| size.extent()));
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
        // SAFETY: the client and the device are not destroyed before `self`; the data, which is as large as the sizes say, and the
        // layout are there while the call runs, which is all that it may look at them.
        let args = unsafe { plugin.functions().call(call, args) }?;
        // SAFETY: the event was made for this call.
        let done = unsafe { Event::new(plugin, args.done_with_host_buffer) };
        let raw = NonNull::new(args.buffer).ok_or_else(|| Error::answer(call.name, "it is null"))?;
        // SAFETY: the array was made for this call.
        let buffer = unsafe { DeviceBuffer::new(self.client.clone(), raw) };
        done.wait()?;
        Ok(buffer)
    }
}
