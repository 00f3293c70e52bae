//! Devices that need not be there.

use crate::abi::{
    Api, DeviceDescriptionIdArgs, DeviceDescriptionKindArgs, DeviceDescriptionToStringArgs, LayoutsExtension,
    LayoutsTopologyGetDefaultLayoutArgs, RawDeviceDescription, RawTopology, TopologyDescriptionCreateArgs,
    TopologyDescriptionDestroyArgs, TopologyDescriptionGetDeviceDescriptionsArgs, TopologyDescriptionPlatformNameArgs,
    TopologyDescriptionPlatformVersionArgs,
};
use crate::deadline::within;
use crate::element;
use crate::error::{Error, Result};
use crate::layout::OwnedLayout;
use crate::plugin::Plugin;
use crate::raw;
use crate::slice::Slice;
use std::ptr::NonNull;
use std::sync::Arc;
use xla_shape::{ArrayShape, ElementType, Layout};

/// Devices and how they are connected, whether or not this machine has them: what programs are compiled for.
///
/// [`Plugin::topology`] makes one. Copies are the same.
#[derive(Clone, Debug)]
pub struct Topology {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    plugin: Plugin,
    raw: NonNull<RawTopology>,
    name: String,
}

// SAFETY: a topology does not change once it is made, and the interface may be called from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let args = TopologyDescriptionDestroyArgs { topology: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the topology is the plug-in's and ours to destroy, once.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_TopologyDescription_Destroy, args) };
        // Nothing is left to do where a plug-in cannot destroy what it made.
        drop(destroyed);
    }
}

/// A device of a topology.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DeviceDescription {
    /// Its number; no other device has it.
    pub id: i32,
    /// What it is, such as `TPU v5 lite`.
    pub kind: String,
    /// How the plug-in shows it to people.
    pub text: String,
}

/// Reads what a plug-in says of a device.
///
/// # Safety
/// `device` belongs to this plug-in, and what it belongs to is not destroyed.
pub(crate) unsafe fn describe(plugin: &Plugin, device: *mut RawDeviceDescription) -> Result<DeviceDescription> {
    let functions = plugin.functions();
    let args = DeviceDescriptionIdArgs { device_description: device, ..Default::default() };
    // SAFETY: the device is there, by the caller's promise.
    let id = unsafe { functions.call(&Api::PJRT_DeviceDescription_Id, args) }?.id;
    let call = &Api::PJRT_DeviceDescription_Kind;
    let args = DeviceDescriptionKindArgs { device_description: device, ..Default::default() };
    // SAFETY: as above.
    let args = unsafe { functions.call(call, args) }?;
    // SAFETY: the text lives as long as the device.
    let kind = unsafe { raw::answered(call.name, args.device_kind, args.device_kind_size) }?;
    let call = &Api::PJRT_DeviceDescription_ToString;
    let args = DeviceDescriptionToStringArgs { device_description: device, ..Default::default() };
    // SAFETY: as above.
    let args = unsafe { functions.call(call, args) }?;
    // SAFETY: the text lives as long as the device.
    let text = unsafe { raw::answered(call.name, args.to_string, args.to_string_size) }?;
    Ok(DeviceDescription { id, kind, text })
}

/// The sizes of a valid array as the interface takes them.
pub(crate) fn signed(sizes: impl IntoIterator<Item = u64>) -> Vec<i64> {
    // Sizes of valid arrays fit in an i64.
    sizes.into_iter().map(u64::cast_signed).collect()
}

impl Plugin {
    /// The devices of a part of a TPU, whether or not this machine has them.
    ///
    /// # Errors
    /// If the plug-in knows no such devices, or takes longer than it [may](crate::LoadOptions::time_limit).
    pub fn topology(&self, slice: &Slice) -> Result<Topology> {
        self.topology_named(&slice.to_string())
    }

    /// The devices that the plug-in has under a name.
    ///
    /// Names are the plug-in's own matter, and some end libtpu's process, such as `v5e:0x1`; a [`Slice`] never does.
    ///
    /// # Errors
    /// If the plug-in knows no such devices, or takes longer than it [may](crate::LoadOptions::time_limit).
    pub fn topology_named(&self, name: &str) -> Result<Topology> {
        let (plugin, name) = (self.clone(), name.to_owned());
        let call = Api::PJRT_TopologyDescription_Create.name;
        within(self.time_limit(), call, move || Topology::create(&plugin, &name))
    }
}

impl Topology {
    fn create(plugin: &Plugin, name: &str) -> Result<Self> {
        let call = &Api::PJRT_TopologyDescription_Create;
        let args = TopologyDescriptionCreateArgs {
            topology_name: name.as_ptr().cast(),
            topology_name_size: name.len(),
            ..Default::default()
        };
        // SAFETY: the name is there while the call runs.
        let args = unsafe { plugin.functions().call(call, args) }?;
        let raw = NonNull::new(args.topology).ok_or_else(|| Error::answer(call.name, "it is null"))?;
        Ok(Self { inner: Arc::new(Inner { plugin: plugin.clone(), raw, name: name.to_owned() }) })
    }

    /// The plug-in that it belongs to.
    #[must_use]
    pub fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// Its name, such as `v5e:2x2`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    pub(crate) fn raw(&self) -> *mut RawTopology {
        self.inner.raw.as_ptr()
    }

    /// The kind of devices, such as `tpu`.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn platform_name(&self) -> Result<String> {
        let call = &Api::PJRT_TopologyDescription_PlatformName;
        let args = TopologyDescriptionPlatformNameArgs { topology: self.raw(), ..Default::default() };
        // SAFETY: the topology is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text lives as long as the topology.
        unsafe { raw::answered(call.name, args.platform_name, args.platform_name_size) }
    }

    /// The version of the compiler, in words.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn platform_version(&self) -> Result<String> {
        let call = &Api::PJRT_TopologyDescription_PlatformVersion;
        let args = TopologyDescriptionPlatformVersionArgs { topology: self.raw(), ..Default::default() };
        // SAFETY: the topology is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text lives as long as the topology.
        unsafe { raw::answered(call.name, args.platform_version, args.platform_version_size) }
    }

    /// The devices.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn devices(&self) -> Result<Vec<DeviceDescription>> {
        let call = &Api::PJRT_TopologyDescription_GetDeviceDescriptions;
        let args = TopologyDescriptionGetDeviceDescriptionsArgs { topology: self.raw(), ..Default::default() };
        // SAFETY: the topology is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the list lives as long as the topology.
        let devices = unsafe { raw::list(args.descriptions, args.num_descriptions) };
        let devices = devices.filter(|devices| !devices.iter().any(|device| device.is_null()));
        let devices = devices.ok_or_else(|| Error::answer(call.name, "the list or a device in it is null"))?;
        // SAFETY: the devices live as long as the topology.
        devices.iter().map(|&device| unsafe { describe(self.plugin(), device) }).collect()
    }

    /// The layout that the compiler gives an array by default.
    ///
    /// # Errors
    /// If the plug-in does not say, or the interface does not have the element type.
    pub fn default_layout(&self, element_type: ElementType, sizes: &[u64]) -> Result<Layout> {
        // Sizes whose product overflows end libtpu's process.
        ArrayShape::with_default_layout(element_type, sizes)?;
        let dims = signed(sizes.iter().copied());
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Topology_GetDefaultLayout;
        let args = LayoutsTopologyGetDefaultLayoutArgs {
            topology_description: self.raw(),
            r#type: element::number(element_type)?,
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            ..Default::default()
        };
        // SAFETY: the topology is not destroyed before `self`, and the sizes are there while the call runs.
        let args = unsafe { self.plugin().functions().call_layouts(call, args) }?;
        // SAFETY: the layout was made for this call.
        let layout = unsafe { OwnedLayout::new(self.plugin(), args.layout) };
        let layout = layout.read(call.name)?;
        if layout.num_dimensions() != sizes.len() {
            return Err(Error::answer(
                call.name,
                format_args!("{layout} is not a layout of {} dimensions", sizes.len()),
            ));
        }
        Ok(layout)
    }
}
