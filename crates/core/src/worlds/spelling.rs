//! Element types as other libraries call them.

use super::World;
use crate::element_type::{ElementClass, ElementType};
use alloc::format;
use alloc::string::{String, ToString};

/// The name of an element type in NumPy or `ml_dtypes`: `np.float32`, `ml_dtypes.bfloat16`.
fn numpy(element_type: ElementType) -> Option<String> {
    let bits = element_type.bits();
    let own = bits >= 8 && bits.is_power_of_two();
    let module = if own { "np" } else { "ml_dtypes" };
    Some(match element_type.class() {
        ElementClass::Predicate => "np.bool_".into(),
        ElementClass::SignedInteger | ElementClass::UnsignedInteger if bits == 1 => return None,
        ElementClass::SignedInteger => format!("{module}.int{bits}"),
        ElementClass::UnsignedInteger => format!("{module}.uint{bits}"),
        ElementClass::Complex => format!("np.complex{bits}"),
        ElementClass::Float => match element_type.name() {
            "bf16" => "ml_dtypes.bfloat16".into(),
            "f16" | "f32" | "f64" => format!("np.float{bits}"),
            name => format!("ml_dtypes.{}", narrow(name)?),
        },
    })
}

/// The name of an element type in torch, without `torch.`.
fn torch(element_type: ElementType) -> Option<String> {
    let bits = element_type.bits();
    Some(match element_type.class() {
        ElementClass::Predicate => "bool".into(),
        ElementClass::SignedInteger if bits >= 8 => format!("int{bits}"),
        ElementClass::UnsignedInteger if bits >= 8 => format!("uint{bits}"),
        ElementClass::SignedInteger | ElementClass::UnsignedInteger => return None,
        ElementClass::Complex => format!("complex{bits}"),
        ElementClass::Float => match element_type.name() {
            "bf16" => "bfloat16".into(),
            "f16" | "f32" | "f64" => format!("float{bits}"),
            name @ ("f8e4m3fn" | "f8e5m2" | "f8e4m3fnuz" | "f8e5m2fnuz" | "f8e8m0fnu") => narrow(name)?,
            _ => return None,
        },
    })
}

/// `f8e4m3fn` as `float8_e4m3fn`.
fn narrow(name: &str) -> Option<String> {
    let rest = name.strip_prefix('f')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (bits, format) = rest.split_at_checked(digits)?;
    Some(format!("float{bits}_{format}"))
}

/// The name of an element type in MLIR. Signed integers have no sign there.
fn mlir(element_type: ElementType) -> String {
    let bits = element_type.bits();
    match element_type.class() {
        ElementClass::Predicate => "i1".into(),
        ElementClass::SignedInteger => format!("i{bits}"),
        ElementClass::UnsignedInteger => format!("ui{bits}"),
        ElementClass::Complex => format!("complex<f{}>", bits.div_ceil(2)),
        ElementClass::Float => match element_type.name() {
            name @ ("bf16" | "f16" | "f32" | "f64") => name.to_string(),
            // `f8E4M3FN`
            name => name.to_ascii_uppercase().replacen('F', "f", 1),
        },
    }
}

/// The name of an element type in oneDNN, if it has it.
fn onednn(element_type: ElementType) -> Option<String> {
    Some(match element_type.name() {
        "pred" => "boolean".into(),
        "f8e5m2" => "f8_e5m2".into(),
        "f8e4m3fn" => "f8_e4m3".into(),
        "f8e8m0fnu" => "e8m0".into(),
        "f4e2m1fn" => "f4_e2m1".into(),
        name @ ("bf16" | "f16" | "f32" | "f64" | "s32" | "s8" | "u8" | "s4" | "u4" | "s64") => name.into(),
        _ => return None,
    })
}

/// The name of an element type in a notation that has names for them.
pub(crate) fn spelled(element_type: ElementType, world: World) -> Option<String> {
    match world {
        World::Numpy => numpy(element_type),
        World::Torch => torch(element_type),
        World::Memref | World::Mosaic => Some(mlir(element_type)),
        World::Onednn => onednn(element_type),
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
