//! Arrays in memory with another owner, filled arrays, slices of run-time arrays; and which of them may be sent to or shared with other threads.

use static_assertions::{assert_impl_all, assert_not_impl_any};
use std::ptr;
use xla_shape::element::{Bf16, F8E4M3Fn, F32, S4, S32};
use xla_shape::{AccessError, Buffer, BufferError, DynBuffer, DynView, DynViewMut, View, ViewMut, shape};

type Tiled = shape!(f32[3,5]{1,0:T(2,4)});
type Rows = shape!(f32[?,4]);
type Empty = shape!(f32[0,4]);

// Buffers and views can be sent to other threads, and be read by several at once.
assert_impl_all!(Buffer<Tiled>: Send, Sync, Clone);
assert_impl_all!(Buffer<Rows>: Send, Sync, Clone);
assert_impl_all!(View<'static, Tiled>: Send, Sync, Copy);
assert_impl_all!(ViewMut<'static, Tiled>: Send, Sync);
assert_impl_all!(DynBuffer: Send, Sync, Clone);
assert_impl_all!(DynView<'static>: Send, Sync, Clone);
assert_impl_all!(DynViewMut<'static>: Send, Sync);
// A view for writing cannot be cloned or copied: only one at a time can write.
assert_not_impl_any!(ViewMut<'static, Tiled>: Clone, Copy);
assert_not_impl_any!(DynViewMut<'static>: Clone, Copy);

#[test]
fn raw_parts_are_the_same_memory() {
    let mut memory = Buffer::<shape!(f32[32])>::zeroed();
    let data = memory.as_bytes_mut().as_mut_ptr();
    let bytes = Tiled::BYTES;
    assert_eq!(bytes, 4 * 8 * 4);
    {
        // SAFETY: the memory has as many bytes, and nothing else uses them during the lifetime of `x`.
        let mut x = unsafe { ViewMut::<Tiled>::from_raw_parts(data, bytes, Tiled::default()) }.unwrap();
        x[[2, 4]] = 1.5;
    }
    {
        // SAFETY: as above.
        let mut x = unsafe { DynViewMut::from_raw_parts(data, bytes, Tiled::SHAPE.clone()) }.unwrap();
        x.set::<F32>(&[0, 0], 2.5).unwrap();
    }
    // SAFETY: as above; nothing writes.
    let x = unsafe { View::<Tiled>::from_raw_parts(data, bytes, Tiled::default()) }.unwrap();
    assert_eq!((x[[2, 4]], x[[0, 0]]), (1.5, 2.5));
    // SAFETY: as above.
    let x = unsafe { DynView::from_raw_parts(data, bytes, Tiled::SHAPE.clone()) }.unwrap();
    assert_eq!(x.get::<F32>(&[2, 4]), Ok(1.5));
    // SAFETY: as above.
    let x = unsafe { View::<Rows>::from_raw_parts(data, 5 * 16, Rows::with_sizes([5, 4]).unwrap()) }.unwrap();
    assert_eq!(x[[0, 0]], 2.5);
}

#[test]
fn pointers_are_checked() {
    let memory = [0_u64; 64];
    let (data, bytes) = (memory.as_ptr().cast::<u8>(), Tiled::BYTES);
    // SAFETY: the memory has as many bytes, one more than `len`; nothing writes them.
    let typed = |data, len| unsafe { View::<Tiled>::from_raw_parts(data, len, Tiled::default()) }.err();
    // SAFETY: as above.
    let dynamic = |data, len| unsafe { DynView::from_raw_parts(data, len, Tiled::SHAPE.clone()) }.err();
    assert_eq!((typed(data, bytes), dynamic(data, bytes)), (None, None));
    assert_eq!(typed(data.wrapping_add(1), bytes), Some(BufferError::Misaligned { alignment: 4 }));
    // Alignment matters only for slices of values, and for arrays whose shape is a type. Run-time arrays need none.
    assert_eq!(dynamic(data.wrapping_add(1), bytes), None);
    let wrong = Some(BufferError::WrongLength { expected: bytes, found: bytes - 4 });
    assert_eq!((typed(data, bytes - 4), dynamic(data, bytes - 4)), (wrong.clone(), wrong));
    assert_eq!(
        (typed(ptr::null(), bytes), dynamic(ptr::null(), bytes)),
        (Some(BufferError::NullPointer), Some(BufferError::NullPointer))
    );
    assert_eq!(
        BufferError::NullPointer.to_string(),
        "expected a pointer to the bytes of an array, found a null pointer"
    );
}

#[test]
fn an_array_without_bytes_has_any_pointer() {
    let odd = ptr::without_provenance::<u8>(3);
    for data in [ptr::null(), odd] {
        // SAFETY: there are no bytes.
        let x = unsafe { View::<Empty>::from_raw_parts(data, 0, Empty::default()) }.unwrap();
        assert_eq!(
            (x.as_slice(), x.get([0, 0])),
            (&[][..], Err(AccessError::OutOfBounds { dimension: 0, index: 0, size: 0 }))
        );
        // SAFETY: there are no bytes.
        let mut x = unsafe { ViewMut::<Empty>::from_raw_parts(data.cast_mut(), 0, Empty::default()) }.unwrap();
        assert!(x.as_mut_slice().is_empty());
        // SAFETY: there are no bytes.
        let x = unsafe { DynView::from_raw_parts(data, 0, Empty::SHAPE.clone()) }.unwrap();
        assert_eq!(x.as_slice::<F32>(), Ok(&[][..]));
        assert!(x.typed::<Empty>().is_ok());
    }
}

#[test]
fn filled_arrays_have_the_value_everywhere_but_in_padding() {
    let x = Buffer::<shape!(s4[3]{0:T(4)E(4)})>::filled(S4::MIN);
    assert_eq!((x.as_bytes(), x.to_row_major()), (&[0x88, 0x08][..], vec![S4::MIN; 3]));
    let one = F8E4M3Fn::from_f32(1.0);
    let x = DynBuffer::filled_with::<F8E4M3Fn>("f8e4m3fn[3]{0:T(4)}".parse().unwrap(), one).unwrap();
    assert_eq!(x.as_bytes(), [0x38, 0x38, 0x38, 0]);
    assert_eq!(x.as_slice::<F8E4M3Fn>().unwrap()[..3], [one; 3]);
    assert!(matches!(DynBuffer::filled_with::<S4>("s8[3]".parse().unwrap(), S4::MIN), Err(BufferError::Access(_))));
}

#[test]
fn slices_of_arrays_at_run_time() {
    let mut x = DynBuffer::zeroed_with("bf16[2,3]".parse().unwrap()).unwrap();
    x.as_mut_slice::<Bf16>().unwrap()[5] = half::bf16::ONE;
    assert_eq!(x.get::<Bf16>(&[1, 2]), Ok(half::bf16::ONE));
    let error = x.as_slice::<F32>().unwrap_err();
    assert_eq!(error.to_string(), "expected elements of f32, found bf16");

    let packed = DynBuffer::zeroed_with("u8[4]{0:E(16)}".parse().unwrap()).unwrap();
    let error = packed.as_slice::<xla_shape::element::U8>().unwrap_err();
    let text = "expected whole, aligned elements to borrow, found u8[4]{0:E(16)}; use `get` and `set`";
    assert_eq!(error.to_string(), text);
    let prefixed = DynBuffer::zeroed_with("s32[2]{0:M(3)}".parse().unwrap()).unwrap();
    assert!(matches!(prefixed.as_slice::<S32>(), Err(BufferError::NotBorrowable(_))));

    let mut values = [1, 2, 3, 4];
    assert!(DynView::from_slice_with::<S32>("s32[2,2]".parse().unwrap(), &values).is_ok());
    let error = DynView::from_slice_with::<S32>("s32[2,3]".parse().unwrap(), &values).err();
    assert_eq!(error, Some(BufferError::WrongLength { expected: 24, found: 16 }));
    assert!(DynView::from_slice_with::<S32>("f32[2,2]".parse().unwrap(), &values).is_err());
    let mut x = DynViewMut::from_slice_with::<S32>("s32[2,2]{0,1}".parse().unwrap(), &mut values).unwrap();
    x.set::<S32>(&[0, 1], 30).unwrap();
    assert_eq!(values, [1, 2, 30, 4]);
}
