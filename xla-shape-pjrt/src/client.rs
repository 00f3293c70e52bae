//! The devices of this machine, opened.

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

    pub(crate) fn raw(&self) -> *mut RawClient {
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
        unsafe { raw::answered(call.name, args.platform_name, args.platform_name_size) }
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
        unsafe { raw::answered(call.name, args.platform_version, args.platform_version_size) }
    }
}
