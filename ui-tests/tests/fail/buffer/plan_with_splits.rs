//! A plan copies only arrays that are in a single memory, without splits.

use xla_shape::relayout::StaticPlan;
use xla_shape::shape;

fn main() {
    let _ = StaticPlan::<shape!(f32[10]{0:SC(0:5)}), shape!(f32[10])>::new();
    let _ = StaticPlan::<shape!(f32[10]), shape!(f32[10]{0:SC(0:5)})>::new();
}
