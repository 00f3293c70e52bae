//! A plug-in's tables of functions: checked when the plug-in is loaded, and called through [`Functions`].
//!
//! SAFETY comments cite the [rules of the interface](crate::abi) by name.

use crate::abi::{
    API_MINOR, Api, Arguments, ErrorDestroyArgs, ErrorGetCodeArgs, ErrorMessageArgs, ExtensionBase, Function,
    LAYOUTS_EXTENSION, PaddedArguments, RawError, SHARDINGS_EXTENSION,
};
use crate::error::{Error, ErrorCode, PluginError, Result};
use crate::raw;
use crate::version::Version;
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::NonNull;

/// A plug-in's table of functions.
///
/// Invariant: `start` is aligned for a pointer, and points to `size` readable bytes that never change. They hold a header and then
/// functions or null, at the offsets that [`abi`](crate::abi) declares.
#[derive(Clone, Copy, Debug)]
struct Table {
    start: NonNull<u8>,
    size: usize,
}

impl Table {
    /// The function at an offset; `None` if the table is too short for it or has null there.
    ///
    /// `offset` belongs to a [`Function`] of this table, and `F` is a function pointer of its type.
    fn get<F: Copy>(self, offset: usize) -> Option<F> {
        const { assert!(size_of::<Option<F>>() == size_of::<usize>()) };
        let end = offset.checked_add(size_of::<Option<F>>())?;
        if end > self.size {
            return None;
        }
        // SAFETY: `offset` is less than `size`, so the result is within the table.
        let field = unsafe { self.start.as_ptr().add(offset) }.cast::<Option<F>>();
        // SAFETY: the whole field is within the table (`end <= size`), and is aligned, since the table is and offsets of functions
        // are multiples of the size of a pointer. It holds a function or null (invariant), which is a valid `Option<F>`: a test
        // compares the offsets with the header's, and all callers name the header's type for `F`.
        unsafe { field.read() }
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

// SAFETY: the tables never change and live until the process ends (invariant of `Table`), so any thread may read them; their
// functions may be called from any thread (*threads*).
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

/// The longest list of extensions that is read. A longer one is taken for a cycle.
const MAX_EXTENSIONS: usize = 1000;

impl Functions {
    /// Checks a table's header and finds its extensions.
    ///
    /// # Safety
    /// `api` is null, or what a plug-in's `GetPjrtApi` returned: a table as long as its first field says, with extensions as long
    /// as their first fields say. They hold the functions of the interface, never change, and live until the process ends. The
    /// functions keep the [rules of the interface](crate::abi).
    pub(crate) unsafe fn new(api: *const Api, plugin: &str) -> Result<Self> {
        let wrong = |reason: &str| Error::NotAPlugin { plugin: plugin.to_owned(), reason: reason.to_owned() };
        let Some(start) = NonNull::new(api.cast_mut().cast::<u8>()) else {
            return Err(wrong("GetPjrtApi returned null"));
        };
        if !start.cast::<Api>().is_aligned() {
            return Err(wrong("its table of functions is not aligned"));
        }
        // SAFETY: `start` is not null and is aligned, and a table begins with its size (caller).
        let size = unsafe { start.cast::<usize>().read() };
        // The table must have the header, and the functions that destroy and read errors: without these functions, no other call is possible.
        if size < offset_of!(Api, PJRT_Error_GetCode) {
            return Err(wrong(&format!("its table of functions has only {size} bytes")));
        }
        // SAFETY: `api` has at least `size` bytes (caller), and `size` includes the header, as just checked.
        let version = unsafe { &raw const (*api).pjrt_api_version };
        // SAFETY: as above; the field is aligned because the table is.
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
        // SAFETY: `size` includes the header, as for the version.
        let first = unsafe { &raw const (*api).extension_start };
        // SAFETY: as above.
        let mut next = unsafe { first.read() };
        let mut functions = Self { api: api_table, layouts: None, shardings: None, version };
        for _ in 0..MAX_EXTENSIONS {
            let Some(extension) = NonNull::new(next) else { return Ok(functions) };
            if !extension.is_aligned() {
                return Err(wrong("an extension is not aligned"));
            }
            // SAFETY: `extension` is not null and is aligned, and an extension begins with its size (caller).
            let size = unsafe { extension.cast::<usize>().read() };
            if size < size_of::<ExtensionBase>() {
                return Err(wrong("an extension is too small"));
            }
            // SAFETY: the extension has at least `size` bytes (caller), which include an `ExtensionBase`; it never changes.
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

    /// Whether the plug-in has the extension that reports layouts.
    pub(crate) const fn has_layouts(&self) -> bool {
        self.layouts.is_some()
    }

    /// Calls a function of the main table, and returns the arguments with the fields that it has written.
    ///
    /// # Safety
    /// The header's requirements for this function's arguments hold: each pointer points to what the header says until the call
    /// returns, and each object was created by this plug-in and is not destroyed.
    pub(crate) unsafe fn call<A: Arguments>(&self, function: &Function<A>, args: A) -> Result<A> {
        // SAFETY: `Function`s with these arguments are declared for the main table; the rest is the caller's contract.
        unsafe { self.call_in(self.api, function, args) }
    }

    /// Calls a function of the extension for layouts.
    ///
    /// # Safety
    /// Like [`call`](Self::call).
    pub(crate) unsafe fn call_layouts<A: Arguments>(&self, function: &Function<A>, args: A) -> Result<A> {
        let table = self.layouts.ok_or(Error::MissingExtension { extension: "layouts" })?;
        // SAFETY: `table` belongs to the extension for layouts, as its `kind` says; the rest is the caller's contract.
        unsafe { self.call_in(table, function, args) }
    }

    /// Calls a function of the extension for shardings.
    ///
    /// # Safety
    /// Like [`call`](Self::call).
    pub(crate) unsafe fn call_shardings<A: Arguments>(&self, function: &Function<A>, args: A) -> Result<A> {
        let table = self.shardings.ok_or(Error::MissingExtension { extension: "shardings" })?;
        // SAFETY: `table` belongs to the extension for shardings, as its `kind` says; the rest is the caller's contract.
        unsafe { self.call_in(table, function, args) }
    }

    /// Calls a function of a table.
    ///
    /// # Safety
    /// Like [`call`](Self::call); `function` is declared for this table.
    unsafe fn call_in<A: Arguments>(&self, table: Table, function: &Function<A>, args: A) -> Result<A> {
        type Fallible<A> = unsafe extern "C" fn(*mut A) -> *mut RawError;
        let missing = Error::MissingCall { call: function.name, version: self.version };
        let called = table.get::<Fallible<A>>(function.offset).ok_or(missing)?;
        let mut padded = self.pad(args);
        // SAFETY: `called` is the function that the interface declares with arguments `A`, and the caller promises what it requires
        // of them. `padded` has as many bytes as its `struct_size` says, and lives until the call returns (*arguments*).
        let error = unsafe { called((&raw mut padded).cast()) };
        self.check(function.name, error)?;
        Ok(padded.args)
    }

    /// The arguments, with their size set: padded with zeros if the plug-in is newer than these declarations.
    fn pad<A: Arguments>(&self, args: A) -> PaddedArguments<A> {
        let mut padded = PaddedArguments { args, spare: [0; 8] };
        let is_newer = self.version.minor > API_MINOR;
        padded.args.set_struct_size(if is_newer { PaddedArguments::<A>::SIZE } else { A::SIZE });
        padded
    }

    /// Converts an error object of the plug-in, if there is one, and destroys it.
    fn check(&self, call: &'static str, error: *mut RawError) -> Result<()> {
        if error.is_null() {
            return Ok(());
        }
        let error = self.read_error(error);
        // libtpu's message names its lock file; the code ABORTED alone can have other causes.
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
            let mut padded = self.pad(ErrorGetCodeArgs { error, ..Default::default() });
            // SAFETY: `get_code` is `PJRT_Error_GetCode`, and `padded` are its arguments, which live until it returns. `error` is
            // not null, and is destroyed only at the end of this function.
            let failed = unsafe { get_code((&raw mut padded).cast()) };
            match failed.is_null() {
                true => code = ErrorCode::from_number(padded.args.code as c_int),
                false => self.destroy(failed),
            }
        }
        let mut message = String::new();
        if let Some(get_message) = self.api.get::<Silent<ErrorMessageArgs>>(Api::PJRT_Error_Message.offset) {
            let mut padded = self.pad(ErrorMessageArgs { error, ..Default::default() });
            // SAFETY: as above, for `PJRT_Error_Message`.
            unsafe { get_message((&raw mut padded).cast()) };
            // SAFETY: the text has the lifetime of `error` (*answers*), which is destroyed below, after the last use.
            let bytes = unsafe { raw::bytes(padded.args.message, padded.args.message_size) };
            message = String::from_utf8_lossy(bytes.unwrap_or_default()).trim().to_owned();
        }
        self.destroy(error);
        if message.is_empty() {
            message = format!("{code}, no message");
        }
        PluginError { code, message }
    }

    /// Destroys an error, which the caller must not use afterwards.
    fn destroy(&self, error: *mut RawError) {
        type Silent = unsafe extern "C" fn(*mut ErrorDestroyArgs);
        if let Some(destroy) = self.api.get::<Silent>(Api::PJRT_Error_Destroy.offset) {
            let mut padded = self.pad(ErrorDestroyArgs { error, ..Default::default() });
            // SAFETY: `destroy` is `PJRT_Error_Destroy`, and `padded` are its arguments. The error belongs to us (*objects*), and is
            // destroyed once: both callers have it from a call of the plug-in and do not use it afterwards.
            unsafe { destroy((&raw mut padded).cast()) };
        }
    }
}
