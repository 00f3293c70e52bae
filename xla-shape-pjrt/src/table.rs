//! A plug-in's table of functions: found, checked and called. Everything `unsafe` about calls is here.

use crate::abi::{
    API_MINOR, Api, Arguments, ErrorDestroyArgs, ErrorGetCodeArgs, ErrorMessageArgs, ExtensionBase, Function,
    LAYOUTS_EXTENSION, RawError, Room, SHARDINGS_EXTENSION,
};
use crate::error::{Error, ErrorCode, PluginError, Result};
use crate::raw;
use crate::version::Version;
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::NonNull;

/// A table that a plug-in made: a size, then, as far as that goes, functions.
#[derive(Clone, Copy, Debug)]
struct Table {
    start: NonNull<u8>,
    size: usize,
}

impl Table {
    /// The function at a place, `None` if the table is too short for it or has null there.
    fn get<F: Copy>(self, offset: usize) -> Option<F> {
        const { assert!(size_of::<Option<F>>() == size_of::<usize>()) };
        let end = offset.checked_add(size_of::<Option<F>>())?;
        if end > self.size {
            return None;
        }
        // SAFETY: the place is inside of the table, of which `start` and `size` are the whole.
        let place = unsafe { self.start.as_ptr().add(offset) }.cast::<Option<F>>();
        // SAFETY: every place after the head of a table holds a function or null, and `F` is the type that the interface
        // gives the function there (the offsets of `abi` are compared with the header's). It is aligned as the table is.
        unsafe { place.read() }
    }
}

/// The functions of a plug-in.
#[derive(Debug)]
pub(crate) struct Functions {
    api: Table,
    layouts: Option<Table>,
    shardings: Option<Table>,
    version: Version,
}

// SAFETY: the tables are written before a plug-in hands them out and live as long as the process; XLA's implementation of
// the interface may be called from any thread, which is what it demands of others too.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

/// The most extensions that a plug-in may have; a list that is longer goes in a circle.
const MAX_EXTENSIONS: usize = 1000;

impl Functions {
    /// Reads the head of a table.
    ///
    /// # Safety
    /// `api` is null, or what a plug-in's `GetPjrtApi` returned: a table that is as long as its first field says, whose
    /// extensions are too, which has the functions of the interface and lives until the process ends.
    pub(crate) unsafe fn new(api: *const Api, plugin: &str) -> Result<Self> {
        let wrong = |reason: &str| Error::NotAPlugin { plugin: plugin.to_owned(), reason: reason.to_owned() };
        let Some(start) = NonNull::new(api.cast_mut().cast::<u8>()) else { return Err(wrong("GetPjrtApi gave null")) };
        if !start.cast::<Api>().is_aligned() {
            return Err(wrong("its table is not aligned"));
        }
        // SAFETY: a table begins with its size.
        let size = unsafe { start.cast::<usize>().read() };
        // The head, and what destroys errors and reads them: without those nothing else can be called.
        if size < offset_of!(Api, PJRT_Error_GetCode) {
            return Err(wrong(&format!("its table has {size} bytes, which is too few")));
        }
        // SAFETY: the size says that the head is there.
        let version = unsafe { &raw const (*api).pjrt_api_version };
        // SAFETY: as above.
        let version = unsafe { version.read() };
        let version = Version { major: version.major_version, minor: version.minor_version };
        if !version.is_known() {
            return Err(Error::Version { plugin: plugin.to_owned(), version });
        }
        let api_table = Table { start, size };
        let has_errors = api_table.get::<unsafe extern "C" fn()>(Api::PJRT_Error_Destroy.offset).is_some()
            && api_table.get::<unsafe extern "C" fn()>(Api::PJRT_Error_Message.offset).is_some();
        if !has_errors {
            return Err(wrong("it has no functions for errors"));
        }
        // SAFETY: the size says that the head is there.
        let first = unsafe { &raw const (*api).extension_start };
        // SAFETY: as above.
        let mut next = unsafe { first.read() };
        let mut functions = Self { api: api_table, layouts: None, shardings: None, version };
        for _ in 0..MAX_EXTENSIONS {
            let Some(extension) = NonNull::new(next) else { return Ok(functions) };
            if !extension.is_aligned() {
                return Err(wrong("an extension is not aligned"));
            }
            // SAFETY: an extension begins with its size.
            let size = unsafe { extension.cast::<usize>().read() };
            if size < size_of::<ExtensionBase>() {
                return Err(wrong("an extension is too small"));
            }
            // SAFETY: the size says that the whole head is there.
            let base = unsafe { extension.as_ref() };
            let table = Some(Table { start: extension.cast(), size });
            match base.kind {
                LAYOUTS_EXTENSION => functions.layouts = functions.layouts.or(table),
                SHARDINGS_EXTENSION => functions.shardings = functions.shardings.or(table),
                _ => {}
            }
            next = base.next;
        }
        Err(wrong("its list of extensions does not end"))
    }

    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// Whether the plug-in has a function of its main table.
    pub(crate) fn has<A>(&self, function: &Function<A>) -> bool {
        self.api.get::<unsafe extern "C" fn()>(function.offset).is_some()
    }

    /// Whether the plug-in says which layouts it chooses.
    pub(crate) const fn has_layouts(&self) -> bool {
        self.layouts.is_some()
    }

    /// Calls a function, and gives the arguments with what it wrote into them.
    ///
    /// # Safety
    /// The arguments are what the interface demands of this function: pointers point to what it says, as long as the call
    /// takes, and objects belong to this plug-in and are not destroyed.
    pub(crate) unsafe fn call<A: Arguments>(&self, function: &Function<A>, args: A) -> Result<A> {
        // SAFETY: the caller's promise.
        unsafe { self.call_in(self.api, function, args) }
    }

    /// The same for a function of the extension for layouts.
    ///
    /// # Safety
    /// Like [`call`](Self::call).
    pub(crate) unsafe fn call_layouts<A: Arguments>(&self, function: &Function<A>, args: A) -> Result<A> {
        let table = self.layouts.ok_or(Error::MissingExtension { extension: "layouts" })?;
        // SAFETY: the caller's promise.
        unsafe { self.call_in(table, function, args) }
    }

    /// The same for a function of the extension for shardings.
    ///
    /// # Safety
    /// Like [`call`](Self::call).
    pub(crate) unsafe fn call_shardings<A: Arguments>(&self, function: &Function<A>, args: A) -> Result<A> {
        let table = self.shardings.ok_or(Error::MissingExtension { extension: "shardings" })?;
        // SAFETY: the caller's promise.
        unsafe { self.call_in(table, function, args) }
    }

    /// # Safety
    /// Like [`call`](Self::call); `table` is the one that has the function.
    unsafe fn call_in<A: Arguments>(&self, table: Table, function: &Function<A>, args: A) -> Result<A> {
        type Fallible<A> = unsafe extern "C" fn(*mut A) -> *mut RawError;
        let missing = Error::MissingCall { call: function.name, version: self.version };
        let called = table.get::<Fallible<A>>(function.offset).ok_or(missing)?;
        let mut room = self.room(args);
        // SAFETY: the arguments are those of this function, by the caller's promise, and as large as they say.
        let error = unsafe { called((&raw mut room).cast()) };
        self.check(function.name, error)?;
        Ok(room.args)
    }

    /// Arguments of the size that the plug-in knows.
    fn room<A: Arguments>(&self, args: A) -> Room<A> {
        let mut room = Room { args, spare: [0; 8] };
        let is_newer = self.version.minor > API_MINOR;
        room.args.set_struct_size(if is_newer { Room::<A>::SIZE } else { A::SIZE });
        room
    }

    /// Takes an error of the plug-in apart, and destroys it.
    fn check(&self, call: &'static str, error: *mut RawError) -> Result<()> {
        if error.is_null() {
            return Ok(());
        }
        let error = self.read_error(error);
        // The words are libtpu's. It says ABORTED for other reasons, too.
        if error.code == ErrorCode::Aborted && error.message.contains("lockfile") {
            return Err(Error::Locked { error });
        }
        Err(Error::Plugin { call, error })
    }

    fn read_error(&self, error: *mut RawError) -> PluginError {
        type Silent<A> = unsafe extern "C" fn(*mut A);
        let mut code = ErrorCode::Unknown;
        type GetCode = unsafe extern "C" fn(*mut ErrorGetCodeArgs) -> *mut RawError;
        if let Some(get_code) = self.api.get::<GetCode>(Api::PJRT_Error_GetCode.offset) {
            let mut room = self.room(ErrorGetCodeArgs { error, ..Default::default() });
            // SAFETY: the arguments are those of this function, and the error is not destroyed yet.
            let failed = unsafe { get_code((&raw mut room).cast()) };
            match failed.is_null() {
                true => code = ErrorCode::from_number(room.args.code as c_int),
                false => self.destroy(failed),
            }
        }
        let mut message = String::new();
        if let Some(get_message) = self.api.get::<Silent<ErrorMessageArgs>>(Api::PJRT_Error_Message.offset) {
            let mut room = self.room(ErrorMessageArgs { error, ..Default::default() });
            // SAFETY: as above.
            unsafe { get_message((&raw mut room).cast()) };
            // SAFETY: the text lives as long as the error.
            let bytes = unsafe { raw::bytes(room.args.message, room.args.message_size) };
            message = String::from_utf8_lossy(bytes.unwrap_or_default()).trim().to_owned();
        }
        self.destroy(error);
        if message.is_empty() {
            message = format!("{code}, no message");
        }
        PluginError { code, message }
    }

    /// Destroys an error, which nobody uses afterwards.
    fn destroy(&self, error: *mut RawError) {
        type Silent = unsafe extern "C" fn(*mut ErrorDestroyArgs);
        if let Some(destroy) = self.api.get::<Silent>(Api::PJRT_Error_Destroy.offset) {
            let mut room = self.room(ErrorDestroyArgs { error, ..Default::default() });
            // SAFETY: the error is the plug-in's and is destroyed once: both callers take it from a call, and forget it.
            unsafe { destroy((&raw mut room).cast()) };
        }
    }
}
