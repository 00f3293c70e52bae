//! Two types cannot have the same name.

xla_shape::hlo_types! {
    mod program = "hlo/step.hlo" {
        type Product = "dot.3"(Weights, Weights);
        type Product = "tanh.1";
        type Parameter1 = "weights";
        type Result = "fusion.1";
    }
}

fn main() {}
