//! A shape is a type like any other: an argument of types, functions, traits, bounds.

use std::collections::HashMap;
use std::marker::PhantomData;
use xla_shape::types::StaticArray;
use xla_shape::{Buffer, View, shape};

struct Pair<A, B = shape!(f32[2])>(PhantomData<(A, B)>);

trait Accepts<S> {}
impl Accepts<shape!(f32[8,128])> for () {}

fn bytes<S: StaticArray>() -> usize {
    S::BYTES
}

fn accepts<T: Accepts<shape!(f32[8, 128]{1,0})>>(_: T) {}

#[test]
fn passes() {
    let _ = Pair::<shape!(pred[])>(PhantomData);
    assert_eq!(bytes::<shape!(f64[3])>(), 24);
    accepts(());
    let _: HashMap<shape!(f32[2]), Vec<Buffer<shape!(f32[3])>>> = HashMap::new();
    let _: Option<fn(View<'_, shape!(f32[2])>) -> Box<dyn Fn(shape!(f32[3]))>> = None;
}
