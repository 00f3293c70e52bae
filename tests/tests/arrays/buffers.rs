//! Buffers: with any layout and any width of elements, reading returns what was written, and nothing else changes.

use proptest::prelude::*;
use xla_shape::element::{F6E3M2Fn, F32, Pred, S4, S16, S32, Stored, U8};
use xla_shape::types::StaticArray;
use xla_shape::{AccessError, ArrayShape, Buffer, BufferError, DynBuffer, DynView, Slot, View, ViewMut, index, shape};
use xla_shape_tests::wide;

/// Fills a typed and a run-time buffer with the same values, and compares their bytes and elements.
fn typed_and_dynamic_agree<S: StaticArray<Element: Stored>>(value: impl Fn(usize) -> <S::Element as Stored>::Value) {
    let mut number = 0..;
    let mut next = || value(number.next().unwrap());
    let typed = Buffer::<S>::from_fn(|_| next());
    number = 0..;
    let mut next = || value(number.next().unwrap());
    let dynamic = DynBuffer::from_fn_with::<S::Element>(S::SHAPE.clone(), |_| next()).unwrap();
    assert_eq!(typed.as_bytes(), dynamic.as_bytes(), "{}", S::TEXT);
    for (number, (index, found)) in typed.indexed_iter().enumerate() {
        assert_eq!(found, value(number), "{index:?} of {}", S::TEXT);
        assert_eq!(dynamic.get::<S::Element>(index.as_ref()), Ok(found));
    }
    assert_eq!(dynamic.to_row_major::<S::Element>().unwrap(), typed.to_row_major());
    assert_eq!(dynamic.into_typed::<S>().unwrap().as_bytes(), typed.as_bytes());
}

#[test]
fn every_width_of_element() {
    typed_and_dynamic_agree::<shape!(f32[5,7]{1,0:T(2,4)})>(|number| number as f32);
    typed_and_dynamic_agree::<shape!(pred[5,7]{0,1:T(8,128)(4,1)})>(|number| number % 3 == 0);
    typed_and_dynamic_agree::<shape!(pred[5,7]{0,1:E(1)})>(|number| number % 3 == 0);
    typed_and_dynamic_agree::<shape!(bf16[33,130]{1,0:T(8,128)(2,1)})>(|number| half::bf16::from_f32(number as f32));
    typed_and_dynamic_agree::<shape!(s4[33,130]{1,0:T(8,128)(8,1)E(4)})>(|number| S4::from_bits(number as u8));
    typed_and_dynamic_agree::<shape!(s4[9]{0})>(|number| S4::from_bits(number as u8));
    typed_and_dynamic_agree::<shape!(f6e3m2fn[9,5]{0,1:E(6)})>(|number| F6E3M2Fn::from_bits(number as u8));
    typed_and_dynamic_agree::<shape!(s16[3,5]{1,0:E(32)M(16)})>(|number| number as i16 - 7);
    typed_and_dynamic_agree::<shape!(c64[3,5]{0,1:T(4)})>(|number| num_complex::Complex::new(number as f32, -1.0));
    typed_and_dynamic_agree::<shape!(f64[])>(|_| 2.5);
    typed_and_dynamic_agree::<shape!(f64[]{:T(256)})>(|_| 2.5);
    typed_and_dynamic_agree::<shape!(u8[0,5])>(|_| unreachable!("there is no element"));
    typed_and_dynamic_agree::<shape!(u8[2,7,8,3,5]{4,3,2,1,0:T(*,*,2,*,3)L(64)})>(|number| number as u8);
}

#[test]
fn packed_elements_lie_low_bits_first() {
    let buffer = Buffer::<shape!(s4[4]{0:E(4)})>::from_row_major(&[1, 2, -1, 0].map(|n| S4::new(n).unwrap())).unwrap();
    assert_eq!(buffer.as_bytes(), [0x21, 0x0F]);
}

#[test]
fn the_prefix_lies_before_the_elements() {
    let mut buffer = Buffer::<shape!(u8[2]{0:M(3)})>::zeroed();
    buffer.as_bytes_mut().copy_from_slice(&[9, 9, 9, 1, 2]);
    assert_eq!((buffer.at(index![0]), buffer.as_slice()), (1, &[1, 2][..]));
}

#[test]
fn a_prefix_may_leave_elements_unaligned() {
    let mut buffer = Buffer::<shape!(f32[2]{0:M(3)})>::zeroed();
    assert_eq!(buffer.set([1], 1.5), Ok(()));
    assert_eq!((buffer.get([1]), buffer.as_bytes()[7..11].to_vec()), (Ok(1.5), 1.5_f32.to_le_bytes().to_vec()));
    assert_eq!(buffer.into_dyn().get::<F32>(&[1]), Ok(1.5));
}

#[test]
fn padding_stays_as_it_was() {
    type S = shape!(u8[3,3]{1,0:T(2,2)});
    let mut bytes = [0xEE; 16];
    let mut view = ViewMut::<S>::from_slice(&mut bytes).unwrap();
    view.fill_with(|[i, j]| (3 * i + j) as u8);
    for (position, byte) in bytes.into_iter().enumerate() {
        match S::multi_index(position) {
            Slot::Element([i, j]) => assert_eq!(usize::from(byte), 3 * i + j),
            slot => assert_eq!((slot, byte), (Slot::Padding, 0xEE)),
        }
    }
}

#[test]
fn an_index_out_of_bounds_is_the_same_error_of_both() {
    let mut buffer = Buffer::<shape!(f32[2,3])>::zeroed();
    let out_of_bounds = AccessError::OutOfBounds { dimension: 1, index: 3, size: 3 };
    let below = AccessError::OutOfBounds { dimension: 0, index: 2, size: 2 };
    assert_eq!((buffer.get([1, 2]), buffer.get([2, 0]), buffer.get([0, 3])), (Ok(0.0), Err(below), Err(out_of_bounds)));
    assert_eq!(buffer.set([0, 3], 1.0), Err(out_of_bounds));
    assert_eq!(buffer.as_slice(), [0.0; 6]);

    let mut buffer = buffer.into_dyn();
    assert_eq!(buffer.get::<F32>(&[0, 3]), Err(out_of_bounds));
    assert_eq!(buffer.set::<F32>(&[0, 3], 1.0), Err(out_of_bounds));
    assert_eq!(buffer.get::<F32>(&[0]), Err(AccessError::WrongNumDimensions { expected: 2, found: 1 }));
    assert_eq!(buffer.get::<F32>(&[9, 9, 9]), Err(AccessError::WrongNumDimensions { expected: 2, found: 3 }));
    let wrong_type = buffer.get::<S16>(&[0, 0]).unwrap_err();
    assert_eq!(wrong_type.to_string(), "expected elements of s16, found f32");
}

#[test]
#[should_panic(expected = "index [2, 0] is out of bounds for f32[2,3]{1,0}")]
fn indexing_out_of_bounds_panics() {
    let _ = Buffer::<shape!(f32[2,3])>::zeroed()[[2, 0]];
}

#[test]
fn another_shape_is_an_error_that_names_both() {
    let buffer = DynBuffer::zeroed_with("f32[2,3]{0,1}".parse().unwrap()).unwrap();
    let error = buffer.typed::<shape!(f32[2,3])>().unwrap_err();
    assert_eq!(error.to_string(), "expected an array of shape f32[2,3]{1,0}, found f32[2,3]{0,1}");
}

#[test]
fn memory_that_does_not_fit_is_an_error() {
    let array = |text: &str| text.parse::<ArrayShape>().unwrap();
    assert_eq!(
        View::<shape!(f32[2])>::from_bytes(&[0; 7]).err(),
        Some(BufferError::WrongLength { expected: 8, found: 7 })
    );
    // Without elements, nothing can be misaligned.
    assert!(View::<shape!(f32[0,3])>::from_bytes(&[]).unwrap().as_slice().is_empty());
    let words = [0_u64; 2];
    let bytes = View::<shape!(u64[2])>::from_slice(&words).unwrap();
    let misaligned = View::<shape!(f32[2])>::from_bytes(&bytes.as_bytes()[1..9]);
    assert_eq!(misaligned.err(), Some(BufferError::Misaligned { alignment: 4 }));
    assert_eq!(DynBuffer::zeroed_with(array("f32[4]{0:SC(0:1)}")).err(), Some(BufferError::Split));
    assert!(matches!(DynBuffer::zeroed_with(array("f32[?]")).err(), Some(BufferError::StrideTable(_))));
    assert!(matches!(DynBuffer::zeroed_with(array("u8[8]{0:E(4)}")).err(), Some(BufferError::ElementTooNarrow { .. })));
    let huge = DynBuffer::zeroed_with(array("u8[9223372036854775807]"));
    assert_eq!(huge.err(), Some(BufferError::OutOfMemory { bytes: usize::MAX / 2 }));
    assert_eq!(
        Buffer::<shape!(u8[2])>::from_row_major(&[1]).err(),
        Some(BufferError::WrongNumberOfElements { expected: 2, found: 1 })
    );
    // A byte that is neither 0 nor 1 may be read as a truth value.
    let truth = DynView::from_parts(array("pred[2]"), &[0, 7][..]).unwrap();
    assert_eq!(truth.to_row_major::<Pred>(), Ok(vec![false, true]));
    let typed = truth.typed::<shape!(pred[2])>().unwrap();
    assert_eq!(typed.to_row_major(), [false, true]);
}

#[test]
fn bounded_dimensions_are_laid_out_by_their_bound() {
    let mut buffer = DynBuffer::zeroed_with("s32[<=3,2]{1,0}".parse().unwrap()).unwrap();
    buffer.set::<S32>(&[2, 1], 5).unwrap();
    assert_eq!(buffer.as_bytes()[20..], [5, 0, 0, 0]);
}

proptest! {
    /// Writing one element changes that element and no other.
    #[test]
    fn a_write_changes_one_element(shape in xla_shape_tests::strategy::small_array_shape(), seed: u64) {
        let shape = retyped(&shape);
        prop_assume!(shape.elements() > Some(0));
        let Ok(mut buffer) = DynBuffer::zeroed_with(shape) else { return Ok(()) };
        buffer.as_bytes_mut().fill(0xFF);
        let before = buffer.to_row_major::<U8>().unwrap();
        let written = seed as usize % before.len();
        let mut index = vec![0; buffer.stride_table().as_ref().extents().len()];
        let mut rest = written as u64;
        for (entry, size) in index.iter_mut().zip(buffer.stride_table().as_ref().extents()).rev() {
            *entry = (rest % size) as usize;
            rest /= size;
        }
        buffer.set::<U8>(&index, 0x5A).unwrap();
        let after = buffer.to_row_major::<U8>().unwrap();
        for (number, (before, after)) in before.into_iter().zip(after).enumerate() {
            prop_assert_eq!(after, if number == written { 0x5A } else { before });
        }
    }
}

/// The same dimensions, order and tiles, with elements of type u8 and no other attributes.
fn retyped(shape: &ArrayShape) -> ArrayShape {
    let layout = xla_shape::Layout::new(shape.layout().minor_to_major()).unwrap();
    let layout = layout.with_tiles(shape.layout().tiles()).unwrap();
    ArrayShape::new(xla_shape::ElementType::U8, shape.dimensions(), layout).unwrap()
}

#[test]
fn buffers_may_cross_threads() {
    let buffer = Buffer::<shape!(bf16[8,128])>::zeroed();
    let sum = std::thread::scope(|scope| {
        scope.spawn(|| buffer.view().indexed_iter().map(|(_, value)| value.to_f32()).sum::<f32>()).join().unwrap()
    });
    assert_eq!(sum, 0.0);
}

#[test]
fn positions_of_indices_out_of_bounds_overflow_nothing() {
    fn check<S: StaticArray<Index = [usize; 3]>>() {
        let table = S::SHAPE.stride_table().unwrap();
        for index in [[usize::MAX; 3], [usize::MAX, 0, 0], [1 << 62, 1 << 63, 3], [0, 0, usize::MAX]] {
            // The position is unspecified, but every way to compute it gives the same number.
            let position = S::linear_index(index);
            assert_eq!(S::default().linear_index_of(index), position);
            let (index, position) = (wide(&index), position as u64);
            assert_eq!(table.as_ref().linear_index(&index), position);
            let _ = table.as_ref().canonical().unwrap().checked_linear_index(&index);
            assert_eq!(table.as_ref().checked_linear_index(&index), None);
        }
    }
    check::<shape!(s32[4,5,6]{2,1,0})>();
    check::<shape!(s32[4,5,6]{2,1,0:T(*,*,7)(3)})>();
    check::<shape!(s32[4,5,6]{0,2,1:T(*,2)(*,3)(5)})>();
}

/// The text that `main` prints for an error that it returns.
#[test]
fn debug_of_an_error_with_shapes_is_its_text() {
    let x = DynBuffer::zeroed_with("f32[2,3]".parse().unwrap()).unwrap();
    let error = x.into_typed::<shape!(f32[2,4])>().unwrap_err();
    assert_eq!(format!("{error:?}"), "expected an array of shape f32[2,4]{1,0}, found f32[2,3]{1,0}");
    assert_eq!(format!("{error:?}"), error.to_string());
}
