//! Bad input: whatever can be known to be wrong is an error, and nothing is written. All calls go through the functions of the interface.

#![expect(clippy::multiple_unsafe_ops_per_block, reason = "calls of the interface on the same handles share a proof")]

use super::*;
use XlaShapeErrorCode as Code;
use std::ffi::CStr;
use std::ptr;
use std::ptr::{null, null_mut};
use std::result::Result;
use xla_shape_core::ArrayShape;
use xla_shape_relayout::{Options, Plan};

/// The code and the message of an error, which is freed.
fn taken(error: *mut XlaShapeError) -> (Code, String) {
    // SAFETY: the functions return null, or an error that nobody else has; the message lives as long as the error.
    unsafe {
        let message = CStr::from_ptr(xla_shape_error_message(error)).to_str().unwrap().to_owned();
        let code = xla_shape_error_code(error);
        xla_shape_error_free(error);
        (code, message)
    }
}

fn code(error: *mut XlaShapeError) -> Code {
    taken(error).0
}

/// A shape that is freed at the end.
struct Owned(*mut XlaShape);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: only `Owned` has it.
        unsafe { xla_shape_free(self.0) };
    }
}

fn shape(text: &str) -> Owned {
    let mut shape = null_mut();
    // SAFETY: the text has these bytes, and the place is a local variable.
    let error = unsafe { xla_shape_parse(text.as_ptr().cast(), text.len(), &raw mut shape) };
    assert_eq!(taken(error), (Code::Ok, String::new()), "{text}");
    Owned(shape)
}

fn plan(from: &Owned, to: &Owned, options: &XlaShapePlanOptions) -> Result<*mut XlaShapePlan, (Code, String)> {
    let mut plan = ptr::dangling_mut();
    // SAFETY: the shapes are alive, the options are a whole struct, and the place is a local variable.
    let error = unsafe { xla_shape_plan(from.0, to.0, options, &raw mut plan) };
    if error.is_null() {
        return Ok(plan);
    }
    assert!(plan.is_null(), "the place is null after an error");
    Err(taken(error))
}

const DEFAULT: XlaShapePlanOptions = XlaShapePlanOptions {
    struct_size: size_of::<XlaShapePlanOptions>(),
    permutation: null(),
    num_permutation: 0,
    padding: 0,
    fill: null(),
    fill_size: 0,
    stores: 0,
    part_bytes: 0,
};

#[test]
fn texts() {
    // SAFETY: null pointers have length 0 or are refused; other texts have their bytes.
    unsafe {
        let mut shape = ptr::dangling_mut();
        assert_eq!(code(xla_shape_parse(null(), 3, &raw mut shape)), Code::NullPointer);
        assert!(shape.is_null());
        assert_eq!(code(xla_shape_parse(c"f32[2]".as_ptr(), 6, null_mut())), Code::NullPointer);
        let error = xla_shape_parse(null(), 0, &raw mut shape);
        assert_eq!(taken(error), (Code::Parse, "expected a shape, found the end of the text".to_owned()));
        assert_eq!(code(xla_shape_parse(c"f32".as_ptr(), usize::MAX, &raw mut shape)), Code::InvalidArgument);

        let error = xla_shape_parse(c"f32[2]{0:T(8,128)(\xff".as_ptr(), 19, &raw mut shape);
        let (mut start, mut end) = (0, 0);
        assert!(xla_shape_error_span(error, &raw mut start, &raw mut end));
        assert_eq!((start, end), (18, 19));
        assert_eq!(taken(error), (Code::Parse, "expected UTF-8, found bytes that are not".to_owned()));

        let error = xla_shape_parse(c"f32[2]{0,0}".as_ptr(), 11, &raw mut shape);
        assert!(xla_shape_error_span(error, null_mut(), &raw mut end));
        let rendered = CStr::from_ptr(xla_shape_error_rendered(error)).to_str().unwrap();
        assert!(rendered.contains("f32[2]{0,0}") && rendered.contains('^'), "{rendered}");
        assert_eq!(taken(error).0, Code::Parse);

        // A NUL inside a text is an error like any other unexpected character, and does not end the message.
        let error = xla_shape_parse(c"f32[".as_ptr(), 5, &raw mut shape);
        let (found, message) = taken(error);
        assert!(found == Code::Parse && message.contains("found `\\0`"), "{message}");
    }
}

#[test]
fn errors_of_null() {
    // SAFETY: null is allowed.
    unsafe {
        assert_eq!(taken(null_mut()), (Code::Ok, String::new()));
        assert_eq!(CStr::from_ptr(xla_shape_error_rendered(null())), c"");
        assert!(!xla_shape_error_span(null(), null_mut(), null_mut()));
        xla_shape_free(null_mut());
        xla_shape_sharding_free(null_mut());
        xla_shape_partition_free(null_mut());
        xla_shape_plan_free(null_mut());
        assert_eq!(xla_shape_kind(null()), XlaShapeKind::Invalid);
        assert_eq!(code(xla_shape_text(null(), null_mut(), null_mut())), Code::NullPointer);
    }
}

#[test]
#[cfg(debug_assertions)]
fn freed_handles_and_handles_of_another_type() {
    let (array, other) = (shape("f32[2]"), shape("f32[3]"));
    let freed = array.0;
    drop(array);
    let (mut position, mut copy) = (7, null_mut());
    // SAFETY: with debug assertions, a pointer is only read if it is a living handle of the type.
    unsafe {
        assert_eq!(code(xla_shape_linear_index(freed, [0].as_ptr(), 1, &raw mut position)), Code::DeadHandle);
        assert_eq!(position, 7);
        xla_shape_free(freed);
        let error = xla_shape_partition_device_count(other.0.cast(), &raw mut position);
        let expected = "expected an XlaShapePartition, found a pointer to something else, or to one that was freed";
        assert_eq!(taken(error), (Code::DeadHandle, expected.to_owned()));
        xla_shape_plan_free(other.0.cast());
        assert_eq!(xla_shape_kind(other.0), XlaShapeKind::Array);
        let odd = other.0.cast_const().wrapping_byte_add(1);
        assert_eq!(code(xla_shape_clone(odd, &raw mut copy)), Code::DeadHandle);
    }
}

#[test]
fn indices() {
    let tiled = shape("f32[3,5]{1,0:T(2,2)}");
    let at = |index: &[i64]| {
        let mut position = -7;
        // SAFETY: the index has these entries, and the place is a local variable.
        let found = taken(unsafe { xla_shape_linear_index(tiled.0, index.as_ptr(), index.len(), &raw mut position) });
        (found, position)
    };
    assert_eq!(at(&[2, 3]), ((Code::Ok, String::new()), 17));
    for bad in [[-1, 0], [0, 5], [i64::MIN, 0], [i64::MAX, i64::MAX]] {
        let message = format!("index {bad:?} is out of bounds for f32[3,5]{{1,0:T(2,2)}}");
        assert_eq!(at(&bad), ((Code::OutOfBounds, message), -7));
    }
    for bad in [&[][..], &[0], &[0, 0, 0]] {
        let ((found, message), position) = at(bad);
        assert!(found == Code::BufferSize && position == -7, "{message}");
    }
    let (mut index, mut slot, mut other) = ([9_i64; 2], XlaShapeSlot::Padding, 0);
    // SAFETY: the lists are local variables, or null where that is refused; the odd pointer is refused before it is read.
    unsafe {
        assert_eq!(code(xla_shape_linear_index(tiled.0, null(), 2, &raw mut index[0])), Code::NullPointer);
        assert_eq!(code(xla_shape_linear_index(tiled.0, index.as_ptr(), 2, null_mut())), Code::OutOfBounds);
        assert_eq!(code(xla_shape_linear_index(tiled.0, [0, 0].as_ptr(), 2, null_mut())), Code::NullPointer);
        let odd = index.as_ptr().wrapping_byte_add(1);
        assert_eq!(code(xla_shape_linear_index(tiled.0, odd, 1, &raw mut other)), Code::InvalidArgument);
        let inverse = |position, index: &mut [i64], slot: &mut XlaShapeSlot| {
            code(xla_shape_multi_index(tiled.0, position, index.as_mut_ptr(), index.len(), slot))
        };
        assert_eq!(inverse(17, &mut index, &mut slot), Code::Ok);
        assert_eq!((index, slot), ([2, 3], XlaShapeSlot::Element));
        assert_eq!(inverse(9, &mut index, &mut slot), Code::Ok);
        assert_eq!(slot, XlaShapeSlot::Padding);
        for position in [-1, 24, i64::MAX, i64::MIN] {
            assert_eq!(inverse(position, &mut index, &mut slot), Code::OutOfBounds, "{position}");
        }
        assert_eq!(inverse(0, &mut [0], &mut slot), Code::BufferSize);
        assert_eq!(inverse(0, &mut [0; 3], &mut slot), Code::BufferSize);
        let (mut byte, mut bit) = (0, 0);
        assert_eq!(code(xla_shape_byte_offset(tiled.0, 24, &raw mut byte, null_mut())), Code::Ok);
        assert_eq!(byte, 96);
        assert_eq!(code(xla_shape_byte_offset(tiled.0, 25, &raw mut byte, &raw mut bit)), Code::OutOfBounds);
        assert_eq!(code(xla_shape_byte_offset(tiled.0, -1, &raw mut byte, &raw mut bit)), Code::OutOfBounds);
    }
}

/// The sizes are those of one memory, so positions of the whole array would lie outside of its buffer.
#[test]
fn split_arrays_have_no_positions() {
    let split = shape("f32[8]{0:SC(0:4)}");
    let expected =
        "expected an array in one memory, found f32[8]{0:SC(0:4)} with splits: each memory has positions of its own";
    let expected = (Code::Unsupported, expected.to_owned());
    let (mut position, mut index, mut slot, mut byte) = (-7, [9_i64], XlaShapeSlot::Padding, -7);
    for at in [0, 3, 7] {
        // SAFETY: the shape is alive, the places are local variables.
        unsafe {
            let error = xla_shape_linear_index(split.0, [at].as_ptr(), 1, &raw mut position);
            assert_eq!(taken(error), expected);
            let error = xla_shape_multi_index(split.0, at, index.as_mut_ptr(), 1, &raw mut slot);
            assert_eq!(taken(error), expected);
            assert_eq!(taken(xla_shape_byte_offset(split.0, at, &raw mut byte, null_mut())), expected);
        }
    }
    assert_eq!((position, index, byte), (-7, [9], -7));
    let mut sizes = empty_sizes();
    // SAFETY: the shape is alive, the place is a local variable.
    assert_eq!(code(unsafe { xla_shape_sizes(split.0, &raw mut sizes) }), Code::Ok);
    assert_eq!((sizes.bytes, sizes.positions), (16, 4));
}

#[test]
fn a_buffer_in_another_layout_is_a_buffer() {
    let (buffer, layout, mut changed) = (shape("b(f32[4,4])"), "{0,1}", null_mut());
    // SAFETY: the shape is alive, the text has these bytes, the place is a local variable.
    unsafe {
        let error = xla_shape_with_layout(buffer.0, layout.as_ptr().cast(), layout.len(), &raw mut changed);
        assert_eq!(taken(error), (Code::Ok, String::new()));
        let changed = Owned(changed);
        let mut equal = false;
        assert!(xla_shape_equal(changed.0, shape("b(f32[4,4]{0,1})").0, &raw mut equal).is_null());
        assert!(equal && xla_shape_kind(changed.0) == XlaShapeKind::Buffer);
        let tuple = shape("(f32[4,4])");
        let mut place = null_mut();
        let error = xla_shape_with_layout(tuple.0, layout.as_ptr().cast(), layout.len(), &raw mut place);
        assert_eq!(code(error), Code::WrongKind);
    }
}

/// `E(256)` takes 32 bytes an element, more than any element type has.
#[test]
fn fill_of_wide_elements() {
    let (from, to) = (shape("c128[3]{0:E(256)}"), shape("c128[3]{0:T(4)E(256)}"));
    let fill: [u8; 32] = std::array::from_fn(|i| i as u8 + 1);
    let wide = XlaShapePlanOptions { padding: 2, fill: fill.as_ptr().cast(), fill_size: 32, ..DEFAULT };
    let (message, short) = ("expected 32 bytes of one element to fill padding with, found 16", 16);
    let refused = plan(&from, &to, &XlaShapePlanOptions { fill_size: short, ..wide });
    assert_eq!(refused, Err((Code::InvalidArgument, message.to_owned())));
    let plan = plan(&from, &to, &wide).unwrap();
    let (source, mut destination) = ([77_u8; 96], [0_u8; 128]);
    // SAFETY: the plan is alive until it is freed, the buffers have these bytes.
    unsafe {
        let error = xla_shape_plan_run(plan, source.as_ptr().cast(), 96, destination.as_mut_ptr().cast(), 128);
        assert_eq!(taken(error), (Code::Ok, String::new()));
        xla_shape_plan_free(plan);
    }
    assert_eq!(destination[96..], fill);
}

#[test]
fn kinds() {
    let (mut position, mut sizes, mut count) = (0, empty_sizes(), 0);
    let mut element = null_mut();
    let place = &raw mut position;
    // SAFETY: the shapes are alive, and the places are local variables.
    unsafe {
        for (text, kind) in [("token[]", XlaShapeKind::Token), ("(f32[2], ())", XlaShapeKind::Tuple)] {
            let other = shape(text);
            assert_eq!(xla_shape_kind(other.0), kind);
            assert_eq!(code(xla_shape_linear_index(other.0, null(), 0, place)), Code::WrongKind);
            assert_eq!(code(xla_shape_sizes(other.0, &raw mut sizes)), Code::Ok);
            assert_eq!((sizes.elements, sizes.positions, sizes.element_bits), (-1, -1, -1));
        }
        let tuple = shape("(f32[2], ())");
        assert_eq!(sizes.bytes, 8);
        assert_eq!(code(xla_shape_tuple_count(tuple.0, &raw mut count)), Code::Ok);
        assert_eq!(count, 2);
        assert_eq!(code(xla_shape_tuple_element(tuple.0, 2, &raw mut element)), Code::OutOfBounds);
        assert_eq!(code(xla_shape_tuple_element(tuple.0, 0, &raw mut element)), Code::Ok);
        drop(tuple);
        let element = Owned(element);
        assert_eq!(xla_shape_kind(element.0), XlaShapeKind::Array);
        assert_eq!(code(xla_shape_tuple_count(element.0, &raw mut count)), Code::WrongKind);
        let unbounded = shape("f32[?,2]");
        assert_eq!(code(xla_shape_sizes(unbounded.0, &raw mut sizes)), Code::UnknownSize);
        assert_eq!(code(xla_shape_linear_index(unbounded.0, [0, 0].as_ptr(), 2, place)), Code::UnknownSize);
        // Each of these fits in 63 bits, their sum does not.
        let large = "f32[2305843009213693951]";
        let sum = shape(&format!("({large}, {large})"));
        assert_eq!(code(xla_shape_sizes(sum.0, &raw mut sizes)), Code::UnknownSize);
    }
}

fn empty_sizes() -> XlaShapeSizes {
    XlaShapeSizes {
        struct_size: size_of::<XlaShapeSizes>(),
        bytes: 0,
        unpadded_bytes: 0,
        padding_bytes: 0,
        elements: 0,
        positions: 0,
        element_bits: 0,
    }
}

#[test]
fn sizes_of_structs() {
    let array = shape("f32[100]{0:T(128)}");
    // SAFETY: the structs have as many bytes as they say, or say what is refused.
    unsafe {
        for size in [0, 8, size_of::<XlaShapeSizes>() - 1, 4097, usize::MAX] {
            let mut sizes = XlaShapeSizes { struct_size: size, ..empty_sizes() };
            assert_eq!(code(xla_shape_sizes(array.0, &raw mut sizes)), Code::InvalidArgument, "{size}");
            assert_eq!((sizes.struct_size, sizes.bytes), (size, 0));
        }
        assert_eq!(code(xla_shape_sizes(array.0, null_mut())), Code::NullPointer);
        // A struct of a later version: the library fills what it knows, and says how much.
        let mut later = (XlaShapeSizes { struct_size: size_of::<XlaShapeSizes>() + 8, ..empty_sizes() }, 7_u64);
        assert_eq!(code(xla_shape_sizes((&raw mut later).cast(), null_mut())), Code::DeadHandle);
        let place = (&raw mut later).cast::<XlaShapeSizes>();
        assert_eq!(code(xla_shape_sizes(array.0, place)), Code::Ok);
        assert_eq!((later.0.struct_size, later.0.bytes, later.1), (size_of::<XlaShapeSizes>(), 512, 7));
        // Options of a later version are the same as long as their new fields are 0.
        #[repr(C)]
        struct Later(XlaShapePlanOptions, u64);
        let mut plan = null_mut();
        for (field, expected) in [(0, Code::Ok), (1, Code::InvalidArgument)] {
            let options = Later(XlaShapePlanOptions { struct_size: size_of::<Later>(), ..DEFAULT }, field);
            let error = xla_shape_plan(array.0, array.0, (&raw const options).cast(), &raw mut plan);
            assert_eq!(code(error), expected);
            xla_shape_plan_free(plan);
        }
    }
}

#[test]
fn parts_of_arrays() {
    let empty = XlaShapeArray {
        struct_size: size_of::<XlaShapeArray>(),
        element_type: 11,
        dimensions: null(),
        is_dynamic: null(),
        num_dimensions: 0,
        minor_to_major: null(),
        tile_dims: null(),
        tile_dim_sizes: null(),
        num_tiles: 0,
        element_size_in_bits: 0,
        memory_space: 0,
        tail_padding_alignment_in_elements: 0,
        dynamic_shape_metadata_prefix_bytes: 0,
        num_split_configs: 0,
    };
    let made = |array: &XlaShapeArray| {
        let mut place = ptr::dangling_mut();
        // SAFETY: the lists of the struct are local variables with as many entries, or are refused.
        let error = unsafe { xla_shape_from_array(array, &raw mut place) };
        if error.is_null() { Ok(Owned(place)) } else { Err(code(error)) }
    };
    let text = |shape: &Owned| {
        let mut text = null();
        // SAFETY: the shape is alive, and owns the text.
        unsafe {
            assert!(xla_shape_text(shape.0, &raw mut text, null_mut()).is_null());
            CStr::from_ptr(text).to_str().unwrap().to_owned()
        }
    };
    assert_eq!(text(&made(&empty).unwrap()), "f32[]");

    // A shape that is read as an array and made again is the same shape.
    for written in [
        "f32[]",
        "bf16[100,200]{1,0:T(8,128)(2,1)}",
        "s4[<=7,?,0]{0,2,1:T(*,4)L(8)E(4)S(5)M(16)}",
        "f32[8,1]{0,1:T(2,2)(4)(1,2)}",
        "pred[3]",
    ] {
        let shape = shape(written);
        let mut array = empty;
        // SAFETY: the shape is alive, and owns the lists.
        assert_eq!(code(unsafe { xla_shape_array(shape.0, &raw mut array) }), Code::Ok, "{written}");
        let again = made(&array).map_err(|code| format!("{written}: {code:?}")).unwrap();
        assert_eq!(text(&again), text(&shape));
    }

    let (sizes, order, tile, counts) = ([2, 3], [1, 0], [8, 128], [2]);
    let good = XlaShapeArray {
        dimensions: sizes.as_ptr(),
        num_dimensions: 2,
        minor_to_major: order.as_ptr(),
        tile_dims: tile.as_ptr(),
        tile_dim_sizes: counts.as_ptr(),
        num_tiles: 1,
        ..empty
    };
    assert_eq!(text(&made(&good).unwrap()), "f32[2,3]{1,0:T(8,128)}");
    let bad = |array: XlaShapeArray| made(&array).map(drop).unwrap_err();
    assert_eq!(bad(XlaShapeArray { element_type: 13, ..good }), Code::InvalidArgument); // a tuple
    assert_eq!(bad(XlaShapeArray { element_type: i64::MAX, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { dimensions: [2, -1].as_ptr(), ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { dimensions: [i64::MAX, 3].as_ptr(), ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { dimensions: null(), ..good }), Code::NullPointer);
    assert_eq!(bad(XlaShapeArray { num_dimensions: usize::MAX, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { minor_to_major: [1, -1].as_ptr(), ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { minor_to_major: [0, 0].as_ptr(), ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { tile_dims: [8, -1].as_ptr(), ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { tile_dims: null(), ..good }), Code::NullPointer);
    assert_eq!(bad(XlaShapeArray { tile_dim_sizes: [usize::MAX].as_ptr(), ..good }), Code::InvalidArgument);
    let two = [usize::MAX, 1];
    assert_eq!(bad(XlaShapeArray { tile_dim_sizes: two.as_ptr(), num_tiles: 2, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { element_size_in_bits: -1, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { memory_space: 256, ..good }), Code::InvalidArgument);
    let memory_space = |memory_space| {
        let (mut place, array) = (null_mut(), XlaShapeArray { memory_space, ..good });
        // SAFETY: the lists of the struct are local variables; no shape is made.
        taken(unsafe { xla_shape_from_array(&raw const array, &raw mut place) }).1
    };
    assert_eq!(memory_space(256), memory_space(128).replace("128", "256"));
    assert_eq!(memory_space(-1), "expected memory_space of at least 0, found -1");
    let (mut place, array) = (null_mut(), XlaShapeArray { minor_to_major: [1, -1].as_ptr(), ..good });
    // SAFETY: the same.
    let error = taken(unsafe { xla_shape_from_array(&raw const array, &raw mut place) });
    assert_eq!(error.1, "expected a dimension of at least 0 in entry 1, found -1");
    assert_eq!(bad(XlaShapeArray { tail_padding_alignment_in_elements: -1, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { dynamic_shape_metadata_prefix_bytes: -1, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { num_split_configs: 1, ..good }), Code::InvalidArgument);
    assert_eq!(bad(XlaShapeArray { struct_size: 0, ..good }), Code::InvalidArgument);

    // SAFETY: the names are static; the place is a local variable.
    unsafe {
        assert_eq!(CStr::from_ptr(xla_shape_element_type_name(16)), c"bf16");
        assert!(xla_shape_element_type_name(13).is_null() && xla_shape_element_type_name(-1).is_null());
        let mut number = 0;
        assert_eq!(code(xla_shape_element_type_number(c"bf16".as_ptr(), 4, &raw mut number)), Code::Ok);
        assert_eq!(number, 16);
        assert_eq!(code(xla_shape_element_type_number(c"bf17".as_ptr(), 4, &raw mut number)), Code::Parse);
    }
}

#[test]
fn options() {
    let (from, to) = (shape("u8[2,3]{1,0}"), shape("u8[2,3]{1,0:T(2,4)(2,1)}"));
    let refused = |options: XlaShapePlanOptions| plan(&from, &to, &options).unwrap_err();
    assert_eq!(refused(XlaShapePlanOptions { padding: 3, ..DEFAULT }).0, Code::InvalidArgument);
    assert_eq!(refused(XlaShapePlanOptions { stores: -1, ..DEFAULT }).0, Code::InvalidArgument);
    assert_eq!(refused(XlaShapePlanOptions { padding: 2, ..DEFAULT }).0, Code::InvalidArgument);
    assert_eq!(refused(XlaShapePlanOptions { padding: 2, fill_size: 1, ..DEFAULT }).0, Code::NullPointer);
    let fill = [0_u8; 17];
    let long = XlaShapePlanOptions { padding: 2, fill: fill.as_ptr().cast(), fill_size: 17, ..DEFAULT };
    assert_eq!(refused(long).0, Code::InvalidArgument);
    assert_eq!(refused(XlaShapePlanOptions { num_permutation: 2, ..DEFAULT }).0, Code::NullPointer);
    // The number of entries is compared before they are read.
    let huge = XlaShapePlanOptions { permutation: [0_i64].as_ptr(), num_permutation: 1 << 40, ..DEFAULT };
    let expected = "expected a permutation of the source's 2 dimensions, found 1099511627776 entries";
    assert_eq!(refused(huge), (Code::InvalidArgument, expected.to_owned()));
    let negative = [0_i64, -1];
    let negative = XlaShapePlanOptions { permutation: negative.as_ptr(), num_permutation: 2, ..DEFAULT };
    let expected = "expected a dimension of at least 0 in entry 1, found -1";
    assert_eq!(refused(negative), (Code::InvalidArgument, expected.to_owned()));
    for padding in [0, 1] {
        let expected = "expected no fill element without XLA_SHAPE_PADDING_FILL, found one";
        let unused = XlaShapePlanOptions { padding, fill: fill.as_ptr().cast(), fill_size: 1, ..DEFAULT };
        assert_eq!(refused(unused), (Code::InvalidArgument, expected.to_owned()));
        assert_eq!(refused(XlaShapePlanOptions { fill_size: 0, ..unused }).0, Code::InvalidArgument);
    }
    let no_entries = XlaShapePlanOptions { permutation: [0_i64].as_ptr(), ..DEFAULT };
    // SAFETY: only this test has the plan.
    unsafe { xla_shape_plan_free(plan(&from, &to, &no_entries).unwrap()) };
    let twice = [0_i64, 0];
    let twice = XlaShapePlanOptions { permutation: twice.as_ptr(), num_permutation: 2, ..DEFAULT };
    assert_eq!(refused(twice).0, Code::InvalidArgument);
    assert_eq!(refused(XlaShapePlanOptions { struct_size: 1, ..DEFAULT }).0, Code::InvalidArgument);
    let other = shape("u8[3,2]");
    assert_eq!(plan(&from, &other, &DEFAULT).unwrap_err().0, Code::InvalidArgument);
    assert_eq!(plan(&from, &shape("token[]"), &DEFAULT).unwrap_err().0, Code::WrongKind);
    assert_eq!(plan(&from, &shape("u8[2,?]"), &DEFAULT).unwrap_err().0, Code::UnknownSize);
}

#[test]
fn buffers() {
    let (from, to) = (shape("u8[2,3]{1,0}"), shape("u8[2,3]{1,0:T(2,4)(2,1)}"));
    let plan = plan(&from, &to, &XlaShapePlanOptions { padding: 1, ..DEFAULT }).unwrap();
    drop((from, to));
    let mut memory = [1, 2, 3, 4, 5, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    let start = memory.as_mut_ptr();
    // SAFETY: the buffers are parts of `memory`, or are refused; nobody else has the plan.
    unsafe {
        let run = |source: *const u8, from, destination: *mut u8, to| {
            taken(xla_shape_plan_run(plan, source.cast(), from, destination.cast(), to))
        };
        let destination = start.add(6);
        assert_eq!(run(start, 5, destination, 8).1, "expected a source of 6 bytes, found 5");
        assert_eq!(run(start, 6, destination, 9).0, Code::BufferSize);
        assert_eq!(run(start, 6, destination, usize::MAX).0, Code::BufferSize);
        assert_eq!(run(null(), 6, destination, 8).0, Code::NullPointer);
        assert_eq!(run(start, 6, null_mut(), 8).0, Code::NullPointer);
        assert_eq!(run(start, 6, start.add(5), 8).0, Code::Overlap);
        assert_eq!(run(start.add(6), 6, start, 8).0, Code::Overlap);
        assert_eq!(run(start, 6, start, 8).0, Code::Overlap);
        assert_eq!(run(ptr::without_provenance(usize::MAX), 6, destination, 8).0, Code::InvalidArgument);
        assert_eq!(*start.add(6), 0xff, "nothing was written");
        assert_eq!(run(start, 6, destination, 8).0, Code::Ok);
        let part = |part, from| code(xla_shape_plan_run_part(plan, part, start.cast(), from, destination.cast(), 8));
        assert_eq!(
            (part(1, 6), part(usize::MAX, 6), part(0, 7)),
            (Code::OutOfBounds, Code::OutOfBounds, Code::BufferSize)
        );
        assert_eq!(part(0, 6), Code::Ok);
        let mut count = 7;
        let ranges = |part, count: *mut usize| code(xla_shape_plan_part_ranges(plan, part, true, null_mut(), 0, count));
        assert_eq!((ranges(1, &raw mut count), ranges(0, null_mut())), (Code::OutOfBounds, Code::NullPointer));
        let error = xla_shape_plan_part_ranges(plan, 0, true, null_mut(), 1, &raw mut count);
        assert_eq!((code(error), count), (Code::NullPointer, 7));
        xla_shape_plan_free(plan);
    }
    assert_eq!(memory[6..], [1, 4, 2, 5, 3, 6, 0, 0]);
}

#[test]
fn empty_arrays() {
    let (from, to) = (shape("f32[0,3]"), shape("f32[0,3]{0,1:T(8,128)}"));
    let plan = plan(&from, &to, &XlaShapePlanOptions { part_bytes: 1, ..DEFAULT }).unwrap();
    let (mut count, mut position) = (0, 0);
    // SAFETY: buffers of no bytes may be null; nobody else has the plan.
    unsafe {
        assert_eq!(code(xla_shape_plan_run(plan, null(), 0, null_mut(), 0)), Code::Ok);
        assert_eq!(code(xla_shape_plan_part_count(plan, &raw mut count)), Code::Ok);
        for part in 0..count {
            assert_eq!(code(xla_shape_plan_run_part(plan, part, null(), 0, null_mut(), 0)), Code::Ok);
        }
        assert_eq!(code(xla_shape_linear_index(from.0, [0, 0].as_ptr(), 2, &raw mut position)), Code::OutOfBounds);
        xla_shape_plan_free(plan);
    }
}

#[test]
fn shards() {
    let array = shape("f32[10,256]{1,0:T(8,128)}");
    let text = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}";
    let (mut sharding, mut partition, mut count) = (null_mut(), null_mut(), 0_usize);
    let (mut start, mut limit, mut devices) = ([0_i64; 2], [0_i64; 2], [9_i64; 3]);
    // SAFETY: handles are alive until they are freed below; lists are local variables, or are refused.
    unsafe {
        let parsed = xla_shape_sharding_parse(text.as_ptr().cast(), text.len(), &raw mut sharding);
        assert_eq!(taken(parsed), (Code::Ok, String::new()));
        let mut printed = null();
        assert!(xla_shape_sharding_text(sharding, &raw mut printed, &raw mut count).is_null());
        assert_eq!((CStr::from_ptr(printed).to_str().unwrap(), count), (text, text.len()));
        assert_eq!(code(xla_shape_partition(sharding, null(), &raw mut partition)), Code::NullPointer);
        assert_eq!(code(xla_shape_partition(sharding, shape("f32[?,2]").0, &raw mut partition)), Code::UnknownSize);
        assert_eq!(code(xla_shape_partition(sharding, shape("f32[2]").0, &raw mut partition)), Code::InvalidArgument);
        assert_eq!(code(xla_shape_partition(sharding, array.0, &raw mut partition)), Code::Ok);
        xla_shape_sharding_free(sharding);
        let mut region = |device, n| {
            let found = code(xla_shape_partition_region(partition, device, start.as_mut_ptr(), limit.as_mut_ptr(), n));
            (found, start, limit)
        };
        assert_eq!(region(7, 2), (Code::Ok, [9, 0], [10, 256]));
        assert_eq!(region(8, 2).0, Code::OutOfBounds);
        assert_eq!(region(-1, 2).0, Code::OutOfBounds);
        assert_eq!(region(0, 1).0, Code::BufferSize);
        let list = start.as_mut_ptr();
        assert_eq!(code(xla_shape_partition_region(partition, 0, list, list.add(1), 2)), Code::Overlap);
        let mut holders = |index: &[i64], room| {
            let (list, n) = (devices.as_mut_ptr(), index.len());
            let found = code(xla_shape_partition_holders(partition, index.as_ptr(), n, list, room, &raw mut count));
            (found, count, devices)
        };
        assert_eq!(holders(&[9, 0], 1), (Code::BufferSize, 2, [9; 3]));
        assert_eq!(holders(&[9, 0], 0), (Code::Ok, 2, [9; 3]));
        assert_eq!(holders(&[9, 0], 3), (Code::Ok, 2, [6, 7, 9]));
        assert_eq!(holders(&[10, 0], 3).0, Code::OutOfBounds);
        assert_eq!(holders(&[0, -1], 3).0, Code::OutOfBounds);
        assert_eq!(holders(&[0], 3).0, Code::BufferSize);
        xla_shape_partition_free(partition);
        let replicated = c"{replicated}";
        assert!(xla_shape_sharding_parse(replicated.as_ptr(), 12, &raw mut sharding).is_null());
        assert!(xla_shape_partition(sharding, array.0, &raw mut partition).is_null());
        xla_shape_sharding_free(sharding);
        let mut number = 0;
        assert!(xla_shape_partition_device_count(partition, &raw mut number).is_null());
        assert_eq!(number, -1);
        let index = [0_i64, 0];
        let error = xla_shape_partition_holders(partition, index.as_ptr(), 2, null_mut(), 0, &raw mut count);
        assert_eq!(code(error), Code::Unsupported);
        xla_shape_partition_free(partition);
    }
}

#[test]
fn bitcasts() {
    let (a, b) = (shape("bf16[256,128]{1,0:T(8,128)(2,1)}"), shape("bf16[256,128]{1,0:T(8,128)}"));
    let (mut yes, mut reason) = (true, null_mut());
    // SAFETY: the shapes are alive, the places are local variables or null.
    unsafe {
        assert!(xla_shape_layout_change_is_bitcast(a.0, b.0, &raw mut yes, &raw mut reason).is_null());
        assert!(!yes);
        let expected = "element (0,1) moves from position 2 to 1; the second tile differs";
        assert_eq!(taken(reason), (Code::NotABitcast, expected.to_owned()));
        assert!(xla_shape_reshape_is_bitcast(a.0, a.0, &raw mut yes, &raw mut reason).is_null());
        assert!(yes && reason.is_null());
        assert!(xla_shape_reshape_is_bitcast(a.0, b.0, &raw mut yes, null_mut()).is_null());
        let permutation = [1_i64, -1];
        let error = xla_shape_transpose_is_bitcast(a.0, b.0, permutation.as_ptr(), 2, &raw mut yes, null_mut());
        assert_eq!(code(error), Code::InvalidArgument);
    }
}

/// Several threads copy parts of one array at once. The parts write different bytes. Together, they write what one run writes.
#[test]
fn parts_in_threads() {
    struct Shared(*mut XlaShapePlan, *mut u8);
    // SAFETY: plans may be used by several threads; the threads write different parts of the destination.
    unsafe impl Sync for Shared {}

    for (from, to, padding) in [
        ("u16[40,33]{1,0}", "u16[40,33]{1,0:T(8,4)(2,1)}", 1),
        ("u16[40,33]{1,0:T(8,4)(2,1)}", "u16[40,33]{0,1:T(2)}", 0),
        ("s4[40,32]{1,0:E(4)}", "s4[40,32]{1,0:T(2,2)E(4)}", 0),
    ] {
        let whole = Plan::new(
            &from.parse::<ArrayShape>().unwrap(),
            &to.parse::<ArrayShape>().unwrap(),
            &if padding == 1 { Options::new().zero_padding() } else { Options::new() },
        )
        .unwrap();
        let [source, destination] = [whole.from(), whole.to()].map(|shape| shape.byte_size().unwrap() as usize);
        let source: Vec<u8> = (0..source).map(|byte| (byte * 7) as u8).collect();
        let mut expected = vec![0x5a; destination];
        whole.run(&source, &mut expected).unwrap();

        let options = XlaShapePlanOptions { part_bytes: 200, padding, ..DEFAULT };
        let plan = plan(&shape(from), &shape(to), &options).unwrap();
        let mut made = vec![0x5a_u8; destination];
        let mut count = 0;
        // SAFETY: the plan is alive, and the place is a local variable.
        assert!(unsafe { xla_shape_plan_part_count(plan, &raw mut count) }.is_null());
        assert!(count > 1, "{from} to {to}");
        let shared = Shared(plan, made.as_mut_ptr());
        std::thread::scope(|scope| {
            for first in 0..2 {
                let (shared, source) = (&shared, &source);
                scope.spawn(move || {
                    for part in (first..count).step_by(2) {
                        let (from, to) = (source.as_ptr().cast(), shared.1.cast());
                        // SAFETY: the buffers have these bytes, and no two threads copy the same part.
                        let error = unsafe {
                            xla_shape_plan_run_part(shared.0, part, from, source.len(), to, expected_len(shared.0))
                        };
                        assert_eq!(taken(error), (Code::Ok, String::new()));
                    }
                });
            }
        });
        assert_eq!(made, expected, "{from} to {to}");

        // Every byte of the destination belongs to one part.
        let mut owners = vec![0; destination];
        for part in 0..count {
            let mut found = 0;
            // SAFETY: the plan is alive, and the list has room for as many ranges as it says.
            unsafe {
                assert!(xla_shape_plan_part_ranges(plan, part, true, null_mut(), 0, &raw mut found).is_null());
                let mut ranges = vec![XlaShapeByteRange { start: 0, end: 0 }; found];
                let list = ranges.as_mut_ptr();
                if found > 1 {
                    let error = xla_shape_plan_part_ranges(plan, part, true, list, found - 1, &raw mut found);
                    assert_eq!(code(error), Code::BufferSize);
                }
                assert!(xla_shape_plan_part_ranges(plan, part, true, list, found, &raw mut found).is_null());
                ranges.iter().for_each(|range| owners[range.start..range.end].iter_mut().for_each(|owner| *owner += 1));
            }
        }
        assert!(owners.iter().all(|&owner| owner == 1), "{from} to {to}");
        // SAFETY: no thread uses it any more.
        unsafe { xla_shape_plan_free(plan) };
    }
}

fn expected_len(plan: *const XlaShapePlan) -> usize {
    let mut bytes = 0;
    // SAFETY: the plan is alive, and the place is a local variable.
    assert!(unsafe { xla_shape_plan_bytes(plan, null_mut(), &raw mut bytes) }.is_null());
    bytes
}

#[test]
fn a_panic_becomes_an_error() {
    let (found, message) = taken(border::call(|| panic!("seven")));
    assert_eq!((found, message.as_str()), (Code::Internal, "a bug in xla-shape: seven"));
}

#[test]
fn versions() {
    let (mut major, mut minor) = (0, 9);
    // SAFETY: the places are local variables or null; the text is static.
    unsafe {
        xla_shape_abi_version(&raw mut major, null_mut());
        xla_shape_abi_version(null_mut(), &raw mut minor);
        assert_eq!((major, minor), (XLA_SHAPE_ABI_MAJOR, XLA_SHAPE_ABI_MINOR));
        assert_eq!(CStr::from_ptr(xla_shape_library_version()).to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    }
}
