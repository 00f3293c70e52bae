//! `dispatch!` runs the first arm whose shapes the buffers have, and gives it the same memory.

use super::most_taken;
use xla_shape::element::F32;
use xla_shape::types::ArrayType;
use xla_shape::{Buffer, DynBuffer, DynView, DynViewMut, View, dispatch, shape};

fn zeroed(shape: &str) -> DynBuffer {
    DynBuffer::zeroed_with(shape.parse().unwrap()).unwrap()
}

fn arm(x: &DynBuffer) -> usize {
    dispatch!(match &x {
        shape!(f32[8,128]{1,0:T(8,128)}) => 0,
        shape!(f32[8,128]) => 1,
        shape!(f32[?,128]) => 2 + x.shape().sizes()[0] * 10,
        shape!(f32[<=8,128]) => 3,
        (shape!(s4[2,3])) => {
            4
        }
        shape!(f32[]) => 5,
        _ => 6,
    })
}

#[test]
fn the_first_arm_with_the_shape_runs() {
    for (shape, expected) in [
        ("f32[8,128]{1,0:T(8,128)}", 0),
        ("f32[8,128]{1,0}", 1),
        ("f32[7,128]{1,0}", 72),
        ("f32[0,128]{1,0}", 2),
        ("f32[<=8,128]{1,0}", 3),
        ("s4[2,3]", 4),
        ("f32[]", 5),
        ("f32[<=7,128]{1,0}", 6),
        ("bf16[8,128]{1,0}", 6),
        ("f32[8,128]{0,1}", 6),
        ("f32[8,128]{1,0:T(8,128)S(1)}", 6),
        ("f32[8,128,1]", 6),
    ] {
        assert_eq!(arm(&zeroed(shape)), expected, "{shape}");
    }
}

/// A pattern with a bound also accepts a static size equal to the bound. Arrays with fewer rows have other positions or take less memory, so they
/// are refused.
#[test]
fn a_bound_takes_what_lies_as_it_does() {
    fn rows(x: &DynBuffer) -> Option<usize> {
        dispatch!(match &x {
            shape!(bf16[<=8,3]{0,1:T(8,128)(2,1)}) => Some(x.shape().sizes()[0]),
            _ => None,
        })
    }
    for (shape, expected) in [
        ("bf16[<=8,3]{0,1:T(8,128)(2,1)}", Some(8)),
        ("bf16[8,3]{0,1:T(8,128)(2,1)}", Some(8)),
        ("bf16[7,3]{0,1:T(8,128)(2,1)}", None),
        ("bf16[<=7,3]{0,1:T(8,128)(2,1)}", None),
        ("bf16[9,3]{0,1:T(8,128)(2,1)}", None),
        ("bf16[8,<=3]{0,1:T(8,128)(2,1)}", None),
    ] {
        assert_eq!(rows(&zeroed(shape)), expected, "{shape}");
    }
    let of = |size: usize| {
        DynBuffer::from_fn_with::<F32>(format!("f32[2,{size}]").parse().unwrap(), |i| i[1] as f32).unwrap()
    };
    fn last(x: DynView<'_>) -> Option<f32> {
        dispatch!(match x {
            shape!(f32[2,<=5]) => Some(x[[1, 4]]),
            _ => None,
        })
    }
    assert_eq!([last(of(5).view()), last(of(4).view())], [Some(4.0), None]);
}

#[test]
fn all_buffers_must_have_their_shapes() {
    fn f(x: DynView<'_>, y: &DynBuffer, z: &mut DynBuffer) -> u8 {
        dispatch!(match x, &y, &mut z {
            (shape!(f32[2]), shape!(f32[3]), shape!(f32[4])) => {
                z[[3]] = x[[1]] + y[[2]];
                1
            }
            (shape!(f32[2]), shape!(f32[3]), shape!(f32[?])) => 2,
            _ => 3,
        })
    }
    for (x, y, z, expected) in [(2, 3, 4, 1), (2, 3, 5, 2), (2, 4, 4, 3), (1, 3, 4, 3)] {
        let [x, y, mut z] = [x, y, z].map(|size| {
            DynBuffer::from_fn_with::<F32>(format!("f32[{size}]").parse().unwrap(), |index| index[0] as f32).unwrap()
        });
        assert_eq!(f(x.view(), &y, &mut z), expected);
        assert_eq!(z.get::<F32>(&[3]).unwrap(), 3.0);
    }
}

#[test]
fn buffers_are_moved_borrowed_or_borrowed_to_write() {
    type X = shape!(f32[2]);

    let moved = zeroed("f32[2]");
    let buffer: Result<Buffer<X>, DynBuffer> = dispatch!(match moved {
        X => Ok(moved),
        _ => Err(moved),
    });
    assert!(buffer.is_ok());
    let moved = zeroed("f32[3]");
    let buffer: Result<Buffer<X>, DynBuffer> = dispatch!(match moved {
        X => Ok(moved),
        _ => Err(moved),
    });
    assert_eq!(buffer.unwrap_err().shape().to_string(), "f32[3]{0}");

    // A view that is moved out of a `DynView` has the same lifetime.
    fn view<'a>(x: DynView<'a>) -> Option<View<'a, X>> {
        dispatch!(match x {
            X => Some(x),
            _ => None,
        })
    }
    let mut owned = zeroed("f32[2]");
    assert!(view(owned.view()).is_some());

    let mut borrowed: DynViewMut<'_> = owned.view_mut();
    dispatch!(match &mut borrowed {
        X => x_is(&mut borrowed[[1]]),
        _ => unreachable!(),
    });
    dispatch!(match borrowed {
        X => borrowed[[0]] += 1.0,
        _ => unreachable!(),
    });
    assert_eq!(owned.to_row_major::<F32>().unwrap(), [1.0, 7.0]);
}

fn x_is(x: &mut f32) {
    *x = 7.0;
}

#[test]
fn control_flow_in_arms_is_that_of_the_function() {
    fn find(list: &[DynBuffer]) -> Option<usize> {
        let mut count = 0;
        for x in list {
            dispatch!(match &x {
                shape!(f32[2]) => continue,
                shape!(f32[3]) => break,
                shape!(f32[4]) => return None,
                _ => count += 1,
            });
        }
        Some(count)
    }
    let list = |sizes: &[usize]| sizes.iter().map(|size| zeroed(&format!("f32[{size}]"))).collect::<Vec<_>>();
    assert_eq!(find(&list(&[1, 2, 1, 3, 1])), Some(2));
    assert_eq!(find(&list(&[1, 4])), None);
}

#[test]
fn memory_that_is_not_aligned_goes_to_the_fallback() {
    let owned = zeroed("u8[16]");
    let bytes = owned.as_bytes();
    let arm = |x: DynView<'_>| {
        dispatch!(match &x {
            shape!(f32[2]) => true,
            _ => false,
        })
    };
    let at = |start: usize| DynView::from_parts("f32[2]".parse().unwrap(), &bytes[start..start + 8]).unwrap();
    assert_eq!([at(0), at(1), at(4)].map(arm), [true, false, true]);
}

#[test]
fn arms_that_do_not_run_allocate_nothing() {
    let x = zeroed("f32[9,256]{1,0:T(8,128)}");
    let mut arm = None;
    let taken = most_taken(|| {
        arm = Some(dispatch!(match &x {
            shape!(bf16[9,256]{1,0:T(8,128)(2,1)}) => 0,
            shape!(f32[?,128]{1,0:T(8,128)}) => 1,
            shape!(f32[8,256]{1,0:T(8,128)}) => 2,
            shape!(f32[9,256]{0,1:T(8,128)}) => 3,
            _ => 4,
        }));
    });
    assert_eq!((arm, taken), (Some(4), 0));
}
