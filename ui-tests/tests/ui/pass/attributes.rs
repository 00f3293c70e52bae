//! Every attribute of a dense layout.

use xla_shape::shape;

type X = shape!(s4[64,128]{1,0:D(D,D)T(8,128)(2,1)L(64)E(4)S(5)SC(0:32)(1:16,64)M(16)});

#[test]
fn passes() {
    assert_eq!(X::TEXT, "s4[64,128]{1,0:T(8,128)(2,1)L(64)E(4)S(5)SC(0:32)(1:16,64)M(16)}");
    assert_eq!(X::LAYOUT.tail_padding_alignment_in_elements(), 64);
    assert_eq!(X::LAYOUT.element_size_in_bits(), 4);
    assert_eq!(X::MEMORY_SPACE, 5);
    assert_eq!(X::LAYOUT.split_configs()[1].split_indices(), [16, 64]);
    assert_eq!(X::LAYOUT.dynamic_shape_metadata_prefix_bytes(), 16);
}
