//! What rust-analyzer is asked about, by scripts/editor.py.

use xla_shape::{View, ViewMut, shape, shape_type};

/// The length of a sequence.
const SEQ: usize = 256;
//    ^ references; rename to LENGTH

type Acts = shape!(bf16[SEQ,128]{1,0:T(8,128)(2,1)});
//   ^ hover
//                      ^ hover; definition; complete SEQ Acts

shape_type! {
    /// The weights of a layer.
    pub type Weights = bf16[100,200]{1,0:T(8,128)(2,1)};
    /// Any number of rows.
    type Rows<const M: usize> = f32[M,128]{1,0:T(8,128)};
//                                  ^ definition
}

xla_shape::hlo_types! {
    pub mod program = "step.hlo" {
        type Product = "dot.3";
    }
}

fn scale(x: View<'_, shape!(f32[SEQ,128])>, mut y: ViewMut<'_, Weights>, z: &View<'_, Rows<SEQ>>) -> f32 {
//       ^ hover
//                              ^ hover
//                                                             ^ hover; definition; references
    y.apply(|y| y);
//    ^ complete apply line poll read_to_end
    let line = z.line::<-1>([0, 0]);
//      ^ hover
    x[[SEQ - 1, 0]] + line.map_or(0.0, |line| line[1])
}

fn rows<const M: usize>(_: &View<'_, shape!(f32[M,128]{1,0:T(8,128)})>) -> usize {
//                                              ^ hover; definition; rename to ROWS
    M
}

fn same(x: program::Product) -> shape!(bf16[16,512]{1,0:T(8,128)(2,1)}) {
//                  ^ hover
    x
}

const BYTES: usize = Acts::BYTES;
//                         ^ hover; complete BYTES TEXT next
