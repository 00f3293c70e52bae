//! The objects that the plug-in hands out, and the code around each of its calls.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use xla_shape_pjrt::abi::{
    Arguments, ErrorDestroyArgs, ErrorGetCodeArgs, ErrorMessageArgs, NamedValue, NamedValueContent, RawError,
    named_value,
};

/// How many objects were handed out and not destroyed.
static LIVE: AtomicIsize = AtomicIsize::new(0);
/// How many bytes calls must pass in addition to the arguments that this crate declares.
static ROOM: AtomicUsize = AtomicUsize::new(0);

/// How many objects were handed out and not destroyed.
#[must_use]
pub fn live() -> isize {
    LIVE.load(Ordering::SeqCst)
}

/// Requires this many bytes of 0 after the arguments that this crate declares, as a plug-in with newer declarations does.
pub fn require_room(bytes: usize) {
    ROOM.store(bytes, Ordering::SeqCst);
}

/// The code and the message of an error.
pub(crate) type Refusal = (c_int, String);

pub(crate) const INVALID_ARGUMENT: c_int = 3;
pub(crate) const NOT_FOUND: c_int = 5;
pub(crate) const RESOURCE_EXHAUSTED: c_int = 8;
pub(crate) const ABORTED: c_int = 10;
pub(crate) const UNIMPLEMENTED: c_int = 12;

/// Hands out an object.
pub(crate) fn hand_out<T, R>(value: T) -> *mut R {
    LIVE.fetch_add(1, Ordering::SeqCst);
    Box::into_raw(Box::new(value)).cast()
}

/// Takes an object back and destroys it. Null is ignored.
///
/// # Safety
/// `object` was handed out as a `T`, and is not used any more.
pub(crate) unsafe fn take_back<T, R>(object: *mut R) {
    if !object.is_null() {
        LIVE.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: `hand_out` made the pointer from a `Box<T>`.
        drop(unsafe { Box::from_raw(object.cast::<T>()) });
    }
}

/// An object that was handed out.
///
/// # Safety
/// `object` was handed out as a `T`, and is not destroyed while `'a` lasts.
pub(crate) unsafe fn object<'a, T, R>(object: *const R) -> &'a T {
    // SAFETY: the caller's promise.
    unsafe { &*object.cast::<T>() }
}

/// A text that a caller passes.
///
/// # Safety
/// `data` points to `len` bytes that can be read.
pub(crate) unsafe fn text(data: *const c_char, len: usize) -> String {
    if len == 0 {
        return String::new();
    }
    // SAFETY: the caller's promise.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(data.cast(), len) }).into_owned()
}

/// A list that a caller passes.
///
/// # Safety
/// `data` points to `len` values that can be read.
pub(crate) unsafe fn list<T: Copy>(data: *const T, len: usize) -> Vec<T> {
    if len == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data, len) }.to_vec()
}

/// Checks the size of the arguments as XLA does, and then passes them to `work`.
///
/// # Safety
/// `args` points to a struct of arguments that is as long as its first field says.
pub(crate) unsafe fn answer<A: Arguments>(
    args: *mut A,
    work: impl FnOnce(&mut A) -> Result<(), Refusal>,
) -> *mut RawError {
    // SAFETY: every struct begins with its size.
    let size = unsafe { args.cast::<usize>().read() };
    let room = ROOM.load(Ordering::SeqCst);
    let wanted = if room == 0 { A::SIZE } else { A::SIZE.next_multiple_of(8) + room };
    if size < wanted {
        return hand_out((INVALID_ARGUMENT, format!("Unexpected size: expected {wanted}, got {size}")));
    }
    for offset in (A::SIZE.next_multiple_of(8)..wanted).step_by(8) {
        // SAFETY: the arguments are as long as their first field says.
        let after = unsafe { args.cast::<u64>().byte_add(offset) };
        // SAFETY: as above.
        if unsafe { after.read() } != 0 {
            return hand_out((INVALID_ARGUMENT, "what is not given is not 0".to_owned()));
        }
    }
    // SAFETY: the caller's promise.
    match work(unsafe { &mut *args }) {
        Ok(()) => std::ptr::null_mut(),
        Err(refusal) => hand_out(refusal),
    }
}

pub(crate) unsafe extern "C" fn error_destroy(args: *mut ErrorDestroyArgs) {
    // SAFETY: the interface passes arguments of this type.
    let error = unsafe { (*args).error };
    // SAFETY: every error of this plug-in is a `Refusal` from `hand_out`, and the caller destroys it once.
    unsafe { take_back::<Refusal, _>(error) };
}

pub(crate) unsafe extern "C" fn error_message(args: *mut ErrorMessageArgs) {
    // SAFETY: the interface passes arguments of this type.
    let args = unsafe { &mut *args };
    // SAFETY: errors are handed out as refusals.
    let refusal = unsafe { object::<Refusal, _>(args.error) };
    (args.message, args.message_size) = (refusal.1.as_ptr().cast(), refusal.1.len());
}

pub(crate) unsafe extern "C" fn error_get_code(args: *mut ErrorGetCodeArgs) -> *mut RawError {
    let work = |args: &mut ErrorGetCodeArgs| {
        // SAFETY: errors are handed out as refusals.
        args.code = unsafe { object::<Refusal, _>(args.error) }.0;
        Ok(())
    };
    // SAFETY: the interface passes arguments of this type.
    unsafe { answer(args, work) }
}

/// A property that lives as long as the process.
pub(crate) fn property(name: &'static str, kind: c_int, value: NamedValueContent, size: usize) -> NamedValue {
    NamedValue {
        name: name.as_ptr().cast(),
        name_size: name.len(),
        r#type: kind,
        value,
        value_size: size,
        ..Default::default()
    }
}

/// A property of each kind.
pub(crate) fn properties() -> Vec<NamedValue> {
    const LIST: &[i64] = &[1, 9, 5];
    const TEXT: &str = "fake 1.0";
    vec![
        property("text", named_value::STRING, NamedValueContent { string_value: TEXT.as_ptr().cast() }, TEXT.len()),
        property("integer", named_value::INT64, NamedValueContent { int64_value: -7 }, 1),
        property(
            "integers",
            named_value::INT64_LIST,
            NamedValueContent { int64_array_value: LIST.as_ptr() },
            LIST.len(),
        ),
        property("flops", named_value::FLOAT, NamedValueContent { float_value: 1.5 }, 1),
        property("bool", named_value::BOOL, NamedValueContent { bool_value: true }, 1),
        property("of a kind that nobody knows", 99, NamedValueContent { int64_value: 0 }, 1),
    ]
}
