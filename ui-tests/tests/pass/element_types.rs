use xla_shape::shape;

fn main() {
    assert_eq!(<shape!(pred[2])>::TEXT, "pred[2]{0}");
}
