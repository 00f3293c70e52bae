//! The error names the first element whose position differs.

use xla_shape::{assert_same_map, shape};

type Rows = shape!(f32[8,128]);
type Weights = shape!(bf16[16,256]{1,0:T(8,128)(2,1)});

assert_same_map!(Rows, cute "(8,128):(1,8)");
assert_same_map!(Rows, numpy "np.ndarray(shape=(8, 128), dtype=np.float32, strides=(1024, 4))");
assert_same_map!(shape!(f16[2,3,4,5]), torch "torch.empty((2, 3, 4, 5), memory_format=torch.channels_last)");
assert_same_map!(Rows, mdspan "std::layout_left::mapping<std::extents<std::size_t, 8, 128>>()");
assert_same_map!(Weights, memref "memref<16x256xbf16>");
assert_same_map!(Weights, mosaic "memref<16x256xbf16, #tpu.tiled<(8,128),[2,1]>>");
assert_same_map!(Weights, onednn "bf16::blocked:AB4a128b2a::f0 16x256");
assert_same_map!(Weights, onednn "bf16::blocked:BA4a128b2a::f0 16x256");
assert_same_map!(shape!(u8[2,2]), linear "- offset=1 -> (1, 0)\n  offset=2 -> (0, 1)\nwhere out dims are: [dim0 (size 2), dim1 (size 2)]");
assert_same_map!(Weights, xla "bf16[16,256]{1,0:T(16,128)(2,1)}");
// A row that repeats.
assert_same_map!(Rows, torch "torch.as_strided(x, (8, 128), (0, 1))");
// Tiles that combine dimensions.
assert_same_map!(shape!(f32[7,2,5]{2,1,0:T(2,*,3)}), memref "memref<7x2x5xf32>");
assert_same_map!(Rows, cute "(128,8):(8,1)");

fn main() {}
