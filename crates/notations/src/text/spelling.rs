//! The names of element types in other libraries.

use crate::Notation;
use alloc::format;
use alloc::string::{String, ToString};
use xla_shape_core::ElementType;

/// The name of an element type in a notation that has names for them.
pub(crate) fn spelled(element_type: ElementType, notation: Notation) -> Option<String> {
    match notation {
        Notation::Numpy => {
            let module = if element_type.npy_code().is_some() { "np" } else { "ml_dtypes" };
            element_type.numpy_name().map(|name| format!("{module}.{name}"))
        }
        Notation::Torch => element_type.torch_name().map(Into::into),
        Notation::Memref | Notation::Mosaic => Some(element_type.mlir_name().into()),
        Notation::Onednn => element_type.onednn_name().map(Into::into),
        _ => None,
    }
}

/// The element type with this name in a notation. A module before the name (`np.`, `torch.`) may be left out.
pub(crate) fn element_type(name: &str, notation: Notation) -> Option<ElementType> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or("").trim_end_matches('_').to_string();
    let wanted = last(name);
    let is_it =
        |candidate: &&ElementType| spelled(**candidate, notation).is_some_and(|spelled| last(&spelled) == wanted);
    ElementType::ALL.iter().find(is_it).copied()
}
