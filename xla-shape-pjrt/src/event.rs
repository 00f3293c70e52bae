//! What a plug-in does in the background.

use crate::abi::{Api, EventAwaitArgs, EventDestroyArgs, RawEvent};
use crate::error::Result;
use crate::plugin::Plugin;

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
