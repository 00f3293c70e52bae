//! Encodes the attributes `origin` and `origin_recovery_table` (`xla/hlo/ir/hlo_original_value.cc`).

use super::error::HloProtoError;
use super::message::{
    HloModuleProto, OriginalArrayProto, OriginalValueElementProto, OriginalValueProto, OriginalValueRecoveryTableProto,
    OriginalValueRecoveryTableProtoEntry,
};
use crate::attribute::Value;
use crate::attribute::origin::{Origin, OriginalArray, array, string};
use crate::module::Module;

type Result<T> = core::result::Result<T, HloProtoError>;

fn original_array(array: OriginalArray) -> OriginalArrayProto {
    OriginalArrayProto { instruction_name: array.name, shape_index: array.index }
}

pub(crate) fn original_value(origin: Origin) -> OriginalValueProto {
    let element = |(shape_index, array): (_, OriginalArray)| {
        let original_array = (!array.name.is_empty()).then(|| original_array(array));
        OriginalValueElementProto { shape_index, original_array }
    };
    OriginalValueProto {
        elements: origin.arrays.into_iter().map(element).collect(),
        is_synthetic_call: origin.is_synthetic_call,
        call_hierarchy: origin.call_hierarchy,
    }
}

/// Reads a table: `{ {"old"} : {"new"}, "a module's text" … }`.
pub(crate) fn recovery_table(
    value: Value<'_>,
    message: fn(&Module) -> Result<HloModuleProto>,
) -> Result<OriginalValueRecoveryTableProto> {
    let mut cursor = value.cursor();
    let mut to = OriginalValueRecoveryTableProto::default();
    cursor.expect(b'{')?;
    cursor.skip_space()?;
    while cursor.peek() != Some(b'}') {
        let old = original_array(array(&mut cursor)?);
        cursor.skip_space()?;
        cursor.expect(b':')?;
        cursor.skip_space()?;
        let new = original_array(array(&mut cursor)?);
        let mut entry = OriginalValueRecoveryTableProtoEntry {
            old_original_array: Some(old),
            new_original_array: Some(new),
            recovery_module: None,
        };
        cursor.skip_space()?;
        if cursor.eat(b',') {
            cursor.skip_space()?;
            if cursor.peek() == Some(b'"') {
                let text = string(&mut cursor)?;
                let module = Module::parse(&text).map_err(HloProtoError::from).and_then(|module| message(&module));
                entry.recovery_module = Some(module.map_err(|error| error.within("origin_recovery_table"))?);
                cursor.skip_space()?;
                cursor.eat(b',');
                cursor.skip_space()?;
            }
        }
        to.entries.push(entry);
    }
    cursor.expect(b'}')?;
    Ok(to)
}
