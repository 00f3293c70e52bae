//! Mistakes in texts of other notations. The error shows the place in the text.

use xla_shape::{assert_same_map, shape};

type Rows = shape!(f32[8,128]);
const TEXT: &str = "(8,128):(128,1)";

assert_same_map!(Rows, cute "(8,128):(128)");
assert_same_map!(Rows, cute "");
assert_same_map!(Rows, cute "Sw<3,4,3> o (8,128):(128,1)");
assert_same_map!(Rows, linear "- offset=1 -> (1, 0)\n  offset=3 -> (0, 1)\nwhere out dims are: [dim0 (size 2), dim1 (size 2)]");
assert_same_map!(Rows, numpy "np.ndarray(shape=(8, 128), dtype=np.float31)");
assert_same_map!(Rows, cuda "(8,128):(128,1)");
assert_same_map!(Rows, "(8,128):(128,1)");
assert_same_map!(Rows, cute TEXT);
assert_same_map!(Rows, cute (8,128):(128,1));
assert_same_map!(Rows, cute);
assert_same_map!(Rows,);
assert_same_map!(Rows, cute "\t(8,128):(128,1)");
// Maps that no array of XLA has.
assert_same_map!(Rows, numpy "np.ndarray(shape=(8, 128), dtype=np.int32, offset=3584, strides=(-512, 4))");
assert_same_map!(Rows, torch "torch.as_strided(x, (8, 128), (128, 1), 5)");
assert_same_map!(shape!(u8[4]), linear "- offset=1 -> (1)\n  offset=2 -> (3)\nwhere out dims are: [dim0 (size 4)]");

fn main() {}
