//! There must be one name for each operand, and for each element of a tuple.

xla_shape::hlo_types! {
    mod program = "hlo/step.hlo" {
        type Product = "dot.3"(X);
        type Product2 = "dot.3"(X2, Weights2, Others2);
        type Product3 = "dot.3"(X3, Weights3, Others3, ..);
        type (Sum, Tanh, Others) = "fusion.1";
        type (Rows, Columns) = "tanh.1";
        type _ = "fusion.1"((Left, Right));
    }
}

fn main() {}
