//! Layout objects of a plug-in, converted to values.

use crate::abi::{
    LayoutsExtension, LayoutsMemoryLayoutDestroyArgs, LayoutsMemoryLayoutSerializeArgs, RawLayout, RawSerializedLayout,
};
use crate::error::{Error, Result};
use crate::plugin::Plugin;
use crate::raw;
use xla_shape::Layout;

/// A layout object that belongs to this crate, and is destroyed when this is dropped.
pub(crate) struct OwnedLayout<'a> {
    plugin: &'a Plugin,
    layout: *mut RawLayout,
}

impl<'a> OwnedLayout<'a> {
    /// # Safety
    /// `layout` is null, or a layout that a call of this plug-in has created. The caller gives up ownership of it: nobody else uses or destroys it.
    pub(crate) unsafe fn new(plugin: &'a Plugin, layout: *mut RawLayout) -> Self {
        Self { plugin, layout }
    }

    /// The layout as a value. `call` returned it; its name is for error messages.
    pub(crate) fn read(&self, call: &'static str) -> Result<Layout> {
        // SAFETY: the layout is null, or is destroyed only when `self` is dropped.
        unsafe { read(self.plugin, call, self.layout) }
    }
}

impl Drop for OwnedLayout<'_> {
    fn drop(&mut self) {
        if self.layout.is_null() {
            return;
        }
        let args = LayoutsMemoryLayoutDestroyArgs { layout: self.layout, ..Default::default() };
        // SAFETY: the plug-in has created the layout, which belongs to `self` (*objects*) and is destroyed here only.
        let destroyed =
            unsafe { self.plugin.functions().call_layouts(&LayoutsExtension::PJRT_Layouts_MemoryLayout_Destroy, args) };
        // `drop` cannot report an error; the object then leaks inside the plug-in.
        drop(destroyed);
    }
}

/// The owner of a layout's text, deleted when this is dropped.
struct Serialized {
    holder: *mut RawSerializedLayout,
    deleter: Option<unsafe extern "C" fn(*mut RawSerializedLayout)>,
}

impl Drop for Serialized {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: the plug-in has returned both from the same call, and the owner is deleted here only.
            unsafe { deleter(self.holder) };
        }
    }
}

/// A layout object as a value. `call` returned it; its name is for error messages.
///
/// # Safety
/// `layout` is null or a layout of this plug-in that has not been destroyed.
pub(crate) unsafe fn read(plugin: &Plugin, call: &'static str, layout: *mut RawLayout) -> Result<Layout> {
    if layout.is_null() {
        return Err(Error::answer(call, "a layout is null"));
    }
    let args = LayoutsMemoryLayoutSerializeArgs { layout, ..Default::default() };
    let serialize = &LayoutsExtension::PJRT_Layouts_MemoryLayout_Serialize;
    // SAFETY: `layout` is an object of the plug-in that has not been destroyed (caller); the arguments have no other pointer.
    let args = unsafe { plugin.functions().call_layouts(serialize, args) }?;
    let _serialized = Serialized { holder: args.serialized_layout, deleter: args.serialized_layout_deleter };
    // SAFETY: the text belongs to its owner, which is deleted when `_serialized` is dropped, at the end of this function.
    let text = unsafe { raw::text(args.serialized_bytes, args.serialized_bytes_size) };
    let text = text.ok_or_else(|| Error::answer(call, "the text of a layout is null"))?;
    text.parse().map_err(|error| Error::answer(call, format_args!("the layout `{}`: {error}", text.escape_debug())))
}
