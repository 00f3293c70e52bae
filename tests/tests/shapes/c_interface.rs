//! The C functions agree with the Rust library, and so with XLA, on XLA's own data.

#![expect(clippy::multiple_unsafe_ops_per_block, reason = "calls of the interface on the same handles share a proof")]

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use xla_shape_c::*;
use xla_shape_core::gpu::Gpu;
use xla_shape_core::shard::Sharding;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape, Slot};
use xla_shape_tests::corpus;

/// The code, the span and the message of an error.
type Failure = (XlaShapeErrorCode, Option<(usize, usize)>, String);

/// The result of a call. Frees its error.
fn outcome(error: *mut XlaShapeError) -> Result<(), Failure> {
    if error.is_null() {
        return Ok(());
    }
    let (mut start, mut end) = (0, 0);
    // SAFETY: a function has just returned the error; its message is valid as long as the error.
    unsafe {
        let span = xla_shape_error_span(error, &raw mut start, &raw mut end).then_some((start, end));
        let message = CStr::from_ptr(xla_shape_error_message(error)).to_str().unwrap().to_owned();
        let code = xla_shape_error_code(error);
        xla_shape_error_free(error);
        Err((code, span, message))
    }
}

/// A shape that is freed at the end.
struct Owned(*mut XlaShape);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: only this `Owned` holds the shape.
        unsafe { xla_shape_free(self.0) };
    }
}

impl Owned {
    fn parse(text: &str) -> Result<Self, Failure> {
        let mut shape = null_mut();
        // SAFETY: the text has these bytes, and the place is a local variable.
        outcome(unsafe { xla_shape_parse(text.as_ptr().cast(), text.len(), &raw mut shape) })?;
        Ok(Self(shape))
    }

    fn text(&self) -> String {
        let (mut text, mut length) = (null(), 0);
        // SAFETY: the shape is alive, and so is its text.
        unsafe {
            outcome(xla_shape_text(self.0, &raw mut text, &raw mut length)).unwrap();
            let text = CStr::from_ptr(text).to_str().unwrap();
            assert_eq!(text.len(), length);
            text.to_owned()
        }
    }

    fn sizes(&self) -> Option<XlaShapeSizes> {
        let mut sizes = XlaShapeSizes {
            struct_size: size_of::<XlaShapeSizes>(),
            bytes: 0,
            unpadded_bytes: 0,
            padding_bytes: 0,
            elements: 0,
            positions: 0,
            element_bits: 0,
        };
        // SAFETY: the shape is alive, and the struct is a local variable.
        match outcome(unsafe { xla_shape_sizes(self.0, &raw mut sizes) }) {
            Ok(()) => Some(sizes),
            Err((code, ..)) => {
                assert_eq!(code, XlaShapeErrorCode::UnknownSize);
                None
            }
        }
    }

    fn on_tpu(&self, generation: &str) -> Result<Self, Failure> {
        let (name, mut made) = (generation.as_ptr().cast(), null_mut());
        // SAFETY: the shape is alive, the name has these bytes, and the place is a local variable.
        outcome(unsafe { xla_shape_with_tpu_layout(self.0, name, generation.len(), &raw mut made) })?;
        Ok(Self(made))
    }
}

#[derive(Deserialize)]
struct ShapeRow {
    input: String,
}

#[test]
fn texts_and_sizes() {
    let rows: Vec<ShapeRow> = corpus("shapes.jsonl");
    assert!(!rows.is_empty());
    for ShapeRow { input } in rows {
        let expected = input.parse::<Shape>();
        let found = Owned::parse(&input);
        match (&expected, &found) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(found.text(), expected.to_string());
                let sizes = found.sizes();
                // The number of bytes of a tuple may not fit in an `int64_t`.
                let fits = expected.byte_size().filter(|&bytes| i64::try_from(bytes).is_ok());
                assert_eq!(sizes.map(|sizes| sizes.bytes as u64), fits, "{input}");
                if let Some(sizes) = sizes {
                    assert_eq!(Some(sizes.padding_bytes as u64), expected.padding_byte_size(), "{input}");
                    assert_eq!(Some(sizes.unpadded_bytes as u64), expected.unpadded_byte_size(), "{input}");
                }
                if let (Some(array), Some(sizes)) = (expected.array(), sizes) {
                    assert_eq!(Some(sizes.elements as u64), array.elements(), "{input}");
                    assert_eq!(Some(sizes.positions as u64), array.physical_elements(), "{input}");
                    assert_eq!(sizes.element_bits as u64, array.element_bits(), "{input}");
                }
            }
            (Err(expected), Err((code, span, message))) => {
                assert_eq!(*code, XlaShapeErrorCode::Parse, "{input}");
                assert_eq!(*span, Some((expected.span().start, expected.span().end)), "{input}");
                assert_eq!(*message, expected.to_string().replace('\0', "\\0"));
            }
            _ => panic!("{input}: Rust has {expected:?}, C has {:?}", found.err()),
        }
    }
}

#[derive(Deserialize)]
struct MapRow {
    layout: String,
    physical_to_logical: Vec<i64>,
}

#[test]
fn positions() {
    let rows: Vec<MapRow> = corpus("linear_index.jsonl");
    assert!(!rows.is_empty());
    for MapRow { layout, physical_to_logical } in rows {
        let expected = layout.parse::<ArrayShape>().unwrap().placement().unwrap();
        let found = Owned::parse(&layout).unwrap();
        let mut index = vec![0_i64; expected.table().extents().len()];
        for position in 0..=physical_to_logical.len() as i64 {
            let (mut slot, mut back, mut byte, mut bit) = (XlaShapeSlot::Padding, -1, -1, -1);
            // SAFETY: the shape is alive, the index has these entries, and the places are local variables.
            let outcome = outcome(unsafe {
                xla_shape_multi_index(found.0, position, index.as_mut_ptr(), index.len(), &raw mut slot)
            });
            match expected.slot(position as u64) {
                Slot::OutOfRange => assert_eq!(outcome.unwrap_err().0, XlaShapeErrorCode::OutOfBounds),
                Slot::Padding => assert_eq!((outcome, slot), (Ok(()), XlaShapeSlot::Padding)),
                Slot::Element(element) => {
                    assert_eq!((outcome, slot), (Ok(()), XlaShapeSlot::Element));
                    assert!(
                        element.iter().eq(index.iter().map(|entry| entry.cast_unsigned()).collect::<Vec<_>>().iter())
                    );
                    // SAFETY: as above.
                    unsafe {
                        let error = xla_shape_linear_index(found.0, index.as_ptr(), index.len(), &raw mut back);
                        assert!(error.is_null());
                        assert!(xla_shape_byte_offset(found.0, position, &raw mut byte, &raw mut bit).is_null());
                    }
                    assert_eq!(back, position, "{layout}");
                    assert_eq!((byte as u64, bit as u64), expected.bit_offset(position as u64), "{layout}");
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct EntryRow {
    generation: String,
    parameters: String,
}

#[test]
fn layouts_of_tpus() {
    let rows: Vec<EntryRow> = corpus("tpu_entry_layouts.jsonl");
    assert!(!rows.is_empty());
    for EntryRow { generation, parameters } in rows {
        let expected = parameters.parse::<Shape>().unwrap().with_tpu_layout(generation.parse::<Generation>().unwrap());
        let found = Owned::parse(&parameters).unwrap().on_tpu(&generation);
        match (expected, found) {
            (Ok(expected), Ok(found)) => assert_eq!(found.text(), expected.to_string()),
            (Err(expected), Err((_, _, message))) => assert_eq!(message, expected.to_string()),
            (expected, found) => panic!("{parameters}: Rust has {expected:?}, C has {:?}", found.err()),
        }
    }
    let unknown = Owned::parse("f32[2]").unwrap().on_tpu("v1").map(|_| ()).unwrap_err();
    assert_eq!(unknown.0, XlaShapeErrorCode::InvalidArgument);
}

#[derive(Deserialize)]
struct BitcastRow {
    operand: String,
    result: String,
}

#[test]
fn bitcasts() {
    let rows: Vec<BitcastRow> = corpus("bitcasts.jsonl");
    assert!(!rows.is_empty());
    for BitcastRow { operand, result } in rows {
        let [from, to]: [ArrayShape; 2] = [operand.parse().unwrap(), result.parse().unwrap()];
        let expected = from.reshape_is_bitcast(&to);
        let (a, b) = (Owned::parse(&operand).unwrap(), Owned::parse(&result).unwrap());
        let (mut yes, mut reason) = (false, null_mut());
        // SAFETY: the shapes are alive, and the places are local variables.
        let found = outcome(unsafe { xla_shape_reshape_is_bitcast(a.0, b.0, &raw mut yes, &raw mut reason) });
        match (expected, found) {
            (Ok(expected), Ok(())) => {
                assert_eq!(yes, expected.is_yes(), "{operand} {result}");
                let reason = outcome(reason).err().map(|(_, _, message)| message);
                assert_eq!(reason, (!yes).then(|| expected.to_string()));
            }
            (Err(expected), Err((_, _, message))) => assert_eq!(message, expected.to_string()),
            (expected, found) => panic!("{operand} to {result}: Rust has {expected:?}, C has {found:?}"),
        }
    }
}

#[derive(Deserialize)]
struct PartitionRow {
    sizes: Vec<u64>,
    mesh: String,
    shard: Vec<i64>,
    regions: BTreeMap<String, Vec<(i64, i64)>>,
}

#[test]
fn parts_of_devices() {
    let rows: Vec<PartitionRow> = corpus("partitions.jsonl");
    assert!(!rows.is_empty());
    for PartitionRow { sizes, mesh, shard, regions } in rows {
        let array = ArrayShape::with_default_layout(xla_shape_core::ElementType::F32, &sizes).unwrap();
        let whole = Owned::parse(&array.to_string()).unwrap();
        let count = mesh.parse::<Sharding>().unwrap().partition(&array).unwrap().device_count();
        let (mut sharding, mut partition, mut devices, mut one) = (null_mut(), null_mut(), 0, null_mut());
        // SAFETY: the handles are alive until they are freed below, and the places are local variables.
        unsafe {
            outcome(xla_shape_sharding_parse(mesh.as_ptr().cast(), mesh.len(), &raw mut sharding)).unwrap();
            outcome(xla_shape_partition(sharding, whole.0, &raw mut partition)).unwrap();
            outcome(xla_shape_partition_device_count(partition, &raw mut devices)).unwrap();
            outcome(xla_shape_partition_shard(partition, &raw mut one)).unwrap();
        }
        assert_eq!(devices, count.map_or(-1, |count| count as i64), "{mesh}");
        let one = Owned(one);
        let expected = array.to_string();
        let sizes = shard.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        assert_eq!(one.text(), format!("f32[{sizes}]{}", &expected[expected.find('{').unwrap_or(expected.len())..]));
        for (device, expected) in regions {
            let (mut start, mut limit) = (vec![-1; shard.len()], vec![-1; shard.len()]);
            let device = device.parse().unwrap();
            // SAFETY: the partition is alive, and the lists have these entries.
            outcome(unsafe {
                xla_shape_partition_region(partition, device, start.as_mut_ptr(), limit.as_mut_ptr(), start.len())
            })
            .unwrap();
            assert_eq!(start.into_iter().zip(limit).collect::<Vec<_>>(), expected, "{mesh} {device}");
        }
        // SAFETY: nothing uses them any more.
        unsafe {
            xla_shape_sharding_free(sharding);
            xla_shape_partition_free(partition);
        }
    }
}

/// A question to the program, and its answer, as in `crates/cli/tests/doors.rs`.
#[derive(Deserialize)]
struct DoorRow {
    command: Vec<String>,
    #[serde(default)]
    answer: Vec<Value>,
    #[serde(default)]
    error: String,
}

/// The answers of C and of the program to the same question; `None` if the C interface has no function for it.
fn at_both_doors(row: &DoorRow) -> Option<[Value; 2]> {
    let words = row.command.iter().map(String::as_str).collect::<Vec<_>>();
    let program = |field: &str| row.answer.first().map(|answer| answer.pointer(field).cloned().unwrap_or_default());
    // The message is the first line of what the program writes.
    let failed = || json!(row.error.lines().next().unwrap_or_default());
    let told = |failure: Failure| json!(format!("error: {}", failure.2));
    let ["explain" | "compare", shape, more @ ..] = &words[..] else { return None };
    let shape = match Owned::parse(shape) {
        Ok(shape) => shape,
        Err(failure) => return Some([told(failure), failed()]),
    };
    Some(match more {
        [] => {
            let sizes = shape.sizes().map(|sizes| [sizes.bytes, sizes.padding_bytes]);
            // In C, sizes are limited to its integer type.
            let fits = program("/bytes").is_some_and(|bytes| bytes.as_i64().is_some());
            let size = |field| program(field).filter(|_| fits);
            let expected = [program("/shape"), size("/bytes"), size("/padding_bytes")];
            [json!([shape.text(), sizes.map(|sizes| sizes[0]), sizes.map(|sizes| sizes[1])]), json!(expected)]
        }
        // The C interface asks only about TPUs.
        ["--for", generation] if !generation.contains(',') && generation.parse::<Gpu>().is_err() => {
            match shape.on_tpu(generation) {
                Ok(chosen) if !chosen.text().starts_with('(') => [json!(chosen.text()), program("/tpu/0/shape")?],
                Ok(_) => return None,
                Err(failure) => [told(failure), failed()],
            }
        }
        ["--index", index] if !row.answer.is_empty() => {
            let index = index
                .split(',')
                .filter(|entry| !entry.is_empty())
                .map(|entry| entry.parse().unwrap())
                .collect::<Vec<i64>>();
            let mut position = -1;
            // SAFETY: the shape is alive, the index has these entries, and the place is a local variable.
            outcome(unsafe { xla_shape_linear_index(shape.0, index.as_ptr(), index.len(), &raw mut position) })
                .unwrap();
            [json!(position), program("/linear")?]
        }
        ["--position", position] if !row.answer.is_empty() => {
            let rank = shape.text().parse::<ArrayShape>().unwrap().num_dimensions();
            let (mut index, mut slot) = (vec![-1_i64; rank], XlaShapeSlot::Padding);
            let position = position.parse().unwrap();
            // SAFETY: the shape is alive, the index has these entries, and the place is a local variable.
            outcome(unsafe { xla_shape_multi_index(shape.0, position, index.as_mut_ptr(), rank, &raw mut slot) })
                .unwrap();
            [if slot == XlaShapeSlot::Element { json!(index) } else { Value::Null }, program("/index")?]
        }
        // Without a generation, the layouts are those of the texts. Both interfaces answer about a reshape.
        [to] if program("/reshape").is_some_and(|reshape| reshape.is_object()) => {
            let (to, mut yes, mut reason) = (Owned::parse(to).unwrap(), false, null_mut());
            // SAFETY: the shapes are alive, and the places are local variables.
            outcome(unsafe { xla_shape_reshape_is_bitcast(shape.0, to.0, &raw mut yes, &raw mut reason) }).unwrap();
            let reason = outcome(reason).err().map(|(_, _, message)| message);
            let why = (!yes).then(|| program("/reshape/reason")).flatten();
            [json!([yes, reason]), json!([program("/reshape/free"), why])]
        }
        _ => return None,
    })
}

#[test]
fn c_gives_the_answers_of_the_program() {
    let rows: Vec<DoorRow> = corpus("doors.jsonl");
    let answers = rows.iter().filter_map(|row| Some((&row.command, at_both_doors(row)?))).collect::<Vec<_>>();
    for (command, [c, program]) in &answers {
        assert_eq!(c, program, "{command:?}");
    }
    assert!(answers.len() >= 150, "{}", answers.len());
}
