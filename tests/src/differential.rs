//! Compares the library with the [reference](crate::reference).

use crate::reference::ReferenceShape;
use std::fmt;
use xla_shape::relayout::{Options, Plan, Stores};
use xla_shape::{ArrayShape, ElementType, Slot, map::StaticStrideTable};

/// Checks that the library's tables (the run-time one, and the one of a `const`) give the same sizes, positions and padding as the reference.
///
/// # Errors
/// The first difference, in words.
pub fn tables_agree(reference: &ReferenceShape, element_type: ElementType) -> Result<(), String> {
    let shape = library_shape(reference, element_type)?;
    let same = |what: fmt::Arguments<'_>, found: Option<u64>, expected: u64| match found {
        Some(found) if found == expected => Ok(()),
        found => Err(format!("{shape}: {what}: expected {expected}, found {found:?}")),
    };
    same(format_args!("physical elements"), shape.physical_elements(), reference.physical_elements())?;
    same(format_args!("bytes"), shape.byte_size(), reference.byte_size(element_type.storage_bytes()))?;

    let table = shape.stride_table().map_err(|error| format!("{shape}: {error}"))?;
    // A `const` has room for as many digits as shapes in types may have.
    let in_const = StaticStrideTable::new(&reference.sizes, shape.layout()).ok();
    let in_const =
        in_const.as_ref().map(|table| (table.with_extents(&reference.sizes), vec![0; table.num_intermediates()]));
    let (in_const, mut values) = in_const.unzip();
    for (position, expected) in (0..).zip(reference.map()) {
        if let Some(index) = &expected {
            same(format_args!("place of {index:?}"), table.as_ref().checked_linear_index(index), position)?;
            if let (Some(in_const), Some(values)) = (in_const, &mut values) {
                let found = in_const.linear_index_with(index, values);
                same(format_args!("place of {index:?} by the table of a const"), Some(found), position)?;
            }
        }
        let found = table.as_ref().multi_index(position).element();
        if found != expected {
            return Err(format!("{shape}: at {position}: expected {expected:?}, found {found:?}"));
        }
    }
    match table.as_ref().multi_index(reference.physical_elements()) {
        Slot::Element(index) => Err(format!("{shape}: found {index:?} after the end")),
        _ => Ok(()),
    }
}

/// The number of bytes around a destination that must not change.
const GUARD: usize = 64;

/// Checks that a relayout of these bytes writes what the reference says, and nothing else.
///
/// `to` is an array of the same sizes with elements of as many bits. `content` is repeated as often as needed; it is not
/// empty.
///
/// # Errors
/// The first difference, in words.
pub fn relayout_agrees(
    from: &ReferenceShape,
    to: &ReferenceShape,
    element_type: ElementType,
    content: &[u8],
    stores: Stores,
) -> Result<(), String> {
    let (source, destination) = (library_shape(from, element_type)?, library_shape(to, element_type)?);
    let bytes = |len: usize| content.iter().copied().cycle().take(len).collect::<Vec<u8>>();
    let given = bytes(from.byte_size(element_type.storage_bytes()) as usize);
    let mut written = vec![0xA5; to.byte_size(element_type.storage_bytes()) as usize + 2 * GUARD];
    let mut expected = written.clone();
    let element_bits = |shape: &ReferenceShape| match shape.element_bits {
        0 => 8 * element_type.storage_bytes(),
        bits => bits,
    };
    for index in from.indices() {
        let bits = element_bits(to);
        let read = (8 * from.prefix + from.linear_index(&index) * bits) as usize;
        let write = 8 * GUARD + (8 * to.prefix + to.linear_index(&index) * bits) as usize;
        let bits = bits as usize;
        if bits.is_multiple_of(8) {
            expected[write / 8..][..bits / 8].copy_from_slice(&given[read / 8..][..bits / 8]);
            continue;
        }
        for bit in 0..bits {
            let value = given[(read + bit) / 8] >> ((read + bit) % 8) & 1;
            let (byte, place) = ((write + bit) / 8, (write + bit) % 8);
            expected[byte] = expected[byte] & !(1 << place) | value << place;
        }
    }
    let plan = Plan::new(&source, &destination, &Options::new().stores(stores));
    let plan = plan.map_err(|error| format!("{source} to {destination}: {error}"))?;
    let end = written.len() - GUARD;
    let run = plan.run(&given, &mut written[GUARD..end]);
    run.map_err(|error| format!("{source} to {destination}: {error}"))?;
    match written.iter().zip(&expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(byte) => {
            Err(format!("{source} to {destination}: byte {byte} (guard of {GUARD} included) differs\n{plan}"))
        }
    }
}

/// The shape that the library reads.
fn library_shape(reference: &ReferenceShape, element_type: ElementType) -> Result<ArrayShape, String> {
    let text = format!("{}{reference}", element_type.name());
    text.parse().map_err(|error| format!("{text}: {error}"))
}
