//! oneDNN's reorder on one thread, if its library can be loaded. It uses version 2 of the interface, which Debian has.

use crate::cases::{Case, Loop};
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

/// Space for oneDNN's memory descriptor, in words of 8 bytes: more than it needs.
type Descriptor = [u64; 512];

type Handle = *mut c_void;

type Describe = unsafe extern "C" fn(*mut Descriptor, c_int, *const i64, c_int, *const i64) -> c_int;
type CreateMemory = unsafe extern "C" fn(*mut Handle, *const Descriptor, Handle, *mut c_void) -> c_int;
type PlanReorder =
    unsafe extern "C" fn(*mut Handle, *const Descriptor, Handle, *const Descriptor, Handle, *const c_void) -> c_int;

/// The functions of the library that a reorder needs.
struct Functions {
    create_engine: unsafe extern "C" fn(*mut Handle, c_int, usize) -> c_int,
    create_stream: unsafe extern "C" fn(*mut Handle, Handle, c_int) -> c_int,
    describe: Describe,
    create_memory: CreateMemory,
    plan_reorder: PlanReorder,
    create: unsafe extern "C" fn(*mut Handle, Handle) -> c_int,
    place: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
    execute: unsafe extern "C" fn(Handle, Handle, c_int, *const Argument) -> c_int,
    wait: unsafe extern "C" fn(Handle) -> c_int,
    _library: libloading::Library,
}

/// The library with an engine and a stream on it.
pub(crate) struct Library {
    functions: Functions,
    engine: Handle,
    stream: Handle,
}

/// A copy between two arrays with strides.
pub(crate) struct Reorder<'a> {
    library: &'a Library,
    primitive: Handle,
    memories: [Handle; 2],
}

/// An argument of a primitive.
#[repr(C)]
struct Argument {
    which: c_int,
    memory: Handle,
}

/// The arguments of a reorder: its source and its destination.
const ARGUMENTS: [c_int; 2] = [1, 17];

/// The library's function of this name.
///
/// # Safety
/// If the library has a function of this name, its type is `F`. The result is used only while the library is loaded.
unsafe fn function<F: Copy>(library: &libloading::Library, name: &str) -> Option<F> {
    // SAFETY: the caller promises the type of the function, and that the library outlives the copy of the pointer.
    unsafe { library.get::<F>(name.as_bytes()) }.ok().map(|symbol| *symbol)
}

impl Functions {
    fn load() -> Option<Self> {
        // SAFETY: this loads oneDNN from the system's folders, whose initialisers may run in any process.
        let library = unsafe { libloading::Library::new("libdnnl.so.2") }.ok()?;
        macro_rules! find {
            ($name:literal) => {
                // SAFETY: the fields of `Functions` have the types of these functions in version 2 of oneDNN, which the file's name
                // promises; `_library` keeps it loaded while `Functions` lives.
                unsafe { function(&library, $name) }
            };
        }
        let set_threads: Option<unsafe extern "C" fn(c_int)> = find!("omp_set_num_threads");
        if let Some(set_threads) = set_threads {
            // SAFETY: `omp_set_num_threads` accepts any positive number.
            unsafe { set_threads(1) };
        }
        Some(Self {
            create_engine: find!("dnnl_engine_create")?,
            create_stream: find!("dnnl_stream_create")?,
            describe: find!("dnnl_memory_desc_init_by_strides")?,
            create_memory: find!("dnnl_memory_create")?,
            plan_reorder: find!("dnnl_reorder_primitive_desc_create")?,
            create: find!("dnnl_primitive_create")?,
            place: find!("dnnl_memory_set_data_handle")?,
            execute: find!("dnnl_primitive_execute")?,
            wait: find!("dnnl_stream_wait")?,
            _library: library,
        })
    }
}

/// The handle that a function has written; `None` if it does not return 0.
fn made(create: impl FnOnce(&mut Handle) -> c_int) -> Option<Handle> {
    let mut handle = null_mut();
    (create(&mut handle) == 0).then_some(handle)
}

impl Library {
    pub(crate) fn load() -> Option<Self> {
        let functions = Functions::load()?;
        // SAFETY: `engine` is valid for writes; kind 1 is the CPU, which has an engine 0.
        let engine = made(|engine| unsafe { (functions.create_engine)(engine, 1, 0) })?;
        // SAFETY: `stream` is valid for writes, `engine` was just created, and 1 is the flag for default streams.
        let stream = made(|stream| unsafe { (functions.create_stream)(stream, engine, 1) })?;
        Some(Self { functions, engine, stream })
    }

    /// A reorder for the case; `None` if oneDNN cannot do it.
    pub(crate) fn reorder(&self, case: &Case) -> Option<Reorder<'_>> {
        let loops = case.as_strided().filter(|loops| (1..=12).contains(&loops.len()))?;
        // The numbers of u8, bf16 and f32. A reorder between equal types only copies.
        let element = match case.from.element_bits() {
            8 => 6,
            16 => 2,
            32 => 3,
            _ => return None,
        };
        let list = |of: fn(&Loop) -> usize| loops.iter().map(|axis| of(axis) as i64).collect::<Vec<_>>();
        let sizes = list(|of| of.size);
        let (Self { functions, engine, .. }, rank) = (self, sizes.len() as c_int);
        let described = |strides: &[i64]| {
            let mut descriptor = [0; 512];
            // SAFETY: `descriptor` is at least as large as oneDNN's memory descriptor, and both lists have `rank` entries.
            let failed =
                unsafe { (functions.describe)(&mut descriptor, rank, sizes.as_ptr(), element, strides.as_ptr()) };
            (failed == 0).then_some(descriptor)
        };
        let [from, to] = [described(&list(|of| of.from))?, described(&list(|of| of.to))?];
        // SAFETY: `of` is an initialised descriptor and `engine` is alive. The null data handle is set in `run` before the memory is used.
        let memory = |of| made(|memory| unsafe { (functions.create_memory)(memory, of, *engine, null_mut()) });
        // SAFETY: `from` and `to` are initialised descriptors, `engine` is alive, and null means default attributes.
        let planned = made(|plan| unsafe { (functions.plan_reorder)(plan, &from, *engine, &to, *engine, null()) })?;
        // SAFETY: `planned` is a primitive descriptor that was just created.
        let primitive = made(|primitive| unsafe { (functions.create)(primitive, planned) })?;
        Some(Reorder { library: self, primitive, memories: [memory(&from)?, memory(&to)?] })
    }
}

impl Reorder<'_> {
    pub(crate) fn run(&self, source: &[u8], destination: &mut [u8]) {
        let Library { functions, stream, .. } = self.library;
        // SAFETY: the caller passes the bytes of the case's source, which is what the descriptor describes; a reorder only reads it.
        unsafe { (functions.place)(self.memories[0], source.as_ptr().cast_mut().cast()) };
        // SAFETY: the caller passes the bytes of the case's destination, which the descriptor describes; it is borrowed mutably.
        unsafe { (functions.place)(self.memories[1], destination.as_mut_ptr().cast()) };
        let arguments = [0, 1].map(|i| Argument { which: ARGUMENTS[i], memory: self.memories[i] });
        // SAFETY: the primitive, the stream and both memories are alive, the memories have data, and `arguments` has two entries.
        unsafe { (functions.execute)(self.primitive, *stream, 2, arguments.as_ptr()) };
        // SAFETY: the stream is alive. Waiting ends all access to the borrowed memory before this function returns.
        unsafe { (functions.wait)(*stream) };
    }
}
