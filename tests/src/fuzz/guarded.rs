//! Iterates over arrays whose shapes are known only at run time, and copies them, in guarded memory.

use super::arrays;
use super::guard::{Guarded, Side};
use arbitrary::Unstructured;
use xla_shape::element::{F8E5M2, F32, F64, Plain, Pred, S4, Stored, U2, U8, U16, U32, U64};
use xla_shape::relayout::{Options, Plan, Stores};
use xla_shape::{ArrayShape, DynView, DynViewMut, ElementType, Slot};

/// Any array: each way to iterate visits every element once, in memory that ends with the array, and a copy into another layout accesses only the
/// memory of both arrays.
///
/// # Panics
/// If one of these checks fails. An access outside this memory ends the program.
pub fn guarded(bytes: &[u8]) {
    let _ = read(bytes);
}

fn read(bytes: &[u8]) -> arbitrary::Result<()> {
    let mut input = Unstructured::new(bytes);
    let side = if input.arbitrary()? { Side::Before } else { Side::Behind };
    let element_type = arrays::element_type(&mut input)?;
    let sizes = arrays::sizes(&mut input)?;
    let narrowest = element_type.bits();
    let bits = *input.choose(&[0, narrowest])?;
    let shape = |input: &mut Unstructured<'_>| -> arbitrary::Result<ArrayShape> {
        let reference = arrays::shape(input, sizes.clone(), bits)?;
        format!("{}{reference}", element_type.name()).parse().map_err(|_| arbitrary::Error::IncorrectFormat)
    };
    let (from, to) = (shape(&mut input)?, shape(&mut input)?);
    let &stores = input.choose(&[Stores::Regular, Stores::Streaming])?;
    match element_type {
        ElementType::Pred => walk::<Pred>(&from, side),
        ElementType::U2 => walk::<U2>(&from, side),
        ElementType::S4 => walk::<S4>(&from, side),
        ElementType::U8 => walk_plain::<U8>(&from, side),
        ElementType::F8E5M2 => walk::<F8E5M2>(&from, side),
        ElementType::U16 => walk_plain::<U16>(&from, side),
        ElementType::U32 => walk_plain::<U32>(&from, side),
        ElementType::F32 => walk_plain::<F32>(&from, side),
        ElementType::U64 => walk_plain::<U64>(&from, side),
        ElementType::F64 => walk_plain::<F64>(&from, side),
        _ => {}
    }
    copy(&from, &to, stores, side);
    Ok(())
}

/// Memory of exactly the array's size.
fn memory(shape: &ArrayShape, side: Side) -> Guarded {
    Guarded::new(shape.byte_size().expect("a small array") as usize, side)
}

fn walk<E: Stored>(shape: &ArrayShape, side: Side) {
    let mut memory = memory(shape, side);
    let table = shape.stride_table().expect("sizes are known");
    let elements = shape.elements().expect("a small array");
    // Views of values refuse memory that is not aligned for them; any bytes are elements.
    let Ok(mut x) = DynViewMut::from_parts(shape.clone(), memory.bytes()) else { return };
    let mut bytes = E::Bytes::default();
    bytes.as_mut().fill(1);
    let some = E::from_le_bytes(bytes);
    let mut written = 0;
    x.fill_with::<E>(|_| {
        written += 1;
        some
    })
    .expect("elements of this type");
    assert_eq!(written, elements, "{shape}");
    let (mut seen, mut positions) = (0, 0);
    x.for_each_indexed::<E>(|index, value| {
        seen += 1;
        assert!(value == some && x.get::<E>(index) == Ok(value), "{shape} at {index:?}");
    })
    .expect("elements of this type");
    x.for_each_position::<E>(|slot, _| {
        assert_ne!(slot, Slot::OutOfRange);
        positions += 1;
    })
    .expect("elements of this type");
    assert_eq!((seen, positions), (elements, table.as_ref().positions()), "{shape}");
    assert_eq!(x.to_row_major::<E>().expect("elements of this type").len() as u64, elements);
    let accessor = x.accessor::<E>().expect("elements of this type");
    let last = shape.dimensions().iter().map(|size| size.extent().unwrap_or(0).wrapping_sub(1) as usize);
    let last = last.collect::<Vec<_>>();
    assert_eq!(accessor.get(&last).is_ok(), elements > 0, "{shape} at {last:?}");
    let after = last.iter().map(|index| index.wrapping_add(1)).collect::<Vec<_>>();
    assert!(after.is_empty() || accessor.get(&after).is_err() && x.get::<E>(&after).is_err());
}

fn walk_plain<E: Plain>(shape: &ArrayShape, side: Side) {
    walk::<E>(shape, side);
    let mut memory = memory(shape, side);
    if let Ok(x) = DynView::from_parts(shape.clone(), memory.bytes())
        && let Ok(values) = x.as_slice::<E>()
    {
        assert!(values.iter().all(|value| *value == values[0]), "all memory is 0");
    }
}

fn copy(from: &ArrayShape, to: &ArrayShape, stores: Stores, side: Side) {
    let (mut source, mut destination) = (memory(from, side), memory(to, side));
    source.bytes().fill(0x5a);
    let plan = Plan::new(from, to, &Options::new().stores(stores)).expect("the same elements");
    plan.run(source.bytes(), destination.bytes()).expect("memory of the right size");
}
