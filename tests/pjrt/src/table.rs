//! The plug-in's table.

use crate::object::{ABORTED, answer, error_destroy, error_get_code, error_message, properties};
use crate::{compiler, devices};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::time::Duration;
use xla_shape_pjrt::abi::{
    API_MAJOR, API_MINOR, Api, ApiVersion, ExtensionBase, LAYOUTS_EXTENSION, LayoutsExtension, PluginAttributesArgs,
    PluginInitializeArgs, RawError, SHARDINGS_EXTENSION, ShardingsExtension,
};

/// A description of a table.
#[derive(Clone, Copy, Debug)]
pub struct Make {
    /// Its version.
    pub major: c_int,
    /// Its version.
    pub minor: c_int,
    /// The size that the table claims to have, in bytes.
    pub size: usize,
    /// Whether it has the extension for layouts.
    pub layouts: bool,
    /// Whether it has the extension for shardings.
    pub shardings: bool,
    /// The names of functions that are null.
    pub without: &'static [&'static str],
    /// Whether another process has locked the devices.
    pub locked: bool,
    /// Whether it takes seconds to start.
    pub slow: bool,
    /// Whether its list of extensions is a circle.
    pub circle: bool,
}

impl Default for Make {
    fn default() -> Self {
        Self {
            major: API_MAJOR,
            minor: API_MINOR,
            size: Api::SIZE,
            layouts: true,
            shardings: true,
            without: &[],
            locked: false,
            slow: false,
            circle: false,
        }
    }
}

impl Make {
    /// The table. It lives as long as the process.
    ///
    /// # Panics
    /// If `without` names a function that the table does not have.
    #[must_use]
    pub fn leak(self) -> *const Api {
        let mut first: *mut ExtensionBase = null_mut();
        let head = |kind, size, next| ExtensionBase { struct_size: size, kind, next };
        if self.shardings {
            let mut extension = ShardingsExtension::empty(head(SHARDINGS_EXTENSION, ShardingsExtension::SIZE, first));
            extension.PJRT_Shardings_PJRT_Executable_ParameterShardings = Some(compiler::parameter_shardings);
            extension.PJRT_Shardings_PJRT_Executable_OutputShardings = Some(compiler::output_shardings);
            first = (&raw mut *Box::leak(Box::new(extension))).cast();
        }
        if self.layouts {
            let mut extension = LayoutsExtension::empty(head(LAYOUTS_EXTENSION, LayoutsExtension::SIZE, first));
            compiler::fill_layouts(&mut extension);
            extension.PJRT_Layouts_PJRT_Buffer_MemoryLayout = Some(devices::buffer_layout);
            first = (&raw mut *Box::leak(Box::new(extension))).cast();
        }
        // An extension of an unknown kind.
        let other = Box::leak(Box::new(head(99, size_of::<ExtensionBase>(), first)));
        if self.circle {
            other.next = &raw mut *other;
        }
        let version = ApiVersion { major_version: self.major, minor_version: self.minor, ..ApiVersion::default() };
        let mut api = Api::empty(self.size, other, version);
        api.PJRT_Error_Destroy = Some(error_destroy);
        api.PJRT_Error_Message = Some(error_message);
        api.PJRT_Error_GetCode = Some(error_get_code);
        api.PJRT_Plugin_Attributes = Some(attributes);
        api.PJRT_Plugin_Initialize = Some(match (self.locked, self.slow) {
            (true, _) => initialize_locked,
            (_, true) => initialize_slowly,
            _ => initialize,
        });
        compiler::fill(&mut api);
        devices::fill(&mut api);
        let api = Box::leak(Box::new(api));
        for name in self.without {
            let (_, offset) = Api::FUNCTIONS.iter().find(|(known, _)| known == name).expect("a function of the table");
            let place = (&raw mut *api).cast::<usize>();
            // SAFETY: the offset is that of a function in the table, which is an `Option` of the size of a pointer.
            let place = unsafe { place.byte_add(*offset) };
            // SAFETY: as above; 0 is `None`.
            unsafe { place.write(0) };
        }
        api
    }
}

unsafe extern "C" fn initialize(args: *mut PluginInitializeArgs) -> *mut RawError {
    // SAFETY: the interface passes arguments of this type.
    unsafe { answer(args, |_| Ok(())) }
}

unsafe extern "C" fn initialize_locked(args: *mut PluginInitializeArgs) -> *mut RawError {
    let message = "Internal error when accessing multi-process lockfile.";
    // SAFETY: the interface passes arguments of this type.
    unsafe { answer(args, |_| Err((ABORTED, message.to_owned()))) }
}

unsafe extern "C" fn initialize_slowly(args: *mut PluginInitializeArgs) -> *mut RawError {
    std::thread::sleep(Duration::from_millis(700));
    // SAFETY: the interface passes arguments of this type.
    unsafe { answer(args, |_| Ok(())) }
}

unsafe extern "C" fn attributes(args: *mut PluginAttributesArgs) -> *mut RawError {
    let work = |args: &mut PluginAttributesArgs| {
        let properties = Box::leak(properties().into_boxed_slice());
        (args.attributes, args.num_attributes) = (properties.as_ptr(), properties.len());
        Ok(())
    };
    // SAFETY: the interface passes arguments of this type.
    unsafe { answer(args, work) }
}
