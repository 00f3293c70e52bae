//! Topologies: devices to compile for, which this machine need not have.

use crate::abi::{
    Api, DeviceDescriptionIdArgs, DeviceDescriptionKindArgs, DeviceDescriptionToStringArgs, LayoutsExtension,
    LayoutsTopologyGetDefaultLayoutArgs, NamedValue, NamedValueContent, RawDeviceDescription, RawTopology,
    TopologyDescriptionCreateArgs, TopologyDescriptionDestroyArgs, TopologyDescriptionGetDeviceDescriptionsArgs,
    TopologyDescriptionPlatformNameArgs, TopologyDescriptionPlatformVersionArgs, named_value,
};
use crate::deadline::within;
use crate::element;
use crate::error::{Error, Result};
use crate::find;
use crate::gpus::Gpus;
use crate::layout::OwnedLayout;
use crate::plugin::Plugin;
use crate::raw;
use crate::target::Target;
use std::ptr::NonNull;
use std::sync::Arc;
use xla_shape::hlo::proto::GpuConfig;
use xla_shape::{ArrayShape, ElementType, Layout};

/// Devices and their connections, for which programs are compiled (`PJRT_TopologyDescription`). This machine need not have them.
///
/// [`Plugin::topology`] makes one. Clones share the same topology.
///
/// ```no_run
/// use xla_shape::ElementType;
/// use xla_shape_pjrt::Plugin;
///
/// # fn example(plugin: &Plugin) -> Result<(), Box<dyn std::error::Error>> {
/// let topology = plugin.topology(&"v5e:2x2".parse()?)?;
/// println!("{} devices", topology.devices()?.len());
/// println!("{}", topology.default_layout(ElementType::F32, &[100, 200])?); // {0,1:T(8,128)}
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    inner: Arc<TopologyHandle>,
}

#[derive(Debug)]
struct TopologyHandle {
    plugin: Plugin,
    raw: NonNull<RawTopology>,
    name: String,
    /// Options of the compiler that apply unless the user sets them.
    defaults: Vec<(&'static str, String)>,
}

// SAFETY: the functions of the interface may be called from any thread, also for the same topology (*threads*).
unsafe impl Send for TopologyHandle {}
// SAFETY: as above.
unsafe impl Sync for TopologyHandle {}

impl Drop for TopologyHandle {
    fn drop(&mut self) {
        let args = TopologyDescriptionDestroyArgs { topology: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the topology belongs to `self` (*objects*) and is destroyed here only.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_TopologyDescription_Destroy, args) };
        // `drop` cannot report an error; the object then leaks inside the plug-in.
        drop(destroyed);
    }
}

/// The number and the kind of a device (`PJRT_DeviceDescription`).
///
/// ```
/// # fn example(plugin: &xla_shape_pjrt::Plugin) -> xla_shape_pjrt::Result<()> {
/// let devices = plugin.topology(&"v5e:2x2".parse()?)?.devices()?;
/// assert_eq!(devices.iter().map(|device| device.id).collect::<Vec<_>>(), [0, 1, 2, 3]);
/// assert_eq!(devices[0].kind, "TPU v5 lite");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DeviceDescription {
    /// Its number, which is unique among all devices of the program.
    pub id: i32,
    /// Its kind, such as `TPU v5 lite`.
    pub kind: String,
    /// The plug-in's description of it, for people.
    pub text: String,
}

/// Asks a plug-in about a device.
///
/// # Safety
/// `device` is a description of this plug-in, and the client or topology to which it belongs is alive.
pub(crate) unsafe fn describe(plugin: &Plugin, device: *mut RawDeviceDescription) -> Result<DeviceDescription> {
    let functions = plugin.functions();
    let args = DeviceDescriptionIdArgs { device_description: device, ..Default::default() };
    // SAFETY: `device` is alive (caller); the arguments have no other pointer.
    let id = unsafe { functions.call(&Api::PJRT_DeviceDescription_Id, args) }?.id;
    let call = &Api::PJRT_DeviceDescription_Kind;
    let args = DeviceDescriptionKindArgs { device_description: device, ..Default::default() };
    // SAFETY: as above.
    let args = unsafe { functions.call(call, args) }?;
    // SAFETY: the text belongs to the device (*answers*), which is alive (caller).
    let kind = unsafe { raw::answer_text(call.name, args.device_kind, args.device_kind_size) }?;
    let call = &Api::PJRT_DeviceDescription_ToString;
    let args = DeviceDescriptionToStringArgs { device_description: device, ..Default::default() };
    // SAFETY: as above.
    let args = unsafe { functions.call(call, args) }?;
    // SAFETY: the text belongs to the device (*answers*), which is alive (caller).
    let text = unsafe { raw::answer_text(call.name, args.to_string, args.to_string_size) }?;
    Ok(DeviceDescription { id, kind, text })
}

/// The sizes of a valid array as the numbers of the interface.
pub(crate) fn to_signed(sizes: impl IntoIterator<Item = u64>) -> Vec<i64> {
    // A valid array's sizes fit into an `i64`.
    sizes.into_iter().map(u64::cast_signed).collect()
}

impl Plugin {
    /// The devices of a slice of a TPU, or GPUs, which this machine need not have.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) -> xla_shape_pjrt::Result<()> {
    /// let topology = plugin.topology(&"v6e:4x4".parse()?)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not know such devices, or takes longer than its [time limit](crate::LoadOptions::time_limit).
    pub fn topology(&self, target: &Target) -> Result<Topology> {
        match target {
            Target::Tpu(slice) => self.topology_named(&slice.to_string()),
            Target::Gpu(gpus) => {
                let gpu = gpus.gpu().ok_or(Error::NoDescription)?;
                self.gpus(gpus, &GpuConfig::of(gpu))
            }
        }
    }

    /// GPUs that a description describes completely. This machine need not have them.
    ///
    /// ```no_run
    /// use xla_shape::hlo::proto::GpuConfig;
    ///
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) -> Result<(), Box<dyn std::error::Error>> {
    /// let config = GpuConfig::parse(&std::fs::read_to_string("module_0001.jit_f.gpu_target_config.pbtxt")?)?;
    /// let topology = plugin.gpus(&"gpu:8".parse()?, &config)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the description lacks what the compiler needs; if the plug-in cannot read it, or is for other devices; or if the plug-in takes longer
    /// than its [time limit](crate::LoadOptions::time_limit).
    pub fn gpus(&self, gpus: &Gpus, config: &GpuConfig) -> Result<Topology> {
        if !config.missing().is_empty() {
            return Err(Error::NoGpuConfig { missing: config.missing().to_vec() });
        }
        let options = [("target_config", config.text().to_owned()), ("topology", gpus.topology())];
        self.topology_with(gpus.to_string(), options.into(), find::cuda_data(self.path()).into_iter().collect())
    }

    /// The devices with this name, in the plug-in's own naming.
    ///
    /// For libtpu, prefer [`topology`](Self::topology): libtpu ends the process for some wrong names, such as `v5e:0x1`, while a
    /// [`Slice`](crate::Slice) is always valid.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) -> xla_shape_pjrt::Result<()> {
    /// let topology = plugin.topology_named("v5e:2x2")?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not know such devices, or takes longer than its [time limit](crate::LoadOptions::time_limit).
    pub fn topology_named(&self, name: &str) -> Result<Topology> {
        self.topology_with(name.to_owned(), Vec::new(), Vec::new())
    }

    fn topology_with(
        &self,
        name: String,
        options: Vec<(&'static str, String)>,
        defaults: Vec<(&'static str, String)>,
    ) -> Result<Topology> {
        let plugin = self.clone();
        let call = Api::PJRT_TopologyDescription_Create.name;
        within(self.time_limit(), call, move || Topology::create(&plugin, &name, &options, defaults))
    }
}

impl Topology {
    fn create(
        plugin: &Plugin,
        name: &str,
        options: &[(&'static str, String)],
        defaults: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        let call = &Api::PJRT_TopologyDescription_Create;
        let options = options.iter().map(|(name, value)| NamedValue {
            name: name.as_ptr().cast(),
            name_size: name.len(),
            r#type: named_value::STRING,
            value: NamedValueContent { string_value: value.as_ptr().cast() },
            value_size: value.len(),
            ..Default::default()
        });
        let options = options.collect::<Vec<_>>();
        let args = TopologyDescriptionCreateArgs {
            topology_name: name.as_ptr().cast(),
            topology_name_size: name.len(),
            create_options: options.as_ptr(),
            num_options: options.len(),
            ..Default::default()
        };
        // SAFETY: `topology_name` points to the bytes of `name`, and `create_options` to `num_options` values, whose pointers point to the
        // bytes of texts. All of them live until the call returns.
        let args = unsafe { plugin.functions().call(call, args) }?;
        let raw = NonNull::new(args.topology).ok_or_else(|| Error::answer(call.name, "the result is null"))?;
        Ok(Self { inner: Arc::new(TopologyHandle { plugin: plugin.clone(), raw, name: name.to_owned(), defaults }) })
    }

    /// The plug-in to which it belongs.
    ///
    /// ```no_run
    /// # fn example(topology: &xla_shape_pjrt::Topology) {
    /// println!("compiled by {}", topology.plugin().name());
    /// # }
    /// ```
    #[must_use]
    pub fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// Its name, such as `v5e:2x2`.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) -> xla_shape_pjrt::Result<()> {
    /// assert_eq!(plugin.topology(&"v7x:2x2".parse()?)?.name(), "tpu7x:2x2x1"); // the compiler's name
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Options of the compiler that apply unless the user sets them.
    pub(crate) fn defaults(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.inner.defaults.iter().cloned()
    }

    pub(crate) fn raw(&self) -> *mut RawTopology {
        self.inner.raw.as_ptr()
    }

    /// The kind of devices, such as `tpu`.
    ///
    /// ```no_run
    /// # fn example(topology: &xla_shape_pjrt::Topology) -> xla_shape_pjrt::Result<()> {
    /// assert_eq!(topology.platform_name()?, "tpu");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn platform_name(&self) -> Result<String> {
        let call = &Api::PJRT_TopologyDescription_PlatformName;
        let args = TopologyDescriptionPlatformNameArgs { topology: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the topology alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text belongs to the topology (*answers*), which `self` keeps alive.
        unsafe { raw::answer_text(call.name, args.platform_name, args.platform_name_size) }
    }

    /// The version of the compiler, as a text for people. Plug-ins for GPUs say the name of the GPU here ([`Plugin::package`]).
    ///
    /// ```no_run
    /// # fn example(topology: &xla_shape_pjrt::Topology) -> xla_shape_pjrt::Result<()> {
    /// println!("{}", topology.platform_version()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn platform_version(&self) -> Result<String> {
        let call = &Api::PJRT_TopologyDescription_PlatformVersion;
        let args = TopologyDescriptionPlatformVersionArgs { topology: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the topology alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the text belongs to the topology (*answers*), which `self` keeps alive.
        unsafe { raw::answer_text(call.name, args.platform_version, args.platform_version_size) }
    }

    /// The devices, in the plug-in's order.
    ///
    /// ```no_run
    /// # fn example(topology: &xla_shape_pjrt::Topology) -> xla_shape_pjrt::Result<()> {
    /// for device in topology.devices()? {
    ///     println!("{} {}", device.id, device.kind); // 0 TPU v5 lite
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn devices(&self) -> Result<Vec<DeviceDescription>> {
        let call = &Api::PJRT_TopologyDescription_GetDeviceDescriptions;
        let args = TopologyDescriptionGetDeviceDescriptionsArgs { topology: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the topology alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(call, args) }?;
        // SAFETY: the list belongs to the topology (*answers*), which `self` keeps alive.
        let devices = unsafe { raw::list(args.descriptions, args.num_descriptions) };
        let devices = devices.filter(|devices| !devices.iter().any(|device| device.is_null()));
        let devices = devices.ok_or_else(|| Error::answer(call.name, "the list or a device in the result is null"))?;
        // SAFETY: the devices belong to the topology (*answers*), which `self` keeps alive.
        devices.iter().map(|&device| unsafe { describe(self.plugin(), device) }).collect()
    }

    /// The layout that the compiler chooses for an array of this type and these sizes if nothing else is requested.
    ///
    /// [`xla_shape::tpu::default_layout`] computes the same for TPUs, without a plug-in.
    ///
    /// ```no_run
    /// use xla_shape::ElementType;
    ///
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) -> xla_shape_pjrt::Result<()> {
    /// let layout = plugin.topology(&"v5e:2x2".parse()?)?.default_layout(ElementType::F32, &[100, 200])?;
    /// assert_eq!(layout.to_string(), "{0,1:T(8,128)}");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the sizes are not those of a valid array, the interface does not have the element type, or the plug-in refuses the call.
    pub fn default_layout(&self, element_type: ElementType, sizes: &[u64]) -> Result<Layout> {
        // Checked here, because libtpu ends the process if the product of the sizes overflows.
        ArrayShape::with_default_layout(element_type, sizes)?;
        let dims = to_signed(sizes.iter().copied());
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Topology_GetDefaultLayout;
        let args = LayoutsTopologyGetDefaultLayoutArgs {
            topology_description: self.raw(),
            r#type: element::number(element_type)?,
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            ..Default::default()
        };
        // SAFETY: `self` keeps the topology alive, and `dims` points to `num_dims` sizes that live until the call returns.
        let args = unsafe { self.plugin().functions().call_layouts(call, args) }?;
        // SAFETY: the call has created the layout for its caller (*objects*).
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
