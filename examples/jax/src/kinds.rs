//! Kernels for the tests: element types, ranks, layouts and attributes of every kind.

use xla_shape::{DynView, DynViewMut, View, ViewMut, shape};
use xla_shape_ffi::threads::ThreadPool;
use xla_shape_ffi::{Error, ErrorCode, InPlace, kernel};

kernel! {
    /// Copies an array of any shape.
    pub(crate) fn copy(x: DynView<'_>, mut y: DynViewMut<'_>) -> Result<(), Error> {
        if x.shape() != y.shape() {
            let message = format!("expected a result like the operand, {}, found {}", x.shape(), y.shape());
            return Err(Error::invalid_argument(message));
        }
        y.as_bytes_mut().copy_from_slice(x.as_bytes());
        Ok(())
    }

    /// The first element, and the number of elements.
    pub(crate) fn first(
        x: View<'_, shape!(c64[2,?])>,
        scale: View<'_, shape!(f32[])>,
        mut y: ViewMut<'_, shape!(c64[])>,
        mut count: ViewMut<'_, shape!(u32[1])>,
    ) {
        y[[]] = x.get([0, 0]).unwrap_or_default() * scale[[]];
        count[[0]] = x.as_slice().len() as u32;
    }

    /// Moves element `[i,j,k]` to `[k,i,j]`. Both layouts are permuted.
    pub(crate) fn rotate(x: View<'_, shape!(s16[2,3,5]{0,2,1})>, mut y: ViewMut<'_, shape!(s16[5,2,3]{1,0,2})>) {
        y.fill_with(|[k, i, j]| x[[i, j, k]]);
    }

    /// Has no results, and fails if a number is negative.
    pub(crate) fn expect_positive(x: View<'_, shape!(f32[?])>) -> Result<(), Error> {
        match x.as_slice().iter().find(|&&x| x < 0.0) {
            Some(x) => Err(Error::new(ErrorCode::OutOfRange, format!("expected positive numbers, found {x}"))),
            None => Ok(()),
        }
    }

    /// Adds one to every number, in the operand's memory if the program allows it.
    pub(crate) fn add_one(mut x: InPlace<'_, shape!(f32[n])>)
    where batch(n)
    {
        x.apply(|x| x + 1.0);
    }

    /// Multiplies each row by a gain and a factor, and adds a summand.
    pub(crate) fn scale_rows(
        x: View<'_, shape!(f32[b,d])>,
        gain: View<'_, shape!(f32[d])>,
        mut y: ViewMut<'_, shape!(f32[b,d])>,
        factor: f32 = 2.0,
        shift: Option<f32>,
    )
    where batch(b), multiversion
    {
        let [_, d] = x.sizes();
        let rows = x.as_slice().chunks_exact(d.max(1)).zip(y.as_mut_slice().chunks_exact_mut(d.max(1)));
        for (x, y) in rows {
            for ((y, x), gain) in y.iter_mut().zip(x).zip(gain.as_slice()) {
                *y = x * gain * factor + shift.unwrap_or(0.0);
            }
        }
    }

    /// The products of all columns of two arrays with the same number of rows.
    pub(crate) fn gram(
        x: View<'_, shape!(f32[n,d])>,
        y: View<'_, shape!(f32[n,e])>,
        mut z: ViewMut<'_, shape!(f32[d,e])>,
    ) {
        let [n, _] = x.sizes();
        z.fill_with(|[i, j]| (0..n).map(|k| x[[k, i]] * y[[k, j]]).sum());
    }

    /// The first operand plus ten times the sum of the middle ones plus a hundred times the last.
    pub(crate) fn total(
        first: View<'_, shape!(f32[n])>,
        rest: Vec<View<'_, shape!(f32[n])>>,
        last: View<'_, shape!(f32[n])>,
        mut y: ViewMut<'_, shape!(f32[n])>,
    ) {
        y.fill_with(|index| first[index] + 10.0 * rest.iter().map(|x| x[index]).sum::<f32>() + 100.0 * last[index]);
    }

    /// Returns an error that shows which attributes it got.
    pub(crate) fn options(
        _y: ViewMut<'_, shape!(f32[])>,
        mode: &str = "sum",
        numbers: Vec<f64> = vec![0.5, f64::INFINITY],
        count: Option<i32>,
        names: Option<&str>,
        is_fast: bool = true,
    ) -> Result<(), Error> {
        Err(Error::new(ErrorCode::Aborted, format!("{mode} {numbers:?} {count:?} {names:?} {is_fast}")))
    }

    /// Panics on one of the threads.
    pub(crate) fn fail_on_threads(pool: ThreadPool<'_>, mut y: ViewMut<'_, shape!(f32[64])>) {
        pool.for_each_chunk(y.as_mut_slice(), 1, |number, y| {
            assert!(number != 13, "chunk {number}");
            y.fill(number as f32);
        });
    }

    /// Returns the attributes that it got.
    #[expect(clippy::too_many_arguments, reason = "one of each kind")]
    pub(crate) fn attributes(
        a: bool,
        b: i8,
        c: i16,
        d: i32,
        e: i64,
        f: u8,
        g: u16,
        h: u32,
        i: u64,
        j: f32,
        k: f64,
        l: Vec<bool>,
        m: Vec<i8>,
        n: Vec<i16>,
        o: Vec<i32>,
        p: Vec<i64>,
        q: Vec<u8>,
        r: Vec<u16>,
        s: Vec<u32>,
        t: Vec<u64>,
        u: Vec<f32>,
        v: Vec<f64>,
        w: &str,
        _y: ViewMut<'_, shape!(f32[])>,
    ) -> Result<(), Error> {
        let numbers = format!("{:?}", (a, b, c, d, e, f, g, h, i, j, k));
        let lists = format!("{:?} {:?}", (l, m, n, o, p), (q, r, s, t, u, v));
        Err(Error::new(ErrorCode::Aborted, format!("{numbers} {lists} {w}")))
    }
}

// Kernels that do almost nothing, to measure the cost of a call. `cpp/calls.cc` has the same in C++.
kernel! {
    /// One number more.
    pub(crate) fn call_one(x: View<'_, shape!(f32[n])>, mut y: ViewMut<'_, shape!(f32[n])>) {
        y.as_mut_slice()[0] = x.as_slice()[0] + 1.0;
    }

    /// The same for a size that is known at compile time.
    pub(crate) fn call_one_static(x: View<'_, shape!(f32[1])>, mut y: ViewMut<'_, shape!(f32[1])>) {
        y[[0]] = x[[0]] + 1.0;
    }

    /// A sum, multiplied by a number, plus another number.
    pub(crate) fn call_four(
        a: View<'_, shape!(f32[n])>,
        b: View<'_, shape!(f32[n])>,
        c: View<'_, shape!(f32[n])>,
        d: View<'_, shape!(f32[n])>,
        mut y: ViewMut<'_, shape!(f32[n])>,
        factor: f32,
        times: i32,
    ) {
        let sum = a.as_slice()[0] + b.as_slice()[0] + c.as_slice()[0] + d.as_slice()[0];
        y.as_mut_slice()[0] = sum * factor + times as f32;
    }

    /// The same for a size that is known at compile time.
    pub(crate) fn call_four_static(
        a: View<'_, shape!(f32[1])>,
        b: View<'_, shape!(f32[1])>,
        c: View<'_, shape!(f32[1])>,
        d: View<'_, shape!(f32[1])>,
        mut y: ViewMut<'_, shape!(f32[1])>,
        factor: f32,
        times: i32,
    ) {
        y[[0]] = (a[[0]] + b[[0]] + c[[0]] + d[[0]]) * factor + times as f32;
    }
}

/// Kernels that write a column-major array of one element type row by row, each named after the type.
macro_rules! row_major {
    ($($name:ident: $operand:ty => $result:ty;)*) => {
        kernel! { $(
            pub(crate) fn $name(x: View<'_, $operand>, mut y: ViewMut<'_, $result>) {
                y.fill_with(|index| x.get(index).expect("both have the same sizes"));
            }
        )* }
    };
}

row_major! {
    row_major_pred: shape!(pred[3,5]{0,1}) => shape!(pred[3,5]);
    row_major_s2: shape!(s2[3,5]{0,1:E(2)}) => shape!(s2[3,5]{1,0:E(2)});
    row_major_s4: shape!(s4[3,5]{0,1:E(4)}) => shape!(s4[3,5]{1,0:E(4)});
    row_major_s8: shape!(s8[3,5]{0,1}) => shape!(s8[3,5]);
    row_major_s16: shape!(s16[3,5]{0,1}) => shape!(s16[3,5]);
    row_major_s32: shape!(s32[3,5]{0,1}) => shape!(s32[3,5]);
    row_major_s64: shape!(s64[3,5]{0,1}) => shape!(s64[3,5]);
    row_major_u2: shape!(u2[3,5]{0,1:E(2)}) => shape!(u2[3,5]{1,0:E(2)});
    row_major_u4: shape!(u4[3,5]{0,1:E(4)}) => shape!(u4[3,5]{1,0:E(4)});
    row_major_u8: shape!(u8[3,5]{0,1}) => shape!(u8[3,5]);
    row_major_u16: shape!(u16[3,5]{0,1}) => shape!(u16[3,5]);
    row_major_u32: shape!(u32[3,5]{0,1}) => shape!(u32[3,5]);
    row_major_u64: shape!(u64[3,5]{0,1}) => shape!(u64[3,5]);
    row_major_f16: shape!(f16[3,5]{0,1}) => shape!(f16[3,5]);
    row_major_bf16: shape!(bf16[3,5]{0,1}) => shape!(bf16[3,5]);
    row_major_f32: shape!(f32[3,5]{0,1}) => shape!(f32[3,5]);
    row_major_f64: shape!(f64[3,5]{0,1}) => shape!(f64[3,5]);
    row_major_c64: shape!(c64[3,5]{0,1}) => shape!(c64[3,5]);
    row_major_c128: shape!(c128[3,5]{0,1}) => shape!(c128[3,5]);
    row_major_f4e2m1fn: shape!(f4e2m1fn[3,5]{0,1:E(4)}) => shape!(f4e2m1fn[3,5]{1,0:E(4)});
    row_major_f8e3m4: shape!(f8e3m4[3,5]{0,1}) => shape!(f8e3m4[3,5]);
    row_major_f8e4m3: shape!(f8e4m3[3,5]{0,1}) => shape!(f8e4m3[3,5]);
    row_major_f8e4m3b11fnuz: shape!(f8e4m3b11fnuz[3,5]{0,1}) => shape!(f8e4m3b11fnuz[3,5]);
    row_major_f8e4m3fn: shape!(f8e4m3fn[3,5]{0,1}) => shape!(f8e4m3fn[3,5]);
    row_major_f8e4m3fnuz: shape!(f8e4m3fnuz[3,5]{0,1}) => shape!(f8e4m3fnuz[3,5]);
    row_major_f8e5m2: shape!(f8e5m2[3,5]{0,1}) => shape!(f8e5m2[3,5]);
    row_major_f8e5m2fnuz: shape!(f8e5m2fnuz[3,5]{0,1}) => shape!(f8e5m2fnuz[3,5]);
    row_major_f8e8m0fnu: shape!(f8e8m0fnu[3,5]{0,1}) => shape!(f8e8m0fnu[3,5]);
}
