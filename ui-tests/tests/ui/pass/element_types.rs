//! Every element type has a type.

use xla_shape::{ElementType, shape};

macro_rules! check {
    ($($variant:ident $name:ident $number:literal $value:tt $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        [$((stringify!($name), <shape!($name[2])>::ELEMENT_TYPE, <shape!($name[2])>::TEXT),)*]
    };
}

#[test]
fn passes() {
    let all = xla_shape::element_types!(check);
    for (name, element_type, text) in all {
        assert_eq!(element_type.name(), name);
        assert_eq!(text, format!("{name}[2]{{0}}"));
    }
    assert_eq!(all.len(), ElementType::ALL.len());
}
