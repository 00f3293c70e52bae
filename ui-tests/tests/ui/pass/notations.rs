//! A map is the same in every notation.

use xla_shape::{assert_same_map, shape};

type Weights = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
assert_same_map!(Weights, cute "((2,4),128):((1,256),2)");
assert_same_map!(Weights, mosaic "memref<8x128xbf16, #tpu.tiled<(8,128)(2,1),[1,1]>>");
assert_same_map!(Weights, onednn "bf16::blocked:AB4a128b2a::f0 8x128");
assert_same_map!(Weights, memref "memref<8x128xbf16, affine_map<(d0, d1) -> ((d0 floordiv 2) * 256 + d1 * 2 + (d0 mod 2))>>");
assert_same_map!(Weights, xla "bf16[8,128]{1,0:T(2,1)}");

type Rows = shape!(f32[4,8]);
assert_same_map!(Rows, numpy "np.ndarray(shape=(4, 8), dtype=np.float32, strides=(32, 4))");
assert_same_map!(Rows, torch "torch.empty((4, 8))");
assert_same_map!(Rows, mdspan r"std::layout_right::mapping<std::extents<std::size_t, 4, 8>>()");
assert_same_map!(
    Rows,
    linear "- offset=1 -> (0, 1)\n  offset=2 -> (0, 2)\n  offset=4 -> (0, 4)\n  offset=8 -> (1, 0)\n  offset=16 -> (2, 0)\nwhere out dims are: [dim0 (size 4), dim1 (size 8)]"
);

// Tiles that combine dimensions are not a sum over parts of indices.
assert_same_map!(
    shape!(f32[4,3]{1,0:T(*,4)(2)}),
    xla "f32[4,3]{1,0:T(*,4)}"
);
assert_same_map!(
    shape!(f32[7,2,5]{2,1,0:T(2,*,3)}),
    memref "memref<7x2x5xf32, affine_map<(d0, d1, d2) -> ((d0 floordiv 2) * 24 + ((d1 * 5 + d2) floordiv 3) * 6 + (d0 mod 2) * 3 + ((d1 * 5 + d2) mod 3))>>"
);

// Without elements, all maps are the same.
assert_same_map!(shape!(f32[0,3]), cute "(0,3):(7,7)");
assert_same_map!(shape!(f32[]), cute "():()");

/// A text from another macro.
macro_rules! assert_cute {
    ($shape:ty, $text:literal) => {
        assert_same_map!($shape, cute $text);
    };
}
assert_cute!(Rows, "(4,8):(8,1)");

#[test]
fn passes() {}
