//! A library that depends on `xla-shape` under another name makes shapes.

use xla_shape::shape;
use xla_shape_ui_downstream::Tile;

#[test]
fn passes() {
    let tile: shape!(bf16[8,128]{1,0:T(8,128)(2,1)}) = Tile::default();
    assert_eq!(tile.to_string(), Tile::TEXT);
}
