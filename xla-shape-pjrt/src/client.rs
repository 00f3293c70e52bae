//! The devices of this machine.

use crate::abi::{
    Api, ClientAddressableDevicesArgs, ClientBufferFromHostBufferArgs, ClientCreateArgs, ClientDestroyArgs,
    ClientPlatformNameArgs, ClientPlatformVersionArgs, DeviceGetDescriptionArgs, EventAwaitArgs, EventDestroyArgs,
    IMMUTABLE_ONLY_DURING_CALL, RawClient, RawDevice, RawEvent,
};
use crate::deadline::within;
use crate::device_buffer::{DeviceBuffer, TiledLayout};
use crate::element;
use crate::error::{Error, Result};
use crate::plugin::Plugin;
use crate::raw;
use crate::topology::{DeviceDescription, describe, signed};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use xla_shape::relayout::{Options, Plan};
use xla_shape::{ArrayShape, DynBuffer, DynView, Layout};

/// How long a plug-in may take to open the devices.
const PATIENCE: Duration = Duration::from_secs(120);

/// The devices of this machine, opened. Copies are the same.
///
/// No test has run this on a TPU or a GPU: it is tested with a plug-in that pretends to have devices.
///
/// ```no_run
/// use xla_shape::{DynBuffer, element::F32};
/// use xla_shape_pjrt::{Client, LoadOptions};
///
/// let client = Client::new(&LoadOptions::new().for_devices().find()?)?;
/// let host = DynBuffer::filled_with::<F32>("f32[100,200]".parse()?, 1.5)?;
/// let on_device = client.devices()?[0].put(&host.view(), None)?;
/// println!("{}", on_device.shape()?); // with the layout that the device chose
/// let tiled = on_device.to_host(&"{1,0:T(8,128)}".parse()?)?;
/// assert_eq!(tiled.get::<F32>(&[3, 150])?, 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    plugin: Plugin,
    raw: NonNull<RawClient>,
}

// SAFETY: XLA's clients may be used from any thread, and the interface demands that of others too.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let args = ClientDestroyArgs { client: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the client is the plug-in's and ours to destroy, once; all that belongs to it holds it, so nothing is left.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_Client_Destroy, args) };
        // Nothing is left to do where a plug-in cannot destroy what it made.
        drop(destroyed);
    }
}

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

/// An event that is ours to destroy.
pub(crate) struct Event<'a> {
    plugin: &'a Plugin,
    raw: *mut RawEvent,
}

impl<'a> Event<'a> {
    /// # Safety
    /// `raw` is null or an event that this plug-in made for its caller, who hands it over.
    pub(crate) unsafe fn new(plugin: &'a Plugin, raw: *mut RawEvent) -> Self {
        Self { plugin, raw }
    }

    /// Waits until it has happened.
    pub(crate) fn wait(&self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        let args = EventAwaitArgs { event: self.raw, ..Default::default() };
        // SAFETY: the event is destroyed no sooner than `self`.
        unsafe { self.plugin.functions().call(&Api::PJRT_Event_Await, args) }?;
        Ok(())
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        let args = EventDestroyArgs { event: self.raw, ..Default::default() };
        // SAFETY: the event is ours to destroy, once.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_Event_Destroy, args) };
        // Nothing is left to do where a plug-in cannot destroy what it made.
        drop(destroyed);
    }
}

impl Client {
    /// Opens the devices of this machine. The plug-in should be loaded [for devices](crate::LoadOptions::for_devices).
    ///
    /// # Errors
    /// If there are none, or the plug-in does not open them within two minutes.
    pub fn new(plugin: &Plugin) -> Result<Self> {
        let call = &Api::PJRT_Client_Create;
        let plugin = plugin.clone();
        within(Some(PATIENCE), call.name, move || {
            // SAFETY: no options are given, and no functions to call back.
            let args = unsafe { plugin.functions().call(call, ClientCreateArgs::default()) }?;
            let raw = NonNull::new(args.client).ok_or_else(|| Error::answer(call.name, "it is null"))?;
            Ok(Self { inner: Arc::new(Inner { plugin, raw }) })
        })
    }

    pub(crate) fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    fn raw(&self) -> *mut RawClient {
        self.inner.raw.as_ptr()
    }

    /// The kind of devices, such as `tpu`.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn platform_name(&self) -> Result<String> {
        let call = &Api::PJRT_Client_PlatformName;
        let args = ClientPlatformNameArgs { client: self.raw(), ..Default::default() };
        // SAFETY: the client is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text lives as long as the client.
        let text = unsafe { raw::text(args.platform_name, args.platform_name_size) };
        text.ok_or_else(|| Error::answer(call.name, "it is null"))
    }

    /// The version of what runs the devices, in words.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn platform_version(&self) -> Result<String> {
        let call = &Api::PJRT_Client_PlatformVersion;
        let args = ClientPlatformVersionArgs { client: self.raw(), ..Default::default() };
        // SAFETY: the client is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text lives as long as the client.
        let text = unsafe { raw::text(args.platform_version, args.platform_version_size) };
        text.ok_or_else(|| Error::answer(call.name, "it is null"))
    }

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

/// The same array as the interface takes it from this machine: row by row, each element in whole bytes.
pub(crate) fn row_major(shape: &ArrayShape) -> Result<ArrayShape> {
    let sizes = shape.dimensions().iter().map(|size| size.extent()).collect::<Option<Vec<_>>>();
    let sizes = sizes.ok_or_else(|| Error::answer("an array", "a dimension is unbounded"))?;
    Ok(ArrayShape::with_default_layout(shape.element_type(), &sizes)?)
}
