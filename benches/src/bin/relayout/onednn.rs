//! oneDNN's reorder, where its library can be loaded: version 2 of its interface, as Debian has it. One thread.

use crate::cases::Case;
use libloading::Symbol;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

/// A memory descriptor takes less, in 8 bytes each.
type Descriptor = [u64; 512];

type Handle = *mut c_void;

/// The library with an engine and a stream on it.
pub(crate) struct Library {
    library: libloading::Library,
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

impl Library {
    pub(crate) fn load() -> Option<Self> {
        // SAFETY: a library of the system, whose initialisers do nothing to this program; its functions have the types below.
        unsafe {
            let library = libloading::Library::new("libdnnl.so.2").ok()?;
            if let Ok(set_threads) = library.get::<unsafe extern "C" fn(c_int)>(b"omp_set_num_threads") {
                set_threads(1);
            }
            let (mut engine, mut stream) = (null_mut(), null_mut());
            let create_engine: Symbol<'_, unsafe extern "C" fn(*mut Handle, c_int, usize) -> c_int> =
                library.get(b"dnnl_engine_create").ok()?;
            let create_stream: Symbol<'_, unsafe extern "C" fn(*mut Handle, Handle, c_int) -> c_int> =
                library.get(b"dnnl_stream_create").ok()?;
            let made = create_engine(&mut engine, 1, 0) == 0 && create_stream(&mut stream, engine, 1) == 0;
            drop((create_engine, create_stream));
            made.then_some(Self { library, engine, stream })
        }
    }

    /// A reorder for the case, if it has one.
    pub(crate) fn reorder(&self, case: &Case) -> Option<Reorder<'_>> {
        let loops = case.as_strided().filter(|loops| (1..=12).contains(&loops.len()))?;
        // bf16, f32 and u8: nothing is computed.
        let element = match case.from.element_bits() {
            8 => 6,
            16 => 2,
            32 => 3,
            _ => return None,
        };
        let list = |of: fn(&crate::cases::Loop) -> usize| loops.iter().map(|axis| of(axis) as i64).collect::<Vec<_>>();
        let (sizes, strides) = (list(|of| of.size), [list(|of| of.from), list(|of| of.to)]);
        // SAFETY: the functions have these types in version 2; descriptors take less than there is room for, and lists have as many
        // entries as there are dimensions.
        unsafe {
            let describe: Symbol<
                '_,
                unsafe extern "C" fn(*mut Descriptor, c_int, *const i64, c_int, *const i64) -> c_int,
            > = self.library.get(b"dnnl_memory_desc_init_by_strides").ok()?;
            let plan: Symbol<
                '_,
                unsafe extern "C" fn(
                    *mut Handle,
                    *const Descriptor,
                    Handle,
                    *const Descriptor,
                    Handle,
                    *const c_void,
                ) -> c_int,
            > = self.library.get(b"dnnl_reorder_primitive_desc_create").ok()?;
            let create: Symbol<'_, unsafe extern "C" fn(*mut Handle, Handle) -> c_int> =
                self.library.get(b"dnnl_primitive_create").ok()?;
            let memory: Symbol<'_, unsafe extern "C" fn(*mut Handle, *const Descriptor, Handle, *mut c_void) -> c_int> =
                self.library.get(b"dnnl_memory_create").ok()?;
            let (mut descriptors, mut memories) = ([[0; 512]; 2], [null_mut(); 2]);
            for (i, descriptor) in descriptors.iter_mut().enumerate() {
                let ok = describe(descriptor, sizes.len() as c_int, sizes.as_ptr(), element, strides[i].as_ptr()) == 0;
                if !ok || memory(&mut memories[i], descriptor, self.engine, null_mut()) != 0 {
                    return None;
                }
            }
            let (mut planned, mut primitive) = (null_mut(), null_mut());
            let [from, to] = &descriptors;
            let made = plan(&mut planned, from, self.engine, to, self.engine, null()) == 0
                && create(&mut primitive, planned) == 0;
            made.then_some(Reorder { library: self, primitive, memories })
        }
    }
}

impl Reorder<'_> {
    pub(crate) fn run(&self, source: &[u8], destination: &mut [u8]) {
        let library = &self.library.library;
        // SAFETY: the functions have these types in version 2, and the buffers are those of the descriptors.
        unsafe {
            let place: Symbol<'_, unsafe extern "C" fn(Handle, *mut c_void) -> c_int> =
                library.get(b"dnnl_memory_set_data_handle").expect("version 2 has it");
            let execute: Symbol<'_, unsafe extern "C" fn(Handle, Handle, c_int, *const Argument) -> c_int> =
                library.get(b"dnnl_primitive_execute").expect("version 2 has it");
            let wait: Symbol<'_, unsafe extern "C" fn(Handle) -> c_int> =
                library.get(b"dnnl_stream_wait").expect("version 2 has it");
            place(self.memories[0], source.as_ptr().cast_mut().cast());
            place(self.memories[1], destination.as_mut_ptr().cast());
            let arguments = [0, 1].map(|i| Argument { which: ARGUMENTS[i], memory: self.memories[i] });
            execute(self.primitive, self.library.stream, 2, arguments.as_ptr());
            wait(self.library.stream);
        }
    }
}
