//! Capsules of DLPack: arrays to and from other Python libraries without a copy.
//!
//! SAFETY comments cite the DLPack standard's rules for Python ("Python Specification for DLPack"): a capsule named `dltensor_versioned`
//! or `dltensor` holds a pointer to a `DLManagedTensorVersioned` or `DLManagedTensor`, and owns it. Whoever takes the tensor over renames
//! the capsule to `used_…`, and later calls the tensor's deleter once.

use crate::error::shape_error;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use xla_shape::dlpack::{DlpackError, ManagedTensor, RawTensor, StridedTensor, Tensor, VERSION};

/// The names of capsules that own their tensor: in DLPack 1 and later, and in older versions.
const NAMES: [&CStr; 2] = [c"dltensor_versioned", c"dltensor"];

/// The names of the same capsules after the tensor has been taken over.
const USED: [&CStr; 2] = [c"used_dltensor_versioned", c"used_dltensor"];

/// `DLManagedTensor`, the struct before version 1, which has no flag for read-only memory.
#[repr(C)]
struct OldTensor {
    tensor: RawTensor,
    /// The `ManagedTensor` that owns the memory.
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// The types to which a tensor of another library is converted.
pub(crate) trait FromManagedTensor: Sized {
    /// Takes a tensor over. After an error, it still belongs to the caller.
    ///
    /// # Safety
    /// As for [`Tensor::from_raw`].
    unsafe fn from_raw(tensor: *mut ManagedTensor) -> Result<Self, DlpackError>;
}

impl FromManagedTensor for Tensor {
    unsafe fn from_raw(tensor: *mut ManagedTensor) -> Result<Self, DlpackError> {
        // SAFETY: both functions have the same contract.
        unsafe { Self::from_raw(tensor) }
    }
}

impl FromManagedTensor for StridedTensor {
    unsafe fn from_raw(tensor: *mut ManagedTensor) -> Result<Self, DlpackError> {
        // SAFETY: both functions have the same contract.
        unsafe { Self::from_raw(tensor) }
    }
}

/// Takes a capsule's tensor over. The library that made it must not write it afterwards.
pub(crate) fn take_tensor<T: FromManagedTensor>(capsule: &Bound<'_, PyCapsule>) -> PyResult<T> {
    // SAFETY: `capsule` is a valid Python object, and the name ends with 0.
    let is_old = unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), NAMES[1].as_ptr()) } != 0;
    let (name, used) = if is_old { (NAMES[1], USED[1]) } else { (NAMES[0], USED[0]) };
    let pointer = capsule.pointer_checked(Some(name))?.as_ptr();
    let managed = if is_old {
        let old = pointer.cast::<OldTensor>();
        // SAFETY: a capsule named `dltensor` owns a valid `DLManagedTensor` (standard).
        let dl_tensor = copy_of(unsafe { &(*old).tensor });
        let managed =
            ManagedTensor { version: VERSION, manager_ctx: pointer, deleter: Some(free_imported), flags: 0, dl_tensor };
        Box::into_raw(Box::new(managed))
    } else {
        pointer.cast()
    };
    // SAFETY: `managed` is the box above, whose deleter frees the old tensor, or, since the capsule is named `dltensor_versioned`, a valid
    // `DLManagedTensorVersioned` (standard). The capsule owns it, and gives it up when it is renamed below.
    let tensor = unsafe { T::from_raw(managed) };
    let tensor = tensor.inspect_err(|_| {
        if is_old {
            // SAFETY: after an error, `managed` still belongs to us (`from_raw`), and it is the box made above.
            drop(unsafe { Box::from_raw(managed) });
        }
    });
    let tensor = tensor.map_err(shape_error)?;
    // SAFETY: `capsule` is a valid capsule, and the name is a static string, which ends with 0.
    let renamed = unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) };
    if renamed != 0 {
        // The capsule still owns the tensor.
        std::mem::forget(tensor);
        return Err(PyErr::fetch(capsule.py()));
    }
    Ok(tensor)
}

fn copy_of(tensor: &RawTensor) -> RawTensor {
    let RawTensor { data, device, ndim, dtype, shape, strides, byte_offset } = *tensor;
    RawTensor { data, device, ndim, dtype, shape, strides, byte_offset }
}

/// The deleter for a tensor of DLPack before version 1, which `take_tensor` has wrapped.
///
/// # Safety
/// `managed` is the box that `take_tensor` has made, and is not used afterwards.
unsafe extern "C" fn free_imported(managed: *mut ManagedTensor) {
    // SAFETY: `take_tensor` has made it with `Box::into_raw` (caller), and a deleter is called once.
    let managed = unsafe { Box::from_raw(managed) };
    let old = managed.manager_ctx.cast::<OldTensor>();
    // SAFETY: `manager_ctx` is the old tensor, which has been taken over from its capsule and is valid until its deleter is called.
    if let Some(deleter) = unsafe { (*old).deleter } {
        // SAFETY: it is the deleter of this tensor, which is called here only, and the tensor is not used afterwards (caller).
        unsafe { deleter(old) };
    }
}

/// A capsule that owns a tensor of version 1.
///
/// # Safety
/// `xla_shape::dlpack` has exported the tensor, and this is the only pointer to it.
pub(crate) unsafe fn capsule(py: Python<'_>, tensor: *mut ManagedTensor, is_copy: bool) -> PyResult<Bound<'_, PyAny>> {
    if is_copy {
        // SAFETY: the tensor is valid, and this is the only pointer to it (caller).
        unsafe { (*tensor).flags |= ManagedTensor::IS_COPIED };
    }
    // SAFETY: the name is a static string that ends with 0, and `destroy` is a destructor for capsules of this name.
    let capsule = unsafe { ffi::PyCapsule_New(tensor.cast(), NAMES[0].as_ptr(), Some(destroy)) };
    if capsule.is_null() {
        // SAFETY: no capsule was made, so this is still the only pointer to the tensor.
        unsafe { free(tensor) };
    }
    // SAFETY: `PyCapsule_New` returns a new reference, or null after raising an error.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// A capsule that owns a tensor in the form before version 1. Whoever takes the tensor over may write it.
///
/// # Safety
/// Like [`capsule`]; the tensor is not read-only.
pub(crate) unsafe fn old_capsule(py: Python<'_>, tensor: *mut ManagedTensor) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the tensor is valid, and this is the only pointer to it (caller).
    let copied = copy_of(unsafe { &(*tensor).dl_tensor });
    let old = Box::new(OldTensor { tensor: copied, context: tensor.cast(), deleter: Some(free_old) });
    let old = Box::into_raw(old);
    // SAFETY: as in `capsule`.
    let capsule = unsafe { ffi::PyCapsule_New(old.cast(), NAMES[1].as_ptr(), Some(destroy)) };
    if capsule.is_null() {
        // SAFETY: no capsule was made, so this is still the only pointer to `old`, the box made above.
        unsafe { free_old(old) };
    }
    // SAFETY: `PyCapsule_New` returns a new reference, or null after raising an error.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// Calls the deleter of a tensor.
///
/// # Safety
/// `tensor` is valid, belongs to the caller, and is not used afterwards.
unsafe fn free(tensor: *mut ManagedTensor) {
    // SAFETY: the tensor is valid (caller).
    if let Some(deleter) = unsafe { (*tensor).deleter } {
        // SAFETY: it is this tensor's deleter, called by its owner, who does not use the tensor afterwards (caller).
        unsafe { deleter(tensor) };
    }
}

/// The deleter of a tensor that [`old_capsule`] has made.
///
/// # Safety
/// `old` is the box that `old_capsule` has made, and is not used afterwards.
unsafe extern "C" fn free_old(old: *mut OldTensor) {
    // SAFETY: `old_capsule` has made it with `Box::into_raw` (caller), and a deleter is called once.
    let old = unsafe { Box::from_raw(old) };
    // SAFETY: `context` is the exported tensor, which belongs to `old` and is not used by anything else.
    unsafe { free(old.context.cast()) };
}

/// The destructor of capsules: frees the tensor, unless it was taken over and the capsule renamed.
///
/// # Safety
/// `capsule` is a capsule that `capsule` or `old_capsule` has made, and Python is destroying it.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    for name in NAMES {
        // SAFETY: `capsule` is a valid object while its destructor runs (caller), and the name ends with 0.
        if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
            continue;
        }
        // SAFETY: as above; the name has just been compared.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule, name.as_ptr()) };
        if name == NAMES[0] {
            // SAFETY: the name says that the capsule, made by `capsule`, still owns its tensor.
            unsafe { free(pointer.cast()) };
        } else {
            // SAFETY: the name says that the capsule, made by `old_capsule`, still owns its tensor.
            unsafe { free_old(pointer.cast()) };
        }
        return;
    }
}
