//! Shapes in XLA's layouts of 2017, with padded dimensions and a value in the padding.

use xla_shape::shape;
use xla_shape::legacy::{HighestPadding, Padded};
use xla_shape::types::Size;

type Old = shape!(f32[2, 3]{0, 1: PAD(3, 5) V(highest)});
type Same = Padded<shape!(f32[2,3]{0,1:T(5,3)}), (Size<3>, Size<5>), HighestPadding>;

fn same(old: Old) -> Same {
    old
}

#[test]
fn passes() {
    const BITS: Option<u128> = Old::PADDING_BITS;
    assert_eq!(BITS, Some(u128::from(f32::INFINITY.to_bits())));
    assert_eq!(Old::LEGACY.to_string(), "f32[2,3]{0,1:PAD(3,5)V(highest)}");
    assert_eq!(same(Old::default()).modern().to_string(), "f32[2,3]{0,1:T(5,3)}");
    let unpadded = <shape!(u8[7]{0:PAD(7)})>::LEGACY;
    assert_eq!((unpadded.padded_dimensions(), unpadded.padding_value()), (&[7][..], None));
}
