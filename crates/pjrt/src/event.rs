//! Events: the end of work that a plug-in does in the background.

use crate::abi::{Api, EventAwaitArgs, EventDestroyArgs, RawEvent};
use crate::error::Result;
use crate::plugin::Plugin;

/// An event that belongs to this crate, and is destroyed when this is dropped.
pub(crate) struct Event<'a> {
    plugin: &'a Plugin,
    raw: *mut RawEvent,
}

impl<'a> Event<'a> {
    /// # Safety
    /// `raw` is null, or an event that a call of this plug-in has created. The caller gives up ownership of it: nobody else uses or destroys it.
    pub(crate) unsafe fn new(plugin: &'a Plugin, raw: *mut RawEvent) -> Self {
        Self { plugin, raw }
    }

    /// Waits until the work is finished; an error if it has failed.
    pub(crate) fn wait(&self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        let args = EventAwaitArgs { event: self.raw, ..Default::default() };
        // SAFETY: the event is destroyed only when `self` is dropped; the arguments have no other pointer.
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
        // SAFETY: the event belongs to `self` (*objects*) and is destroyed here only.
        let destroyed = unsafe { self.plugin.functions().call(&Api::PJRT_Event_Destroy, args) };
        // `drop` cannot report an error; the object then leaks inside the plug-in.
        drop(destroyed);
    }
}
