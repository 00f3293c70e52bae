//! Element types as other libraries call them.

use super::World;
use crate::element_type::ElementType;
use alloc::format;
use alloc::string::{String, ToString};

/// The name of an element type in a notation that has names for them.
pub(crate) fn spelled(element_type: ElementType, world: World) -> Option<String> {
    match world {
        World::Numpy => {
            let module = if element_type.npy_code().is_some() { "np" } else { "ml_dtypes" };
            element_type.numpy_name().map(|name| format!("{module}.{name}"))
        }
        World::Torch => element_type.torch_name().map(Into::into),
        World::Memref | World::Mosaic => Some(element_type.mlir_name().into()),
        World::Onednn => element_type.onednn_name().map(Into::into),
        _ => None,
    }
}

/// The element type that a notation calls so; a module before it (`np.`, `torch.`) may be left out.
pub(crate) fn element_type(name: &str, world: World) -> Option<ElementType> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or("").trim_end_matches('_').to_string();
    let wanted = last(name);
    let is_it = |candidate: &&ElementType| spelled(**candidate, world).is_some_and(|spelled| last(&spelled) == wanted);
    ElementType::ALL.iter().find(is_it).copied()
}
