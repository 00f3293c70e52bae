//! Capsules of DLPack: arrays from and to other libraries of Python, without a copy.

use crate::error::shape_error;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use xla_shape::dlpack::{ManagedTensor, RawTensor, Tensor, VERSION};

/// The name of a capsule with a tensor that nobody has taken, since version 1 of DLPack and before.
const NAMES: [&CStr; 2] = [c"dltensor_versioned", c"dltensor"];

/// What they are called when someone has taken it.
const USED: [&CStr; 2] = [c"used_dltensor_versioned", c"used_dltensor"];

/// `DLManagedTensor`, as it was before version 1: nothing says that it is read-only.
#[repr(C)]
struct OldTensor {
    tensor: RawTensor,
    /// The `ManagedTensor` whose memory it has.
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// Takes the tensor that a capsule of DLPack has. What made it must not write it any more.
pub(crate) fn tensor_of(capsule: &Bound<'_, PyCapsule>) -> PyResult<Tensor> {
    // SAFETY: the capsule is one.
    let is_old = unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), NAMES[1].as_ptr()) } != 0;
    let (name, used) = if is_old { (NAMES[1], USED[1]) } else { (NAMES[0], USED[0]) };
    let pointer = capsule.pointer_checked(Some(name))?.as_ptr();
    let managed = if is_old {
        let old = pointer.cast::<OldTensor>();
        // SAFETY: by the standard, a capsule of this name has such a tensor.
        let dl_tensor = copy_of(unsafe { &(*old).tensor });
        let managed =
            ManagedTensor { version: VERSION, manager_ctx: pointer, deleter: Some(free_taken), flags: 0, dl_tensor };
        Box::into_raw(Box::new(managed))
    } else {
        pointer.cast()
    };
    // SAFETY: by the standard, a capsule of this name has such a tensor, which belongs to whoever takes it; or it is the box.
    let tensor = unsafe { Tensor::from_raw(managed) };
    let tensor = tensor.inspect_err(|_| {
        if is_old {
            // SAFETY: it was not taken, so it still is the box.
            drop(unsafe { Box::from_raw(managed) });
        }
    });
    let tensor = tensor.map_err(shape_error)?;
    // SAFETY: the capsule is one, and the name is there for ever. It says that the tensor is taken.
    let renamed = unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) };
    if renamed != 0 {
        // It still is the capsule's.
        std::mem::forget(tensor);
        return Err(PyErr::fetch(capsule.py()));
    }
    Ok(tensor)
}

fn copy_of(tensor: &RawTensor) -> RawTensor {
    let RawTensor { data, device, ndim, dtype, shape, strides, byte_offset } = *tensor;
    RawTensor { data, device, ndim, dtype, shape, strides, byte_offset }
}

/// Frees a tensor of before version 1 that `tensor_of` took.
///
/// # Safety
/// Nobody may use it any more.
unsafe extern "C" fn free_taken(managed: *mut ManagedTensor) {
    // SAFETY: `tensor_of` made it from a box.
    let managed = unsafe { Box::from_raw(managed) };
    let old = managed.manager_ctx.cast::<OldTensor>();
    // SAFETY: its owner has it until it is freed.
    if let Some(deleter) = unsafe { (*old).deleter } {
        // SAFETY: as the caller promises.
        unsafe { deleter(old) };
    }
}

/// A capsule that hands on a tensor of version 1.
///
/// # Safety
/// `xla_shape::dlpack` must have exported the tensor, and nobody else may have it.
pub(crate) unsafe fn capsule(py: Python<'_>, tensor: *mut ManagedTensor, is_copy: bool) -> PyResult<Bound<'_, PyAny>> {
    if is_copy {
        // SAFETY: the tensor is there, and nobody else has it.
        unsafe { (*tensor).flags |= ManagedTensor::IS_COPIED };
    }
    // SAFETY: the name is there for ever, and the destructor is for capsules of this name.
    let capsule = unsafe { ffi::PyCapsule_New(tensor.cast(), NAMES[0].as_ptr(), Some(destroy)) };
    if capsule.is_null() {
        // SAFETY: no capsule has it.
        unsafe { free(tensor) };
    }
    // SAFETY: a new object, or null where Python has raised an error.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// A capsule that hands on a tensor as it was before version 1. Whoever takes it may write it.
///
/// # Safety
/// Like [`capsule`]; the tensor must not be read-only.
pub(crate) unsafe fn old_capsule(py: Python<'_>, tensor: *mut ManagedTensor) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the tensor is there, and nobody else has it.
    let copied = copy_of(unsafe { &(*tensor).dl_tensor });
    let old = Box::new(OldTensor { tensor: copied, context: tensor.cast(), deleter: Some(free_old) });
    let old = Box::into_raw(old);
    // SAFETY: as above.
    let capsule = unsafe { ffi::PyCapsule_New(old.cast(), NAMES[1].as_ptr(), Some(destroy)) };
    if capsule.is_null() {
        // SAFETY: no capsule has it.
        unsafe { free_old(old) };
    }
    // SAFETY: a new object, or null where Python has raised an error.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// Frees a tensor.
///
/// # Safety
/// Nobody may use it any more.
unsafe fn free(tensor: *mut ManagedTensor) {
    // SAFETY: the tensor still is there.
    if let Some(deleter) = unsafe { (*tensor).deleter } {
        // SAFETY: as the caller promises.
        unsafe { deleter(tensor) };
    }
}

/// Frees what [`old_capsule`] made.
///
/// # Safety
/// Nobody may use it any more.
unsafe extern "C" fn free_old(old: *mut OldTensor) {
    // SAFETY: `old_capsule` made it from a box.
    let old = unsafe { Box::from_raw(old) };
    // SAFETY: the memory is that of this tensor, which nobody uses any more.
    unsafe { free(old.context.cast()) };
}

/// Frees what a capsule has, unless someone took it and gave the capsule another name.
///
/// # Safety
/// Python calls it for a capsule that is made here.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    for name in NAMES {
        // SAFETY: the capsule is there as long as this runs.
        if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
            continue;
        }
        // SAFETY: as above.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule, name.as_ptr()) };
        if name == NAMES[0] {
            // SAFETY: nobody took the tensor.
            unsafe { free(pointer.cast()) };
        } else {
            // SAFETY: as above.
            unsafe { free_old(pointer.cast()) };
        }
        return;
    }
}
