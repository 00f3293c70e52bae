//! Some shapes cannot be types, although their parts can.

use xla_shape::types::ShapeType;

xla_shape::hlo_types! {
    mod program = "hlo/step.hlo" {
        type Many = "many";
        type (First, ..) = "many";
    }
    mod many = "hlo/many.hlo";
}

fn text<S: ShapeType>() -> &'static str {
    S::TEXT
}

fn main() {
    text::<program::First>();
    text::<many::Parameter13>();
    text::<many::Result13>();
    text::<many::Result>();
}
