//! Tuples nested as deeply as the parser allows, on half of the usual stack, in a build without optimisation.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hash;
use std::ops::ControlFlow;
use xla_shape::proto::{decode_shape, encode_shape};
use xla_shape::text::MAX_NESTING;
use xla_shape::{ElementType, Shape};
use xla_shape_parity::shape_util;

#[test]
fn nothing_needs_a_large_stack() {
    let all = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        let text = format!("{}f32[2]{{0}}{}", "(".repeat(MAX_NESTING), ")".repeat(MAX_NESTING));
        let shape: Shape = text.parse().unwrap();
        assert_eq!(shape.to_string(), text);
        assert_eq!(shape.clone(), shape);
        shape.hash(&mut DefaultHasher::new());
        assert_eq!(format!("{shape:?}"), text);
        assert_eq!(decode_shape(&encode_shape(&shape)), Ok(shape.clone()));
        let json = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<Shape>(&json).unwrap(), shape);
        let bytes = postcard::to_allocvec(&shape).unwrap();
        assert_eq!(postcard::from_bytes::<Shape>(&bytes).unwrap(), shape);
        assert_eq!(shape.byte_size(), Some(8));
        assert_eq!((shape.subshape_count(), shape_util::get_leaf_count(&shape)), (MAX_NESTING + 1, 1));
        assert_eq!(shape.subshapes().count(), MAX_NESTING + 1);
        let mut visited = 0;
        let _ = shape_util::for_each_subshape_post_order::<()>(&shape, |_, _| {
            visited += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(visited, MAX_NESTING + 1);
        let changed = shape_util::change_element_type(&shape, ElementType::Bf16).unwrap();
        assert!(shape_util::compatible_ignoring_fp_precision(&shape, &changed) && shape.equal_structure(&changed));
        assert!(shape.dynamic_shape_is_compatible(&changed));
        let mut replaced = changed;
        assert!(replaced.update_subshape(&[0; MAX_NESTING], Shape::make_nil()).is_err());
        assert!(replaced.update_subshape(&[0; MAX_NESTING], Shape::Token).is_ok());
        assert!(Shape::tuple(vec![replaced]).is_err());
    });
    all.unwrap().join().unwrap();
}
