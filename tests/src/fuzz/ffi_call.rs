//! Calls through XLA's FFI: with any operands, results and attributes, in guarded memory.

use super::frame::{Argument, Call, SIZES, Value};
use super::guard::{Guarded, Side};
use arbitrary::{Arbitrary, Unstructured};
use std::ffi::c_int;
use xla_shape::element::F32;
use xla_shape::{DynView, DynViewMut, ElementType, View, ViewMut, shape};
use xla_shape_ffi::{Error, InPlace, Kernel, kernel};

kernel! {
    fn doubled(x: View<'_, shape!(f32[2,3])>, mut y: ViewMut<'_, shape!(f32[2,3]{0,1})>, factor: f32 = 2.0) {
        y.fill_with(|index| factor * x[index]);
    }

    fn scaled(
        x: View<'_, shape!(f32[b,d])>,
        gain: View<'_, shape!(f32[d])>,
        mut y: ViewMut<'_, shape!(f32[b,d])>,
        shift: Option<f32>,
        words: Vec<f64> = vec![1.0],
        mode: &str = "sum",
    ) {
        let add = shift.unwrap_or(0.0) + mode.len() as f32 + words.iter().sum::<f64>() as f32;
        y.fill_with(|[i, j]| x[[i, j]] * gain[[j]] + add);
    }

    fn negated(mut x: InPlace<'_, shape!(f32[n])>) {
        x.apply(|x| -x);
    }

    fn total(first: View<'_, shape!(f32[n])>, rest: Vec<View<'_, shape!(f32[n])>>, mut y: ViewMut<'_, shape!(f32[n])>) {
        y.fill_with(|index| first[index] + rest.iter().map(|x| x[index]).sum::<f32>());
    }

    fn copied(x: DynView<'_>, mut y: DynViewMut<'_>) -> Result<(), Error> {
        let values = x.to_row_major::<F32>().map_err(|error| Error::invalid_argument(error.to_string()))?;
        let mut values = values.iter();
        // A result of another type stays as it is.
        let _ = y.fill_with::<F32>(|_| values.next().copied().unwrap_or_default());
        Ok(())
    }

    fn packed(x: View<'_, shape!(s4[?,3])>, mut y: ViewMut<'_, shape!(pred[?,3])>) {
        let rows = x.sizes()[0].min(y.sizes()[0]);
        y.fill_with(|[i, j]| i < rows && x.get([i, j]).is_ok_and(|value| i8::from(value) > 0));
    }
}

/// The most bytes of an array.
const MOST: usize = 1 << 12;

/// Any call runs, or is refused with a message, and accesses only its own memory.
///
/// # Panics
/// If one of these checks fails. An access outside this memory ends the program.
pub fn ffi_call(bytes: &[u8]) {
    let _ = read(&mut Unstructured::new(bytes));
}

fn read(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let kernel = input.int_in_range(0..=5)?;
    let side = if input.arbitrary()? { Side::Before } else { Side::Behind };
    // A valid call of this kernel, in which parts are changed now and then.
    let (f, s): (c_int, c_int) = (ElementType::F32.proto_number(), ElementType::S4.proto_number());
    let pred = ElementType::Pred.proto_number();
    let (b, d) = (input.int_in_range(0..=5)?, input.int_in_range(0..=9)?);
    let (operands, results) = match kernel {
        0 => (vec![(f, vec![2, 3])], vec![(f, vec![2, 3])]),
        1 => (vec![(f, vec![b, d]), (f, vec![d])], vec![(f, vec![b, d])]),
        2 => (vec![(f, vec![d])], vec![(f, vec![d])]),
        3 => (vec![(f, vec![d]); b as usize], vec![(f, vec![d])]),
        4 => (vec![(f, vec![b, d])], vec![(f, vec![b, d])]),
        _ => (vec![(s, vec![b, 3])], vec![(pred, vec![d, 3])]),
    };
    let mut memory = Vec::new();
    let mut call = Call { stage: 3, sizes: SIZES, ..Call::default() };
    for (arguments, list) in [(operands, &mut call.operands), (results, &mut call.results)] {
        for (element_type, sizes) in arguments {
            list.push(argument(input, element_type, sizes, side, &mut memory)?);
        }
        if input.ratio(1, 16)? {
            list.pop();
        }
        if input.ratio(1, 16)? {
            list.push(argument(input, f, vec![d], side, &mut memory)?);
        }
    }
    if input.ratio(1, 4)? && !call.operands.is_empty() && !call.results.is_empty() {
        // An operand and a result share memory: valid if the kernel works in place, otherwise an error.
        let place = input.choose_index(call.operands.len())?;
        if call.operands[place].sizes == call.results[0].sizes
            && call.operands[place].element_type == call.results[0].element_type
        {
            call.results[0].data = call.operands[place].data;
        }
    }
    for _ in 0..input.int_in_range(0..=3)? {
        let name = input.choose(&["factor", "shift", "words", "mode", "other", "", "\u{e9}"])?.as_bytes().to_vec();
        call.attributes.push((name, value(input)?));
    }
    if input.ratio(1, 8)? {
        call.stage = input.int_in_range(-1..=4)?;
    }
    if input.ratio(1, 8)? {
        let place = input.choose_index(SIZES.len())?;
        // Structs of a newer XLA claim to be larger; structs of an older one, smaller.
        call.sizes[place] = if input.arbitrary()? { usize::MAX } else { input.int_in_range(0..=SIZES[place])? };
    }
    for _ in 0..if input.ratio(1, 8)? { input.int_in_range(1..=3)? } else { 0 } {
        call.extensions.push((input.int_in_range(0..=2)?, *input.choose(&[0, 24, 32, 64, usize::MAX])?));
    }
    match kernel {
        0 => run::<doubled>(&call),
        1 => run::<scaled>(&call),
        2 => run::<negated>(&call),
        3 => run::<total>(&call),
        4 => run::<copied>(&call),
        _ => run::<packed>(&call),
    }
    Ok(())
}

/// An argument, with the memory that it claims to have.
fn argument(
    input: &mut Unstructured<'_>,
    mut element_type: c_int,
    mut sizes: Vec<i64>,
    side: Side,
    memory: &mut Vec<Guarded>,
) -> arbitrary::Result<Argument> {
    if input.ratio(1, 16)? {
        element_type = input.int_in_range(-1..=40)?;
    }
    if input.ratio(1, 8)? {
        const SIZES: &[i64] = &[0, 1, 7, -1, i64::MIN, i64::MAX, 1 << 32, 1 << 62];
        sizes.push(*input.choose(SIZES)?);
        if input.arbitrary()? {
            sizes.swap_remove(0);
        }
    }
    let kind = if input.ratio(1, 64)? { input.int_in_range(-1..=3)? } else { 1 };
    let bits =
        ElementType::from_proto_number(element_type).map_or(128, |element_type| 8 * element_type.storage_bytes());
    let bytes = sizes.iter().try_fold(bits / 8, |bytes, &size| bytes.checked_mul(size.try_into().ok()?));
    let data = match bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|&bytes| bytes <= MOST) {
        Some(_) if input.ratio(1, 32)? => std::ptr::null_mut(),
        Some(bytes) => {
            // Now and then, the memory begins one byte later: arrays that are not aligned are refused.
            let off = usize::from(input.ratio(1, 32)?);
            memory.push(Guarded::new(bytes + off, side));
            memory.last_mut().map_or(std::ptr::null_mut(), |memory| memory.bytes()[off..].as_mut_ptr())
        }
        // There is no memory of this size.
        None => std::ptr::null_mut(),
    };
    Ok(Argument { kind, element_type, sizes, data })
}

fn value(input: &mut Unstructured<'_>) -> arbitrary::Result<Value> {
    let numbers = [ElementType::F32, ElementType::F64, ElementType::S32, ElementType::Bf16];
    let element_type = match input.choose_index(6)? {
        4 => input.int_in_range(-1..=40)?,
        5 => c_int::arbitrary(input)?,
        i => numbers[i].proto_number(),
    };
    Ok(match input.int_in_range(0..=3)? {
        0 => Value::Scalar(element_type, input.arbitrary()?),
        1 => {
            let bytes = ElementType::from_proto_number(element_type).map_or(16, ElementType::storage_bytes) as usize;
            let len = input.int_in_range(0..=4)?;
            Value::Array(element_type, len, input.bytes(bytes * len)?.to_vec())
        }
        2 => {
            let len = input.int_in_range(0..=9)?;
            Value::Text(input.bytes(len)?.to_vec())
        }
        _ => Value::Other(*input.choose(&[0, 2, 5, -1])?),
    })
}

fn run<K: Kernel>(call: &Call) {
    // SAFETY: `argument` gives as much memory as it says, or null.
    let answer = unsafe { call.run::<K>() };
    if let Err((code, message)) = answer {
        // These kernels do not panic: code 13 would be a panic.
        assert!(code != 13 && !message.is_empty() && message.len() < 2000, "{code}: {message}");
    }
}
