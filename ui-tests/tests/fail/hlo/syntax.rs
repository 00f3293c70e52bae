//! Mistakes in requests, which have a syntax like Rust.

use xla_shape::hlo_types;

hlo_types!();
hlo_types!("hlo/step.hlo");
hlo_types!(mod);
hlo_types!(mod "program");
hlo_types!(mod program;);
hlo_types!(mod program = hlo::step;);
hlo_types!(mod program = 'h';);
hlo_types!(mod program = "hlo/\u{73}tep.hlo";);
hlo_types!(mod program = "hlo/step.hlo" mod other);
hlo_types!(mod program = "hlo/step.hlo" (););
hlo_types!(# mod program = "hlo/step.hlo";);

hlo_types! {
    mod types = "hlo/step.hlo" {
        pub type Public = "dot.3";
        type "dot.3";
        type Product "dot.3";
        type Value;
        type Colon = "dot.3":"dot.3";
        type Name = dot.3;
        type Name = "main"::dot;
        type Brackets = "dot.3"[X, Weights];
        type More = "dot.3"(MoreX, MoreWeights) as Product;
        type Dots = "dot.3"(DotsX, .. DotsWeights);
        type Space = "dot.3"(SpaceX SpaceWeights);
        type Sum + Tanh = "fusion.1";
        type Extra = "dot.3" "dot.3";
        type End = "dot.3"
    }
}

fn main() {}
