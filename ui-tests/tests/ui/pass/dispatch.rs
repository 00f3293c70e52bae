//! Arms of every form; and a caller whose own names shadow those of types and macros.

use xla_shape::shape;

#[allow(dead_code)]
struct Option;
#[allow(dead_code)]
struct Some;

type Rows = shape!(f32[?,128]{1,0:T(8,128)});

fn one(x: &xla_shape::DynBuffer) -> usize {
    xla_shape::dispatch!(match &x {
        shape!(f32[8,128]{1,0:T(8,128)}) => { x[[7, 127]] as usize }
        shape![f32[<=8,128]] => 1,
        (Rows) => x.shape().sizes()[0],
        Bf16Matrix<4, 4> => {
            let shape = 3;
            shape
        },
        _ => 5,
    })
}

type Bf16Matrix<const M: usize, const N: usize> = xla_shape::types::Array<
    xla_shape::element::Bf16,
    (xla_shape::types::Size<M>, xla_shape::types::Size<N>),
    xla_shape::layout!({1,0}),
>;

/// Arms may use const parameters of the enclosing function.
fn square<const N: usize>(x: &xla_shape::DynBuffer) -> bool {
    xla_shape::dispatch!(match &x { Bf16Matrix<N, N> => true, _ => false })
}

/// Arms may also use a type parameter.
fn is<S: WholeArray<Element = xla_shape::element::F32>>(x: &xla_shape::DynBuffer) -> bool {
    fn kernel<S: ArrayType<Element = xla_shape::element::F32>>(_: xla_shape::View<'_, S>) -> bool {
        true
    }
    xla_shape::dispatch!(match &x { S => kernel::<S>(x), _ => false })
}

use xla_shape::types::{ArrayType, WholeArray};

#[test]
fn passes() {
    let of = |shape: &str| xla_shape::DynBuffer::zeroed_with(shape.parse().unwrap()).unwrap();
    assert_eq!(one(&of("f32[8,128]{1,0:T(8,128)}")), 0);
    assert_eq!(one(&of("f32[<=8,128]")), 1);
    assert_eq!(one(&of("f32[8,128]")), 1);
    assert_eq!(one(&of("f32[9,128]{1,0:T(8,128)}")), 9);
    assert_eq!(one(&of("bf16[4,4]")), 3);
    assert_eq!(one(&of("f32[]")), 5);
    assert!(square::<4>(&of("bf16[4,4]")) && !square::<4>(&of("bf16[4,5]")));
    assert!(is::<Rows>(&of("f32[9,128]{1,0:T(8,128)}")) && !is::<Rows>(&of("f32[9,128]")));
}
