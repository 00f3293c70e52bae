//! What an answer says.

use super::page;
use crate::Show as _;
use xla_shape_answers::cost::Amount;
use xla_shape_answers::tune::Tuning;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Layout, Shape};
use xla_shape_tune::{Ask, Figures, Measured, Memory, Options, Place, Program, SharedArray};

/// The answer about one array of one program. The program takes the given cycles; its compiler chooses a column-major layout.
fn tuned(memories: Vec<Memory>, cycles: &dyn Fn(&Ask) -> u64) -> Tuning {
    let array: ArrayShape = "f32[128,256]{1,0:T(8,128)}".parse().unwrap();
    let options =
        Options { generation: Some(Generation::V5e), all: false, tilings: false, at_most_bytes: None, most: None };
    let programs = [Program { name: "p0".into(), weight: 1 }];
    let places = vec![(0, Place::Parameter(0, vec![]))];
    let arrays = [SharedArray { name: "x0".into(), places, array: array.clone(), memories }];
    let mut compile = |asks: &[(usize, Ask)]| {
        let one = |ask: &Ask| {
            let (layout, bytes) = match ask {
                Ask::Today => (array.layout().clone(), 4000),
                Ask::Auto => ("{0,1:T(8,128)}".parse::<Layout>().unwrap(), 4000),
                Ask::Layouts(layouts) => (layouts[&0].clone(), 3000),
            };
            let shapes = [Shape::Array(array.clone().with_layout(layout).unwrap())];
            let opcodes = [("negate".to_owned(), Amount::Cycles(cycles(ask)))].into();
            Measured::new(
                Figures { cost: Some(Amount::Cycles(cycles(ask))), bytes, opcodes, ..Figures::default() },
                &shapes,
                &[],
            )
        };
        asks.iter().map(|(_, ask)| Some(Ok(one(ask).with_compiler("a")))).collect()
    };
    xla_shape_tune::search(&arrays, &programs, &options, &mut compile).unwrap()
}

#[test]
fn a_choice_of_the_compiler_says_how_to_get_it() {
    let tuning = tuned(vec![], &|ask| match ask {
        Ask::Today => 1010,
        Ask::Auto => 710,
        Ask::Layouts(_) => 1110,
    });
    let text = tuning.text(1000).to_string();
    let [first, second, third] = [0, 1, 2].map(|line| text.lines().nth(line).unwrap());
    assert_eq!(first, "x0 should be {0,1:T(8,128)}, major to minor (1,0).");
    assert_eq!(second, "1,010 -> 710 cycles (-29.7 %), by the compiler's estimates.");
    assert!(third.starts_with("For p0, compile with Layout.AUTO for these arrays"), "{third}");
    assert!(third.ends_with(" Compiled with these layouts themselves, it takes 1,110 cycles."), "{third}");
    assert!(text.contains("x0 {0,1:T(8,128)}, AUTO for p0  (the compiler's own choice)"), "{text}");
    assert!(text.contains(" by a.\n") && text.contains("  p0 prefers {0,1:T(8,128)}\n"), "{text}");
    assert!(page(&tuning).contains("AUTO for p0"));
}

#[test]
fn where_the_memory_differs_from_todays_no_cycles_are_compared() {
    for memory in Memory::ALL {
        let tuning = tuned(vec![memory], &|ask| if matches!(ask, Ask::Layouts(_)) { 50 } else { 100 });
        let text = tuning.text(200).to_string();
        let is_moved = memory == Memory::PinnedHost;
        let second = if is_moved {
            "-1000 B of memory. The cycles cannot be compared: the array is in another memory."
        } else {
            "100 -> 50 cycles (-50.0 %); -1000 B of memory, by the compiler's estimates."
        };
        assert_eq!(text.lines().nth(1), Some(second), "{text}");
        let of_program =
            if is_moved { "  p0: -1000 B of memory, copies 0 -> 0" } else { "  p0: 100 -> 50 cycles (-50.0 %), " };
        assert!(text.contains(of_program), "{text}");
        for word in [" %)", "cycles by opcode"] {
            assert_eq!(text.contains(word), !is_moved, "{word}: {text}");
        }
        assert_eq!(page(&tuning).contains("not compared"), is_moved);
    }
}
