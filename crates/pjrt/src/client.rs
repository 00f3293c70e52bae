//! Clients: the opened devices of this machine.

use crate::abi::{
    Api, ClientCreateArgs, ClientDestroyArgs, ClientPlatformNameArgs, ClientPlatformVersionArgs, RawClient,
};
use crate::deadline::within;
use crate::error::{Error, Result};
use crate::plugin::Plugin;
use crate::raw;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// How long a plug-in may take to open the devices.
const OPEN_TIMEOUT: Duration = Duration::from_secs(120);

/// The opened devices of this machine (`PJRT_Client`). Clones share the same client.
///
/// It is tested with a plug-in that imitates devices, not with a real TPU or GPU.
///
/// ```no_run
/// use xla_shape::{DynBuffer, element::F32};
/// use xla_shape_pjrt::{Client, LoadOptions};
///
/// // SAFETY: we trust the plug-in that is installed on this machine.
/// let plugin = unsafe { LoadOptions::new().for_devices().find() }?;
/// let client = Client::new(&plugin)?;
/// let host = DynBuffer::filled_with::<F32>("f32[100,200]".parse()?, 1.5)?;
/// let on_device = client.devices()?[0].put(&host.view(), None)?;
/// println!("{}", on_device.shape()?); // with the layout that the device chose
/// let tiled = on_device.to_host(&"{1,0:T(8,128)}".parse()?)?;
/// assert_eq!(tiled.get::<F32>(&[3, 150])?, 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<ClientHandle>,
}

#[derive(Debug)]
struct ClientHandle {
    plugin: Plugin,
    raw: NonNull<RawClient>,
}

// SAFETY: the functions of the interface may be called from any thread, also for the same client (*threads*).
unsafe impl Send for ClientHandle {}
// SAFETY: as above.
unsafe impl Sync for ClientHandle {}

impl Drop for ClientHandle {
    fn drop(&mut self) {
        let args = ClientDestroyArgs { client: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the client belongs to `self` (*objects*) and is destroyed here only. Devices and buffers hold a clone of the
        // `Client`, so none is left when the last clone is dropped.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_Client_Destroy, args) };
        // `drop` cannot report an error; the object then leaks inside the plug-in.
        drop(destroyed);
    }
}

impl Client {
    /// Opens the devices of this machine. Load the plug-in with [`LoadOptions::for_devices`](crate::LoadOptions::for_devices).
    ///
    /// ```no_run
    /// use xla_shape_pjrt::{Client, LoadOptions};
    ///
    /// // SAFETY: we trust the plug-in that is installed on this machine.
    /// let plugin = unsafe { LoadOptions::new().for_devices().find() }?;
    /// let client = Client::new(&plugin)?;
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the machine has no devices, or the plug-in does not open them within two minutes.
    pub fn new(plugin: &Plugin) -> Result<Self> {
        let call = &Api::PJRT_Client_Create;
        let plugin = plugin.clone();
        within(Some(OPEN_TIMEOUT), call.name, move || {
            // SAFETY: all pointers in the arguments are null, which the header allows: no options and no callbacks.
            let args = unsafe { plugin.functions().call(call, ClientCreateArgs::default()) }?;
            let raw = NonNull::new(args.client).ok_or_else(|| Error::answer(call.name, "the result is null"))?;
            Ok(Self { inner: Arc::new(ClientHandle { plugin, raw }) })
        })
    }

    pub(crate) fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    pub(crate) fn raw(&self) -> *mut RawClient {
        self.inner.raw.as_ptr()
    }

    /// The kind of devices, such as `tpu`.
    ///
    /// ```no_run
    /// # fn example(client: &xla_shape_pjrt::Client) -> xla_shape_pjrt::Result<()> {
    /// assert_eq!(client.platform_name()?, "tpu");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn platform_name(&self) -> Result<String> {
        let call = &Api::PJRT_Client_PlatformName;
        let args = ClientPlatformNameArgs { client: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the client alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text belongs to the client (*answers*), which `self` keeps alive.
        unsafe { raw::answer_text(call.name, args.platform_name, args.platform_name_size) }
    }

    /// The version of the runtime, as a text for people.
    ///
    /// ```no_run
    /// # fn example(client: &xla_shape_pjrt::Client) -> xla_shape_pjrt::Result<()> {
    /// println!("{}", client.platform_version()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn platform_version(&self) -> Result<String> {
        let call = &Api::PJRT_Client_PlatformVersion;
        let args = ClientPlatformVersionArgs { client: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the client alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text belongs to the client (*answers*), which `self` keeps alive.
        unsafe { raw::answer_text(call.name, args.platform_version, args.platform_version_size) }
    }
}
