//! Calls with handmade call frames: errors that cannot be provoked through JAX.

use crate::InPlace;
use crate::abi::{self, CallFrame, XlaError};
use crate::{Kernel, Role};
use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use xla_shape::{DynView, View, ViewMut, shape};

mod memory;
#[cfg(feature = "threads")]
mod threads;

crate::kernel! {
    fn double(x: View<'_, shape!(f32[2,3])>, mut y: ViewMut<'_, shape!(f32[2,3]{0,1})>, factor: f32) -> Result<(), crate::Error> {
        if factor == 0.0 {
            return Err(crate::Error::new(crate::ErrorCode::OutOfRange, "expected a factor, found 0"));
        }
        y.fill_with(|index| factor * x[index]);
        Ok(())
    }

    fn panics(_x: DynView<'_>) {
        panic!("with {}", 3);
    }

    fn sum_of_any(x: DynView<'_>, mut sum: ViewMut<'_, shape!(f32[])>) -> Result<(), xla_shape::BufferError> {
        sum[[]] = x.to_row_major::<xla_shape::element::F32>()?.iter().sum();
        Ok(())
    }

    fn rows(x: View<'_, shape!(s32[?,2])>, _same: View<'_, shape!(s32[?,2])>, mut y: ViewMut<'_, shape!(s32[?,2])>) {
        y.fill_with(|index| x[index]);
    }

    fn bounded(_x: View<'_, shape!(s32[<=4])>) {}

    #[inline(never)]
    #[expect(clippy::unnecessary_wraps, reason = "to say that attributes are the function's")]
    pub(crate) fn nothing() -> Result<(), std::fmt::Error> {
        Ok(())
    }

    fn parses(r#type: &str) -> Result<(), std::num::ParseIntError> {
        r#type.parse::<i32>()?;
        Ok(())
    }

    fn throws() {
        std::panic::panic_any(Bomb);
    }

    /// The rows of `x`,
    /// times a factor.
    fn scaled(
        x: View<'_, shape!(f32[b,d])>,
        gain: View<'_, shape!(f32[d])>,
        mut y: ViewMut<'_, shape!(f32[b,d])>,
        factor: f32 = 2.0,
        shift: Option<f32>,
        words: Vec<f64> = vec![f64::INFINITY],
        mode: &str = "sum",
    )
    where batch(b), multiversion
    {
        assert!(words == [f64::INFINITY] && mode == "sum");
        let [_, d] = x.sizes();
        for (i, (x, y)) in x.as_slice().iter().zip(y.as_mut_slice()).enumerate() {
            *y = x * gain.as_slice()[i % d] * factor + shift.unwrap_or(0.0);
        }
    }

    fn square(_x: View<'_, shape!(f32[n,n])>) {}

    fn longer(xs: Vec<View<'_, shape!(f32[n])>>, y: View<'_, shape!(f32[n])>, mut z: ViewMut<'_, shape!(f32[n])>, b: f32, a: f32) {
        z.fill_with(|index| a * y[index] + b * xs.iter().map(|x| x[index]).sum::<f32>());
    }

    fn only_listed(_xs: Vec<View<'_, shape!(f32[n])>>) {}

    fn negated(mut x: InPlace<'_, shape!(f32[n])>) {
        x.apply(|x| -x);
    }

    fn total(first: View<'_, shape!(f32[n])>, rest: Vec<View<'_, shape!(f32[n])>>, last: View<'_, shape!(f32[n])>, mut y: ViewMut<'_, shape!(f32[n])>) {
        y.fill_with(|index| first[index] + 10.0 * rest.iter().map(|x| x[index]).sum::<f32>() + 100.0 * last[index]);
    }
}

/// Panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        // The payload is never dropped, so it must not own memory, which leak sanitizers would report.
        std::panic::resume_unwind(Box::new(()));
    }
}

thread_local! {
    static RAISED: RefCell<Option<(c_int, String)>> = const { RefCell::new(None) };
}

unsafe extern "C" fn create(arguments: *mut abi::ErrorCreateArgs) -> *mut XlaError {
    // SAFETY: `raise` calls it, with a reference to its arguments.
    let arguments = unsafe { &*arguments };
    // SAFETY: `raise` ends the message with 0.
    let message = unsafe { CStr::from_ptr(arguments.message) };
    RAISED.set(Some((arguments.code, message.to_str().unwrap().to_owned())));
    ptr::dangling_mut()
}

/// An operand or a result.
struct Array<'a> {
    element_type: c_int,
    sizes: Vec<i64>,
    data: *mut c_void,
    borrows: PhantomData<&'a mut ()>,
}

impl<'a> Array<'a> {
    /// An array at an address that nothing keeps alive.
    fn at(element_type: c_int, sizes: &[i64], data: *mut c_void) -> Self {
        Self { element_type, sizes: sizes.to_vec(), data, borrows: PhantomData }
    }

    fn new<T>(element_type: c_int, sizes: &[i64], data: &'a mut [T]) -> Self {
        Self::at(element_type, sizes, data.as_mut_ptr().cast())
    }
}

const F32: c_int = 11;
const S32: c_int = 4;
const INVALID_ARGUMENT: c_int = 3;

/// Calls a kernel with a frame that `change` may modify; an error has the code and the message that were raised.
fn call_with<K: Kernel>(
    operands: &[Array<'_>],
    results: &[Array<'_>],
    factors: &[(&str, f32)],
    change: impl FnOnce(&mut CallFrame),
) -> Result<(), (c_int, String)> {
    let buffers = |arrays: &[Array<'_>]| -> Vec<abi::Buffer> {
        arrays
            .iter()
            .map(|array| abi::Buffer {
                struct_size: abi::Buffer::SIZE,
                extensions: ptr::null_mut(),
                element_type: array.element_type,
                data: array.data,
                rank: array.sizes.len() as i64,
                dimensions: array.sizes.as_ptr(),
            })
            .collect()
    };
    let (mut operands, mut results) = (buffers(operands), buffers(results));
    let kinds = [abi::BUFFER; 8];
    let pointers = |buffers: &mut [abi::Buffer]| -> Vec<*mut c_void> {
        buffers.iter_mut().map(|buffer| ptr::from_mut(buffer).cast()).collect()
    };
    let (operands, results) = (pointers(&mut operands), pointers(&mut results));
    let names: Vec<_> =
        factors.iter().map(|(name, _)| abi::ByteSpan { data: name.as_ptr(), len: name.len() }).collect();
    let name_pointers: Vec<_> = names.iter().map(ptr::from_ref).collect();
    let scalars: Vec<_> = factors
        .iter()
        .map(|(_, value)| abi::ScalarAttribute { element_type: F32, value: ptr::from_ref(value).cast() })
        .collect();
    let value_pointers: Vec<*const c_void> = scalars.iter().map(|scalar| ptr::from_ref(scalar).cast()).collect();
    let scalar_kinds = [abi::attribute_kind::SCALAR; 8];
    let api = abi::Api::for_tests(create);
    let of = |values: &[*mut c_void]| abi::Buffers {
        struct_size: abi::Buffers::SIZE,
        extensions: ptr::null_mut(),
        size: values.len() as i64,
        kinds: kinds.as_ptr(),
        values: values.as_ptr(),
    };
    let mut frame = CallFrame {
        struct_size: CallFrame::SIZE,
        extensions: ptr::null_mut(),
        api: &api,
        context: ptr::null_mut(),
        stage: abi::EXECUTE,
        operands: of(&operands),
        results: of(&results),
        attributes: abi::Attributes {
            struct_size: abi::Attributes::SIZE,
            extensions: ptr::null_mut(),
            size: factors.len() as i64,
            kinds: scalar_kinds.as_ptr(),
            names: name_pointers.as_ptr(),
            values: value_pointers.as_ptr(),
        },
    };
    change(&mut frame);
    // SAFETY: the frame and all that it points to live until the end of this function, and its sizes, kinds and lengths are right.
    // `change` replaces only struct sizes, which are compared with the least size, kinds, and pointers by other valid ones.
    let error = unsafe { K::HANDLER(&mut frame) };
    if error.is_null() { Ok(()) } else { Err(RAISED.take().unwrap()) }
}

fn call<K: Kernel>(
    operands: &[Array<'_>],
    results: &[Array<'_>],
    factors: &[(&str, f32)],
) -> Result<(), (c_int, String)> {
    call_with::<K>(operands, results, factors, |_| {})
}

fn invalid(message: &str) -> Result<(), (c_int, String)> {
    Err((INVALID_ARGUMENT, message.to_owned()))
}

#[test]
fn a_call_that_fits_runs() {
    let (mut x, mut y) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0_f32; 6]);
    let (operand, result) = (Array::new(F32, &[2, 3], &mut x), Array::new(F32, &[2, 3], &mut y));
    assert_eq!(call::<double>(&[operand], &[result], &[("factor", 2.0)]), Ok(()));
    assert_eq!(y, [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
}

#[test]
fn what_a_kernel_says_arrives() {
    let (mut x, mut y) = ([0.0_f32; 6], [0.0_f32; 6]);
    let (operand, result) = (Array::new(F32, &[2, 3], &mut x), Array::new(F32, &[2, 3], &mut y));
    let error = call::<double>(&[operand], &[result], &[("factor", 0.0)]);
    assert_eq!(error, Err((11, "expected a factor, found 0 (in double)".to_owned())));
}

#[test]
fn a_panic_is_an_internal_error() {
    let mut x = [0.0_f32; 2];
    let operand = Array::new(F32, &[2], &mut x);
    assert_eq!(call::<panics>(&[operand], &[], &[]), Err((13, "the kernel panicked: with 3 (in panics)".to_owned())));
}

#[test]
fn a_panic_that_panics_is_an_internal_error() {
    assert_eq!(
        call::<throws>(&[], &[], &[]),
        Err((13, "the kernel panicked: without a message (in throws)".to_owned()))
    );
}

#[test]
fn kernels_may_take_nothing_and_return_errors_of_their_own() {
    assert_eq!(call::<nothing>(&[], &[], &[]), Ok(()));
    assert_eq!(parses::signature()[0].0, "type");
    assert_eq!(
        call::<parses>(&[], &[], &[("type", 1.0)]),
        invalid("parses: attribute 'type': this kernel takes a text, the call has a number of type f32")
    );
    assert_eq!(crate::Outcome::into_result(parses("x")).unwrap_err().code(), crate::ErrorCode::Internal);
}

#[test]
fn names_of_kernels_are_compared_whole() {
    assert!(crate::kernel::are_distinct(&["a", "ab", "b", ""]));
    assert!(!crate::kernel::are_distinct(&["a", "b", "ab", "b"]));
}

#[test]
fn wrong_arrays_are_refused_by_name() {
    let operand = |element_type: c_int, sizes: &[i64]| {
        let (mut x, mut y) = ([0.0_f32; 6], [0.0_f32; 6]);
        let (operand, result) = (Array::new(element_type, sizes, &mut x), Array::new(F32, &[2, 3], &mut y));
        call::<double>(&[operand], &[result], &[("factor", 1.0)])
    };
    let takes = "double: operand 0 (x): this kernel takes f32[2,3], the call has";
    assert_eq!(operand(F32, &[3, 2]), invalid(&format!("{takes} f32[3,2]")));
    assert_eq!(operand(F32, &[2, 3, 1]), invalid(&format!("{takes} f32[2,3,1]")));
    assert_eq!(operand(F32, &[]), invalid(&format!("{takes} f32[]")));
    assert_eq!(operand(S32, &[2, 3]), invalid(&format!("{takes} s32[2,3]")));
    assert_eq!(
        operand(F32, &[2, -3]),
        invalid("double: operand 0 (x): expected sizes of at least 0, found a negative one")
    );
    assert_eq!(operand(17, &[]), invalid("double: operand 0 (x): expected an array, found elements of type 17"));
    assert_eq!(operand(999, &[2, 3]), invalid("double: operand 0 (x): expected an array, found elements of type 999"));
}

#[test]
fn the_same_run_time_size_is_not_asked_of_two_operands() {
    let (mut x, mut same, mut y) = ([1_i32, 2, 3, 4], [0_i32; 2], [0_i32; 4]);
    let operands = [Array::new(S32, &[2, 2], &mut x), Array::new(S32, &[1, 2], &mut same)];
    assert_eq!(call::<rows>(&operands, &[Array::new(S32, &[2, 2], &mut y)], &[]), Ok(()));
    assert_eq!(y, x);
    let huge = [Array::new(S32, &[i64::MAX, 2], &mut x), Array::new(S32, &[1, 2], &mut same)];
    let error = call::<rows>(&huge, &[Array::new(S32, &[2, 2], &mut y)], &[]).unwrap_err().1;
    assert_eq!(error, "rows: operand 0 (x): this kernel takes s32[?,2], the call has s32[9223372036854775807,2]");
}

#[test]
fn no_call_has_a_bound() {
    let error = call::<bounded>(&[Array::new(S32, &[3], &mut [0_i32; 4])], &[], &[]).unwrap_err().1;
    assert!(
        error.starts_with("bounded: operand 0 (_x): this kernel takes s32[<=4]{0}: a custom call carries the sizes"),
        "{error}"
    );
}

#[test]
fn memory_must_be_there_aligned_and_apart() {
    let (mut x, mut y) = ([0.0_f32; 8], [0.0_f32; 6]);
    let at = |data: *mut c_void| Array::at(F32, &[2, 3], data);
    let start: *mut c_void = x.as_mut_ptr().cast();
    let factor = [("factor", 1.0)];
    let null = call::<double>(&[at(ptr::null_mut())], &[Array::new(F32, &[2, 3], &mut y)], &factor);
    assert_eq!(null, invalid("double: operand 0 (x): expected 24 bytes, found a null pointer"));
    let misaligned = call::<double>(&[at(start.wrapping_byte_add(1))], &[Array::new(F32, &[2, 3], &mut y)], &factor);
    let expected = "double: operand 0 (x): f32[2,3]: the memory must begin at a multiple of 4 bytes";
    assert_eq!(misaligned, invalid(expected));
    for moved in [0, 4, 8] {
        let aliased = call::<double>(&[at(start)], &[at(start.wrapping_byte_add(moved))], &factor);
        assert_eq!(
            aliased,
            invalid("double: result 0 (y): expected separate memory, found memory that overlaps with operand 0 (x)")
        );
    }
}

#[test]
fn operands_may_share_memory_and_empty_arrays_need_none() {
    let (mut x, mut y) = ([1_i32, 2], [0_i32; 2]);
    let x: *mut c_void = x.as_mut_ptr().cast();
    let operands = [x, x].map(|data| Array::at(S32, &[1, 2], data));
    assert_eq!(call::<rows>(&operands, &[Array::new(S32, &[1, 2], &mut y)], &[]), Ok(()));
    let empty = || Array::at(S32, &[0, 2], ptr::null_mut());
    assert_eq!(call::<rows>(&[empty(), empty()], &[empty()], &[]), Ok(()));
}

#[test]
fn arrays_of_any_shape_need_no_alignment_and_may_be_empty() {
    let mut sum = [0.0_f32];
    let mut bytes = [0_u8; 12];
    let start: *mut c_void = bytes.as_mut_ptr().cast();
    for moved in 0..4 {
        let values = [1.0_f32, 2.0].map(f32::to_le_bytes);
        // SAFETY: `moved` is at most 3, so these are 8 of the 12 bytes of `bytes`; `[[u8; 4]; 2]` needs no alignment.
        unsafe { start.wrapping_byte_add(moved).cast::<[[u8; 4]; 2]>().write(values) };
        let operand = Array::at(F32, &[2], start.wrapping_byte_add(moved));
        assert_eq!(call::<sum_of_any>(&[operand], &[Array::new(F32, &[], &mut sum)], &[]), Ok(()));
        assert_eq!(sum, [3.0]);
    }
    let empty = Array::at(F32, &[3, 0], ptr::null_mut());
    assert_eq!(call::<sum_of_any>(&[empty], &[Array::new(F32, &[], &mut sum)], &[]), Ok(()));
    assert_eq!(sum, [0.0]);
}

#[test]
fn what_no_call_carries_has_a_reason() {
    for (text, reason) in [
        ("f32[8,128]{1,0:T(8,128)}", "carries no tiled layouts"),
        ("f32[8]{0:S(1)}", "has one memory space only"),
        ("f32[8]{0:SC(0:4)}", "carries no split arrays"),
        ("f32[8]{0:M(8)}", "carries no arrays with a prefix"),
        ("f32[8]{0:L(128)}", "carries no padding"),
        ("f32[<=8]", "not their bounds: take `?`"),
        ("s4[8]", "carries elements of 4 bits: write E(4)"),
        ("s2[8]{0:E(4)}", "carries elements of 2 bits: write E(2)"),
    ] {
        let obstacle = crate::obstacle(&text.parse().unwrap());
        assert!(obstacle.as_ref().is_some_and(|obstacle| obstacle.contains(reason)), "{text}: {obstacle:?}");
    }
    for text in ["f32[]", "f32[2,3]{0,1}", "f32[?,3]", "s4[8]{0:E(4)}", "pred[8]", "c128[1,0]"] {
        assert_eq!(crate::obstacle(&text.parse().unwrap()), None, "{text}");
    }
}

#[test]
fn attributes_are_compared_by_name() {
    let (mut x, mut y) = ([0.0_f32; 6], [0.0_f32; 6]);
    let mut with = |factors: &[(&str, f32)]| {
        let (operand, result) = (Array::new(F32, &[2, 3], &mut x), Array::new(F32, &[2, 3], &mut y));
        call::<double>(&[operand], &[result], factors)
    };
    assert_eq!(
        with(&[]),
        invalid("double: attribute 'factor': this kernel takes a number of type f32, the call has none")
    );
    assert_eq!(
        with(&[("factor", 1.0), ("fun", 1.0)]),
        invalid("double: attribute 'fun': this kernel has no attribute of this name; it has factor")
    );
}

#[test]
fn names_are_the_same_size_everywhere() {
    let (mut x, mut gain, mut y) = ([1.0_f32; 6], [3.0_f32; 3], [0.0_f32; 6]);
    let mut scale = |x_sizes: &[i64], gain_sizes: &[i64], y_sizes: &[i64]| {
        let operands = [Array::new(F32, x_sizes, &mut x), Array::new(F32, gain_sizes, &mut gain)];
        call::<scaled>(&operands, &[Array::new(F32, y_sizes, &mut y)], &[("shift", 1.0)])
    };
    assert_eq!(scale(&[2, 3], &[3], &[2, 3]), Ok(()));
    assert_eq!(
        scale(&[2, 3], &[2], &[2, 3]),
        invalid(
            "scaled: operand 1 (gain): this kernel takes f32[d] with d = 3 as in operand 0 (x), the call has f32[2]"
        )
    );
    assert_eq!(
        scale(&[2, 3], &[3], &[1, 3]),
        invalid(
            "scaled: result 0 (y): this kernel takes f32[b,d] with b = 2 as in operand 0 (x), the call has f32[1,3]"
        )
    );
    assert_eq!(y, [7.0; 6]);
    let error = call::<square>(&[Array::new(F32, &[2, 3], &mut x)], &[], &[]);
    assert_eq!(
        error,
        invalid(
            "square: operand 0 (_x): this kernel takes f32[n,n] with n = 2 as in operand 0 (_x), the call has f32[2,3]"
        )
    );
    assert_eq!(call::<square>(&[Array::new(F32, &[2, 2], &mut x)], &[], &[]), Ok(()));
    let error = call::<square>(&[Array::new(F32, &[2], &mut x)], &[], &[]);
    assert_eq!(error, invalid("square: operand 0 (_x): this kernel takes f32[n,n], the call has f32[2]"));
}

#[test]
fn attributes_may_be_left_out() {
    let (mut x, mut gain, mut y) = ([1.0_f32; 6], [3.0_f32; 3], [0.0_f32; 6]);
    for (attributes, expected) in [
        (&[][..], 6.0),
        (&[("factor", 4.0)], 12.0),
        (&[("shift", 1.0)], 7.0),
        (&[("factor", 0.0), ("shift", 0.5)], 0.5),
    ] {
        let operands = [Array::new(F32, &[2, 3], &mut x), Array::new(F32, &[3], &mut gain)];
        assert_eq!(call::<scaled>(&operands, &[Array::new(F32, &[2, 3], &mut y)], attributes), Ok(()));
        assert_eq!(y, [expected; 6]);
    }
    let json = crate::kernel::signature::<scaled>("package");
    let of = |number: usize, key: &str| json["parameters"][number][key].clone();
    assert_eq!((of(3, "optional"), of(3, "default")), (true.into(), 2.0.into()));
    assert_eq!((of(4, "optional"), of(4, "default")), (true.into(), serde_json::Value::Null));
    assert_eq!((of(5, "default"), of(6, "default")), (serde_json::json!(["inf"]), "sum".into()));
    assert_eq!(
        (&json["doc"], &json["batch"]),
        (&"The rows of `x`,\ntimes a factor.".into(), &serde_json::json!(["b"]))
    );
    assert_eq!(json["parameters"][0]["wants"]["shape"], "f32[b,d]{1,0}");
    assert_eq!(json["parameters"][0]["wants"]["names"], serde_json::json!(["b", "d"]));
}

#[test]
fn an_array_in_place_is_an_operand_and_a_result() {
    let (mut x, mut y) = ([1.0_f32, 2.0], [0.0_f32; 2]);
    let mut data: *mut c_void = x.as_mut_ptr().cast();
    let at = |data: *mut c_void, sizes: &[i64]| Array::at(F32, sizes, data);
    assert_eq!(call::<negated>(&[at(data, &[2])], &[at(data, &[2])], &[]), Ok(()));
    assert_eq!(x, [-1.0, -2.0]);
    // A call that does not declare the alias: the operand keeps its values.
    data = x.as_mut_ptr().cast();
    assert_eq!(call::<negated>(&[at(data, &[2])], &[Array::new(F32, &[2], &mut y)], &[]), Ok(()));
    assert_eq!((x, y), ([-1.0, -2.0], [1.0, 2.0]));
    let other = call::<negated>(&[at(data, &[2])], &[Array::new(F32, &[1], &mut y)], &[]);
    let expected = "negated: result 0 (x): this kernel takes f32[2], the call has f32[1]";
    assert_eq!(other, invalid(expected));
    data = x.as_mut_ptr().cast();
    let overlapping = call::<negated>(&[at(data, &[1])], &[at(data.wrapping_byte_add(2), &[1])], &[]);
    assert_eq!(
        overlapping,
        invalid("negated: result 0 (x): expected separate memory, found memory that overlaps with operand 0 (x)")
    );
    let none = call::<negated>(&[at(data, &[2])], &[], &[]);
    assert_eq!(none, invalid("negated: this kernel takes 1 result (x), the call has 0"));
    assert_eq!(call::<negated>(&[at(ptr::null_mut(), &[0])], &[at(ptr::null_mut(), &[0])], &[]), Ok(()));
}

#[test]
fn any_number_of_operands_stands_between_others() {
    let mut arrays: [[f32; 1]; 5] = [[1.0], [2.0], [3.0], [4.0], [5.0]];
    let mut sum = |count: usize, size: i64| {
        let mut y = [0.0_f32];
        let operands: Vec<_> = arrays[..count].iter_mut().map(|x| Array::new(F32, &[size], x)).collect();
        call::<total>(&operands, &[Array::new(F32, &[1], &mut y)], &[]).map(|()| y[0])
    };
    assert_eq!(sum(2, 1), Ok(201.0));
    assert_eq!(sum(3, 1), Ok(1.0 + 20.0 + 300.0));
    assert_eq!(sum(5, 1), Ok(1.0 + 90.0 + 500.0));
    let error = sum(1, 1).unwrap_err().1;
    assert_eq!(error, "total: this kernel takes at least 2 operands (first, *rest, last), the call has 1");
    assert!(total::signature()[1].1.is_variadic);
}

fn first_operand(frame: &mut CallFrame) -> &mut abi::Buffer {
    // SAFETY: `call_with` has made the frame, and the caller has passed at least one operand.
    let operand = unsafe { *frame.operands.values };
    // SAFETY: `values` points to the `abi::Buffer`s of `call_with`, which are not used otherwise while it calls `change`.
    unsafe { &mut *operand.cast() }
}

#[test]
fn older_structs_are_refused_and_newer_ones_read() {
    let (mut x, mut y) = ([0.0_f32; 6], [0.0_f32; 6]);
    let mut with = |change: &dyn Fn(&mut CallFrame)| {
        let (operand, result) = (Array::new(F32, &[2, 3], &mut x), Array::new(F32, &[2, 3], &mut y));
        call_with::<double>(&[operand], &[result], &[("factor", 1.0)], change)
    };
    assert_eq!(with(&|frame| frame.struct_size += 64), Ok(()));
    assert_eq!(with(&|frame| frame.operands.struct_size += 8), Ok(()));
    type Change = fn(&mut CallFrame);
    let older: [(&str, Change); 4] = [
        ("XLA_FFI_CallFrame of at least 168 bytes, found 167", |frame| frame.struct_size -= 1),
        ("XLA_FFI_Args of at least 40 bytes, found 39", |frame| frame.operands.struct_size -= 1),
        ("XLA_FFI_Rets of at least 40 bytes, found 39", |frame| frame.results.struct_size -= 1),
        ("XLA_FFI_Attrs of at least 48 bytes, found 47", |frame| frame.attributes.struct_size -= 1),
    ];
    for (what, change) in older {
        assert_eq!(with(&change), invalid(&format!("expected {what}: this XLA is too old")));
    }
    assert_eq!(with(&|frame| first_operand(frame).struct_size += 8), Ok(()));
    assert_eq!(
        with(&|frame| first_operand(frame).struct_size -= 1),
        invalid("double: operand 0 (x): expected XLA_FFI_Buffer of at least 48 bytes, found 47: this XLA is too old")
    );
}

#[test]
fn what_is_unknown_here_is_refused() {
    let (mut x, mut y) = ([0.0_f32; 6], [0.0_f32; 6]);
    let mut with = |change: &dyn Fn(&mut CallFrame)| {
        let (operand, result) = (Array::new(F32, &[2, 3], &mut x), Array::new(F32, &[2, 3], &mut y));
        call_with::<double>(&[operand], &[result], &[("factor", 1.0)], change)
    };
    for stage in [0, 1, 2, 4] {
        let expected = invalid("expected the execute stage, found another one");
        assert_eq!(with(&|frame| frame.stage = stage), expected);
    }
    static KINDS: [c_int; 1] = [9];
    let expected = "double: operand 0 (x): expected a buffer, found a value of kind 9";
    assert_eq!(with(&|frame| frame.operands.kinds = KINDS.as_ptr()), invalid(expected));
    let expected = "double: result 0 (y): expected a buffer, found a value of kind 9";
    assert_eq!(with(&|frame| frame.results.kinds = KINDS.as_ptr()), invalid(expected));
    let expected = "double: attribute 'factor': this kernel takes a number of type f32, the call has an attribute of an unknown kind (9)";
    assert_eq!(with(&|frame| frame.attributes.kinds = KINDS.as_ptr()), invalid(expected));
}

/// The metadata that a handler fills in, for structs that are larger than ours by these numbers of bytes (or smaller).
fn metadata(more: isize, more_of_extension: isize) -> Result<(c_int, c_int, u32), (c_int, String)> {
    let mut metadata = abi::Metadata {
        struct_size: abi::Metadata::SIZE.wrapping_add_signed(more),
        api_version: abi::ApiVersion { struct_size: 0, extensions: ptr::null_mut(), major: -1, minor: -1 },
        traits: 77,
    };
    let mut query = abi::MetadataExtension {
        base: abi::Extension {
            struct_size: abi::MetadataExtension::SIZE.wrapping_add_signed(more_of_extension),
            kind: abi::METADATA_EXTENSION,
            next: ptr::null_mut(),
        },
        metadata: &mut metadata,
    };
    let mut unknown = abi::Extension { struct_size: 100, kind: 99, next: ptr::from_mut(&mut query).cast() };
    call_with::<double>(&[], &[], &[], |frame| {
        frame.extensions = &mut unknown;
        // A metadata query uses nothing else of the frame.
        frame.struct_size = 16;
    })?;
    Ok((metadata.api_version.major, metadata.api_version.minor, metadata.traits))
}

#[test]
fn the_metadata_query_is_answered_behind_unknown_extensions() {
    for (more, more_of_extension) in [(0, 0), (8, 0), (0, 8)] {
        assert_eq!(metadata(more, more_of_extension), Ok((abi::API_MAJOR, abi::API_MINOR, 0)));
    }
    let older = |what: &str| Err((INVALID_ARGUMENT, format!("expected {what}: this XLA is too old")));
    assert_eq!(metadata(-1, 0), older("XLA_FFI_Metadata of at least 36 bytes, found 35"));
    assert_eq!(metadata(0, -1), older("XLA_FFI_Metadata_Extension of at least 32 bytes, found 31"));
}

#[test]
fn signatures_say_what_a_call_must_bring() {
    let roles: Vec<_> = double::signature().into_iter().map(|(name, parameter)| (name, parameter.role)).collect();
    assert_eq!(roles, [("x", Role::Operand), ("y", Role::Result), ("factor", Role::Attribute)]);
    let json = crate::kernel::signature::<double>("package");
    assert_eq!(json["parameters"][1]["wants"]["minor_to_major"], serde_json::json!([0, 1]));
    assert_eq!(json["parameters"][2]["wants"]["scalar"], "f32");
    let bounded = crate::kernel::signature::<bounded>("package");
    let obstacle = bounded["parameters"][0]["wants"]["obstacle"].as_str().unwrap().to_owned();
    assert!(obstacle.contains("take `?`"), "{obstacle}");
}

#[test]
fn a_name_of_a_size_means_the_same_in_a_list_of_operands_and_behind_it() {
    let (mut x, mut y, mut z) = ([1.0_f32, 2.0], [3.0_f32, 4.0], [0.0_f32; 2]);
    let factors = [("a", 10.0), ("b", 1.0)];
    assert_eq!(call::<longer>(&[Array::new(F32, &[2], &mut y)], &[Array::new(F32, &[2], &mut z)], &factors), Ok(()));
    assert_eq!(z, [30.0, 40.0]);
    // Attributes may have any order.
    let reversed = [("b", 1.0), ("a", 10.0)];
    let both = [Array::new(F32, &[2], &mut x), Array::new(F32, &[2], &mut y)];
    assert_eq!(call::<longer>(&both, &[Array::new(F32, &[2], &mut z)], &reversed), Ok(()));
    assert_eq!(z, [31.0, 42.0]);
    let mut refused = |operands: &[Array<'_>], size: i64, attributes: &[(&str, f32)], text: &str| {
        let result = Array::new(F32, &[size], &mut z);
        assert_eq!(call::<longer>(operands, &[result], attributes), invalid(text));
    };
    refused(
        &both,
        1,
        &factors,
        "longer: result 0 (z): this kernel takes f32[n] with n = 2 as in operand 1 (y), the call has f32[1]",
    );
    refused(
        &both,
        2,
        &[("a", 1.0), ("c", 1.0)],
        "longer: attribute 'c': this kernel has no attribute of this name; it has b, a",
    );
    refused(
        &both,
        2,
        &[("b", 1.0)],
        "longer: attribute 'a': this kernel takes a number of type f32, the call has none",
    );
    refused(&[], 2, &factors, "longer: this kernel takes at least 1 operand (*xs, y), the call has 0");
    assert_eq!(
        call::<only_listed>(&both, &[], &factors),
        invalid("only_listed: attribute 'a': this kernel has no attributes")
    );
    refused(
        &[Array::new(F32, &[1], &mut x), Array::new(F32, &[2], &mut y)],
        2,
        &factors,
        "longer: operand 0 (xs): this kernel takes f32[n] with n = 2 as in operand 1 (y), the call has f32[1]",
    );
    assert_eq!(
        call::<only_listed>(&[Array::new(F32, &[2], &mut x), Array::new(F32, &[1], &mut y)], &[], &[]),
        invalid(
            "only_listed: operand 1 (_xs): this kernel takes f32[n] with n = 2 as in operand 0 (_xs), the call has f32[1]"
        )
    );
    assert_eq!(call::<only_listed>(&[], &[], &[]), Ok(()));
}
