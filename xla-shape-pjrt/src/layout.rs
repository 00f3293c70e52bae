//! Layouts of a plug-in, as values.

use crate::abi::{
    LayoutsExtension, LayoutsMemoryLayoutDestroyArgs, LayoutsMemoryLayoutSerializeArgs, RawLayout, RawSerializedLayout,
};
use crate::error::{Error, Result};
use crate::plugin::Plugin;
use crate::raw;
use xla_shape::Layout;

/// A layout that is ours to destroy.
pub(crate) struct OwnedLayout<'a> {
    plugin: &'a Plugin,
    layout: *mut RawLayout,
}

impl<'a> OwnedLayout<'a> {
    /// # Safety
    /// `layout` was made by this plug-in for its caller, who hands it over.
    pub(crate) unsafe fn new(plugin: &'a Plugin, layout: *mut RawLayout) -> Self {
        Self { plugin, layout }
    }

    /// The layout that `call` answered with.
    pub(crate) fn read(&self, call: &'static str) -> Result<Layout> {
        // SAFETY: the layout is destroyed no sooner than `self`.
        unsafe { read(self.plugin, call, self.layout) }
    }
}

impl Drop for OwnedLayout<'_> {
    fn drop(&mut self) {
        if self.layout.is_null() {
            return;
        }
        let args = LayoutsMemoryLayoutDestroyArgs { layout: self.layout, ..Default::default() };
        // SAFETY: the layout is the plug-in's and ours to destroy, once.
        let destroyed =
            unsafe { self.plugin.functions().call_layouts(&LayoutsExtension::PJRT_Layouts_MemoryLayout_Destroy, args) };
        // Nothing is left to do where a plug-in cannot destroy what it made.
        drop(destroyed);
    }
}

/// The text of a layout while it is read.
struct Serialized {
    holder: *mut RawSerializedLayout,
    deleter: Option<unsafe extern "C" fn(*mut RawSerializedLayout)>,
}

impl Drop for Serialized {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: the plug-in gave both together, to be called once.
            unsafe { deleter(self.holder) };
        }
    }
}

/// The layout that `call` answered with.
///
/// # Safety
/// `layout` is null or a layout of this plug-in that is not destroyed.
pub(crate) unsafe fn read(plugin: &Plugin, call: &'static str, layout: *mut RawLayout) -> Result<Layout> {
    if layout.is_null() {
        return Err(Error::answer(call, "a layout is null"));
    }
    let args = LayoutsMemoryLayoutSerializeArgs { layout, ..Default::default() };
    let serialize = &LayoutsExtension::PJRT_Layouts_MemoryLayout_Serialize;
    // SAFETY: the layout is one of the plug-in's, by the caller's promise.
    let args = unsafe { plugin.functions().call_layouts(serialize, args) }?;
    let _serialized = Serialized { holder: args.serialized_layout, deleter: args.serialized_layout_deleter };
    // SAFETY: the text lives until its holder is deleted.
    let text = unsafe { raw::text(args.serialized_bytes, args.serialized_bytes_size) };
    let text = text.ok_or_else(|| Error::answer(call, "the text of a layout is null"))?;
    text.parse().map_err(|error| Error::answer(call, format_args!("the layout `{}`: {error}", text.escape_debug())))
}
