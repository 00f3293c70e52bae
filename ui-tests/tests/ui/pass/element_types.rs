//! Every element type has a type.

use xla_shape::{ElementType, shape};

macro_rules! check {
    ($($name:ident)*) => {
        [$((stringify!($name), <shape!($name[2])>::ELEMENT_TYPE, <shape!($name[2])>::TEXT),)*]
    };
}

#[test]
fn passes() {
    let all = check! {
        pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64
        f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4 f8e5m2fnuz f8e4m3fnuz f8e8m0fnu
        f6e3m2fn f6e2m3fn f4e2m1fn c64 c128
    };
    for (name, element_type, text) in all {
        assert_eq!(element_type.name(), name);
        assert_eq!(text, format!("{name}[2]{{0}}"));
    }
    assert_eq!(all.len(), ElementType::ALL.len());
}
