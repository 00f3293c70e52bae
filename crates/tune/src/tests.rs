//! Properties of the search that hold for every compiler.

use super::search::{Found, search, weighted};
use super::{Ask, Figures, Measured, Memory, Options, Place, Program, SharedArray, TuneError};
use std::collections::BTreeMap;
use xla_shape_answers::cost::Amount;
use xla_shape_answers::tune::Tuning;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Layout, Shape};

const OPTIONS: Options =
    Options { generation: Some(Generation::V5e), all: false, tilings: false, at_most_bytes: None, most: None };

/// Pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// The figures of a program whose parameters have these layouts.
fn measured(arrays: &[SharedArray], layouts: &[Layout], cycles: u64, bytes: u64) -> Measured {
    let with = |(array, layout): (&SharedArray, &Layout)| array.array.clone().with_layout(layout.clone()).unwrap();
    let shapes: Vec<Shape> = arrays.iter().zip(layouts).map(|pair| Shape::Array(with(pair))).collect();
    Measured::new(Figures { cost: Some(Amount::Cycles(cycles)), bytes, ..Figures::default() }, &shapes, &[])
}

fn shared(shapes: &[&str], programs: usize) -> Vec<SharedArray> {
    let array = |(number, text): (usize, &&str)| SharedArray {
        name: format!("x{number}"),
        places: (0..programs).map(|program| (program, Place::Parameter(number, vec![]))).collect(),
        array: text.parse::<ArrayShape>().unwrap().with_tpu_layout(Generation::V5e).unwrap(),
        memories: Vec::new(),
    };
    shapes.iter().enumerate().map(array).collect()
}

fn programs(weights: &[u32]) -> Vec<Program> {
    weights.iter().enumerate().map(|(number, &weight)| Program { name: format!("p{number}"), weight }).collect()
}

/// A stand-in for a compiler: the figures of a program, given its number and a layout for each array.
type Answer<'a> = dyn Fn(usize, &[Layout]) -> Result<Measured, String> + 'a;

/// Searches with a function as the compiler. If the compiler may choose, it takes the `preferred` layouts, or today's layouts if there are none.
fn found(
    arrays: &[SharedArray],
    programs: &[Program],
    options: &Options,
    preferred: Option<&[Layout]>,
    answer: &Answer<'_>,
) -> Result<Found, TuneError> {
    let today: Vec<Layout> = arrays.iter().map(|array| array.array.layout().clone()).collect();
    let mut compile = |asks: &[(usize, Ask)]| {
        let one = |(program, ask): &(usize, Ask)| {
            let layouts = match ask {
                Ask::Today => today.clone(),
                Ask::Auto => preferred.map_or_else(|| today.clone(), <[Layout]>::to_vec),
                Ask::Layouts(layouts) => layouts.values().cloned().collect(),
            };
            Some(answer(*program, &layouts))
        };
        asks.iter().map(one).collect()
    };
    search(arrays, programs, options, &mut compile)
}

fn cycles(found: &Found, programs: &[Program]) -> [u128; 2] {
    let best = &found.tried[found.best.unwrap()];
    [weighted(programs, &best.programs).unwrap(), weighted(programs, &found.today).unwrap()]
}

#[test]
fn nothing_is_worse_than_today_and_nothing_that_was_not_taken_is_best() {
    for seed in 0..60 {
        let arrays = shared(&["bf16[16,256,8,128]", "f32[4,1,300]"][..1 + seed as usize % 2], 2);
        let programs = programs(&[1, 7]);
        let today: Vec<Layout> = arrays.iter().map(|array| array.array.layout().clone()).collect();
        let answer = |program: usize, layouts: &[Layout]| {
            let text = layouts.iter().map(ToString::to_string).collect::<String>();
            let start =
                text.bytes().fold(seed + program as u64 * 1000, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte));
            let mut numbers = Numbers(start);
            let is_today = layouts == today;
            match numbers.next(6) {
                0 if !is_today => Err("refused".to_owned()),
                // A program with other layouts than requested, and with a cost of 0.
                1 if !is_today => {
                    let others: Vec<Layout> =
                        arrays.iter().map(|array| Layout::descending(array.array.num_dimensions())).collect();
                    Ok(measured(&arrays, &others, 1, 1))
                }
                _ => Ok(measured(&arrays, layouts, 100 + numbers.next(50), numbers.next(9))),
            }
        };
        let found = found(&arrays, &programs, &OPTIONS, None, &answer).unwrap();
        let [best, now] = cycles(&found, &programs);
        assert!(best <= now && best > 10, "{seed}");
        assert!(found.tried[found.best.unwrap()].taken, "{seed}");
        // If nothing is better than today's layouts, they are kept, unless others take fewer bytes.
        if best == now {
            let bytes = |measured: &[Measured]| measured.iter().map(|measured| measured.bytes).max();
            let tried = &found.tried[found.best.unwrap()];
            assert!(
                Some(&tried.choice) == found.today_choice.as_ref() || bytes(&tried.programs) < bytes(&found.today),
                "{seed}"
            );
        }
    }
}

/// How many pairs of dimensions have the opposite order in the best layout. Every order but the best one has a neighbour that is closer to it.
fn distance(layout: &Layout, best: &[usize]) -> u64 {
    let place = |dimension: &usize| best.iter().position(|other| other == dimension).unwrap();
    let places: Vec<usize> = layout.minor_to_major().iter().map(place).collect();
    let pairs = (0..places.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    pairs.filter(|&(j, i)| places[j] > places[i]).count() as u64
}

#[test]
fn where_neighbours_lead_the_best_of_all_is_found() {
    for (number, shape) in ["bf16[256,384,128,640]", "f32[128,256,384]", "s8[512,256]"].iter().enumerate() {
        for seed in 0..20 {
            let mut numbers = Numbers(seed + 100 * number as u64);
            let arrays = shared(&[shape], 2);
            let mut best: Vec<usize> = (0..arrays[0].array.num_dimensions()).collect();
            for place in (1..best.len()).rev() {
                best.swap(place, numbers.next(place as u64 + 1) as usize);
            }
            let programs = programs(&[1, 2]);
            let answer =
                |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, 100 + distance(&layouts[0], &best), 1));
            let search = |all| found(&arrays, &programs, &Options { all, ..OPTIONS }, None, &answer).unwrap();
            let (quick, all) = (search(false), search(true));
            assert_eq!(cycles(&quick, &programs), cycles(&all, &programs), "{shape} {best:?}");
            assert_eq!(quick.tried[quick.best.unwrap()].choice[0].minor_to_major(), best, "{shape}");
            assert!(quick.compiles <= all.compiles);
            assert_eq!(all.tried.len(), (1..=best.len()).product::<usize>(), "{shape}");
        }
    }
}

#[test]
fn a_preferred_layout_is_tried_at_once() {
    let arrays = shared(&["bf16[256,384,128,640]"], 1);
    let programs = programs(&[1]);
    let preferred: Layout = "{0,1,2,3:T(8,128)(2,1)}".parse().unwrap();
    let answer =
        |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, 100 + distance(&layouts[0], &[0, 1, 2, 3]), 1));
    let found = found(&arrays, &programs, &OPTIONS, Some(std::slice::from_ref(&preferred)), &answer).unwrap();
    assert_eq!(found.tried[found.best.unwrap()].choice, std::slice::from_ref(&preferred));
    // Tried: today's layout, the preferred one, and its neighbours. The compiler's choice is one more compilation, but no row: it is the same
    // program as with the preferred layout.
    assert_eq!((found.compiles, found.tried.len()), (6, 5));
    // If the limit leaves no compilation with requested layouts, the compiler's own choice is the result.
    let options = Options { most: Some(2), ..OPTIONS };
    let found =
        super::tests::found(&arrays, &programs, &options, Some(std::slice::from_ref(&preferred)), &answer).unwrap();
    let best = &found.tried[found.best.unwrap()];
    assert_eq!((found.compiles, &best.choice, best.auto.as_slice()), (2, &vec![preferred], &[0][..]));
}

/// Two programs share one array; for the first program, the compiler chooses columns. That program then takes `auto` cycles. It takes `explicit`
/// cycles if columns are requested, and 1000 as it is. The second program takes 10 cycles with any layout.
fn with_auto(auto: u64, explicit: Result<u64, &str>) -> Tuning {
    let arrays = shared(&["f32[128,256]"], 2);
    let programs = programs(&[1, 1]);
    let today = arrays[0].array.layout().clone();
    let columns: Layout = "{0,1:T(8,128)}".parse().unwrap();
    let mut compile = |asks: &[(usize, Ask)]| {
        let one = |(program, ask): &(usize, Ask)| {
            let (layout, cycles) = match (ask, program) {
                (Ask::Layouts(layouts), 0) => (&layouts[&0], explicit?),
                (Ask::Layouts(layouts), _) => (&layouts[&0], 10),
                (Ask::Auto, 0) => (&columns, auto),
                (Ask::Today, 0) => (&today, 1000),
                _ => (&today, 10),
            };
            Ok(measured(&arrays, std::slice::from_ref(layout), cycles, 1))
        };
        asks.iter().map(|ask| Some(one(ask).map_err(str::to_owned))).collect()
    };
    crate::search(&arrays, &programs, &OPTIONS, &mut compile).unwrap()
}

#[test]
fn what_the_compiler_chooses_and_its_layouts_are_two_programs() {
    let columns = "{0,1:T(8,128)}";
    let row = |auto: &[&str], cycles: Option<u64>| (auto.iter().map(ToString::to_string).collect::<Vec<_>>(), cycles);
    let rows = |tuning: &Tuning| {
        let rows = tuning.tried.iter().filter(|row| row.layouts["x0"] == columns);
        rows.map(|row| (row.auto.clone(), row.cost.amount.and_then(Amount::cycles))).collect::<Vec<_>>()
    };
    // The compiler's own choice costs less than today; requesting the same layouts costs more than today.
    let tuning = with_auto(700, Ok(1100));
    assert_eq!(rows(&tuning), [row(&[], Some(1110)), row(&["p0"], Some(710))]);
    assert_eq!(
        tuning.explicit(&tuning.tried[tuning.best_entry.unwrap()]).unwrap().cost.amount,
        Some(Amount::Cycles(1110))
    );
    assert!(!tuning.keep && tuning.tried[tuning.best_entry.unwrap()].auto == ["p0"]);
    // The opposite: requesting the layouts costs less than the compiler's own choice.
    let tuning = with_auto(900, Ok(600));
    assert_eq!(rows(&tuning), [row(&[], Some(610)), row(&["p0"], Some(910))]);
    assert!(tuning.tried[tuning.best_entry.unwrap()].auto.is_empty());
    // Both cost more than today.
    assert!(with_auto(1200, Ok(1100)).keep);
    // The compiler refuses the requested layouts: only its own choice has a figure.
    let tuning = with_auto(700, Err("no"));
    assert_eq!(rows(&tuning), [row(&[], None), row(&["p0"], Some(710))]);
    assert!(tuning.explicit(&tuning.tried[tuning.best_entry.unwrap()]).is_none());
    assert_eq!(tuning.tried[tuning.best_entry.unwrap()].auto, ["p0"]);
    // Both give the same program, so there is one row.
    assert_eq!(rows(&with_auto(700, Ok(700))), [row(&[], Some(710))]);
}

#[test]
fn todays_layouts_may_be_better_where_the_compiler_chooses_them() {
    let arrays = shared(&["f32[128,256]"], 1);
    let programs = programs(&[1]);
    let today = arrays[0].array.layout().clone();
    for (auto, keep) in [(90, false), (100, true), (110, true)] {
        let mut compile = |asks: &[(usize, Ask)]| {
            let one = |ask: &Ask| match ask {
                Ask::Layouts(layouts) => measured(&arrays, &[layouts[&0].clone()], 200, 1),
                Ask::Auto => measured(&arrays, std::slice::from_ref(&today), auto, 1),
                Ask::Today => measured(&arrays, std::slice::from_ref(&today), 100, 1),
            };
            asks.iter().map(|(_, ask)| Some(Ok(one(ask)))).collect()
        };
        let tuning = crate::search(&arrays, &programs, &OPTIONS, &mut compile).unwrap();
        let best = &tuning.tried[tuning.best_entry.unwrap()];
        assert_eq!((tuning.keep, best.auto.len()), (keep, usize::from(!keep)), "{auto}");
        assert_eq!(best.cost.amount, Some(Amount::Cycles(auto.min(100))));
    }
}

#[test]
fn weights_decide() {
    let arrays = shared(&["f32[128,256]"], 2);
    let rows = |layout: &Layout| layout.minor_to_major() == [1, 0];
    // One program prefers rows by 10 cycles, the other one columns by 30.
    let answer = |program: usize, layouts: &[Layout]| {
        let more = match (program, rows(&layouts[0])) {
            (0, false) => 10,
            (1, true) => 30,
            _ => 0,
        };
        Ok(measured(&arrays, layouts, 100 + more, 1))
    };
    for (weights, expected) in [([1, 1], false), ([3, 1], true), ([4, 1], true), ([1, 100], false)] {
        let programs = programs(&weights);
        let found = found(&arrays, &programs, &OPTIONS, None, &answer).unwrap();
        // With weights of 3 and 1, both layouts cost the same, so today's layout stays.
        assert_eq!(rows(&found.tried[found.best.unwrap()].choice[0]), expected, "{weights:?}");
    }
}

#[test]
fn every_combination_is_asked_once_of_each_program() {
    let mut arrays = shared(&["f32[128,256,384]", "f32[256,128,512]"], 2);
    // The second program has only the first array, so many combinations give the same second program.
    arrays[1].places.truncate(1);
    let programs = programs(&[1, 1]);
    let mut asked = Vec::new();
    let mut compile = |asks: &[(usize, Ask)]| {
        asked.extend_from_slice(asks);
        let one = |(program, ask): &(usize, Ask)| {
            let mut layouts: Vec<Layout> = arrays.iter().map(|array| array.array.layout().clone()).collect();
            if let Ask::Layouts(wanted) = ask {
                wanted.iter().for_each(|(&number, layout)| layouts[number] = layout.clone());
            }
            Some(Ok(measured(&arrays, &layouts, 100 + *program as u64, 1)))
        };
        asks.iter().map(one).collect()
    };
    let options = Options { all: true, ..OPTIONS };
    let found = search(&arrays, &programs, &options, &mut compile).unwrap();
    assert_eq!(found.tried.len(), 36);
    // For both programs, today's layouts and the compiler's choice: 4. Then the other 35 combinations of the first program, and the other 5 layouts
    // of the second.
    assert_eq!((found.compiles, asked.len()), (44, 44));
    assert_eq!(asked.iter().collect::<std::collections::HashSet<_>>().len(), asked.len());
}

#[test]
fn limits_hold() {
    let arrays = shared(&["f32[128,256,384]"], 1);
    let programs = programs(&[1]);
    let answer = |_: usize, layouts: &[Layout]| {
        let away = distance(&layouts[0], &[0, 1, 2]);
        Ok(measured(&arrays, layouts, 100 + away, 100 - away))
    };
    let best = |most: u64| {
        let options = Options { at_most_bytes: Some(most), all: true, ..OPTIONS };
        let found = found(&arrays, &programs, &options, None, &answer).unwrap();
        found.best.map(|best| found.tried[best].programs[0].bytes)
    };
    assert_eq!((best(100), best(98), best(97), best(96)), (Some(100), Some(98), Some(97), None));
    for most in 0..8 {
        let options = Options { most: Some(most), ..OPTIONS };
        let found = found(&arrays, &programs, &options, None, &answer).unwrap();
        assert!(found.compiles <= most.max(2), "{most}");
        assert!(found.best.is_some());
    }
    let arrays = shared(&["f32[2,3,4,5]"; 4], 1);
    let answer = |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, 1, 1));
    let many = found(&arrays, &programs, &Options { all: true, ..OPTIONS }, None, &answer);
    assert!(matches!(many, Err(TuneError::TooMany { combinations: Some(_) })), "{many:?}");
}

#[test]
fn where_the_caller_ends_the_search_the_best_so_far_is_the_answer() {
    let arrays = shared(&["bf16[256,384,128,640]"], 2);
    let programs = programs(&[1, 2]);
    let today = arrays[0].array.layout().clone();
    let run = |most: usize, all: bool| {
        let mut rest = most;
        let mut compile = |asks: &[(usize, Ask)]| {
            let one = |(_, ask): &(usize, Ask)| {
                rest = rest.checked_sub(1)?;
                let layout = if let Ask::Layouts(layouts) = ask { &layouts[&0] } else { &today };
                let layouts = std::slice::from_ref(layout);
                Some(Ok(measured(&arrays, layouts, 100 + distance(layout, &[0, 1, 2, 3]), 1)))
            };
            asks.iter().map(one).collect()
        };
        search(&arrays, &programs, &Options { all, ..OPTIONS }, &mut compile)
    };
    for all in [false, true] {
        let whole = run(1000, all).unwrap();
        assert!(!whole.is_cut && !whole.is_ended);
        for most in 0..whole.compiles {
            let found = run(most, all);
            // The first two compilations are those of each program as it is. Without them, nothing can be compared.
            if most < 2 {
                assert!(matches!(found, Err(TuneError::Unfinished { .. })), "{most}");
                continue;
            }
            let found = found.unwrap();
            assert_eq!((found.compiles, found.is_cut, found.is_ended), (most, true, true));
            // Only choices with a result for each program are shown.
            assert!(found.tried.iter().all(|tried| tried.error.is_none() && tried.programs.len() == 2), "{most}");
            let [best, now] = cycles(&found, &programs);
            assert!(best <= now && cycles(&whole, &programs)[0] <= best, "{most}");
        }
    }
}

#[test]
fn with_memories_every_combination_counts_for_each_of_them() {
    // 24 * 24 layouts, 4 choices of memories: below and above the limit.
    let programs = programs(&[1]);
    let both = |shapes: &[&str]| {
        let arrays = shared(shapes, 1);
        arrays.into_iter().map(|array| array.with_memories(Memory::ALL.to_vec())).collect::<Vec<_>>()
    };
    let options = Options { all: true, ..OPTIONS };
    let arrays = both(&["f32[16,24,32,40]", "f32[16,24,32]", "f32[16,24,32]", "f32[16,24]"]);
    let answer = |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, 1, 1));
    let many = found(&arrays, &programs, &options, None, &answer);
    // Without the memories, there are 24 * 6 * 6 * 2 = 1,728 combinations.
    assert_eq!(many.err(), Some(TuneError::TooMany { combinations: Some(1728 * 16) }));
    let arrays = both(&["f32[16,24]", "f32[24,16]"]);
    let answer = |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, 1, 1));
    let few = found(&arrays, &programs, &options, None, &answer).unwrap();
    assert_eq!(few.tried.len(), 4 * 4);
}

#[test]
fn where_the_memory_differs_from_todays_no_cycles_are_compared() {
    let programs = programs(&[1]);
    for memory in Memory::ALL {
        let arrays: Vec<_> =
            shared(&["f32[128,256]"], 1).into_iter().map(|array| array.with_memories(vec![memory])).collect();
        let today = arrays[0].array.layout().clone();
        let mut compile = |asks: &[(usize, Ask)]| {
            let one = |(_, ask): &(usize, Ask)| match ask {
                Ask::Layouts(layouts) => measured(&arrays, &[layouts[&0].clone()], 50, 3_000),
                _ => measured(&arrays, std::slice::from_ref(&today), 100, 4_000),
            };
            asks.iter().map(|ask| Some(Ok(one(ask)))).collect()
        };
        let tuning = crate::search(&arrays, &programs, &OPTIONS, &mut compile).unwrap();
        assert_eq!(tuning.moved, memory == Memory::PinnedHost);
    }
}

#[test]
fn a_program_that_does_not_compile_or_has_no_cycles_is_said() {
    let arrays = shared(&["f32[128,256]"], 1);
    let programs = programs(&[1]);
    let refused = found(&arrays, &programs, &OPTIONS, None, &|_, _| Err("no".to_owned())).unwrap_err();
    assert_eq!(refused.to_string(), "p0 does not compile as it is: no");
    let without = |_: usize, layouts: &[Layout]| {
        let mut measured = measured(&arrays, layouts, 1, 1);
        measured.cost = None;
        Ok(measured)
    };
    let without = found(&arrays, &programs, &OPTIONS, None, &without).unwrap_err();
    let words = "the compiler does not say what p0 costs, so layouts cannot be compared";
    assert_eq!(without.to_string(), words);
    // The search ends before there is an answer.
    let silent = search(&arrays, &programs, &OPTIONS, &mut |_| Vec::new()).unwrap_err();
    let words = "no result yet, because the search ended before p0 was compiled with today's layouts";
    assert_eq!(silent.to_string(), words);
    let none: BTreeMap<usize, Layout> = BTreeMap::new();
    assert!(Ask::Layouts(none).places(&arrays, 0).is_empty());
}

#[test]
fn after_a_small_gain_the_other_neighbours_of_the_start_are_tried() {
    let arrays = shared(&["f32[128,256,384,512]"], 1);
    let programs = programs(&[1]);
    // The first better neighbour gains little and has no better neighbours. The next neighbour of the start is the best.
    let answer = |first: u64| {
        move |order: &[usize]| match order {
            [3, 2, 1, 0] => 1000,
            [3, 1, 2, 0] => first,
            [3, 2, 0, 1] => 900,
            _ => 2000,
        }
    };
    for (first, best) in [(980, [3, 2, 0, 1]), (950, [3, 1, 2, 0])] {
        let cycles = answer(first);
        let compile =
            |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, cycles(layouts[0].minor_to_major()), 1));
        let found = found(&arrays, &programs, &OPTIONS, None, &compile).unwrap();
        assert_eq!(found.tried[found.best.unwrap()].choice[0].minor_to_major(), best);
    }
}

#[test]
fn other_tiles_are_tried_if_that_is_wanted() {
    let arrays = shared(&["bf16[256,384]"], 1);
    let programs = programs(&[1]);
    let best: Layout = "{1,0:T(16,128)(2,1)}".parse().unwrap();
    let compile = |_: usize, layouts: &[Layout]| Ok(measured(&arrays, layouts, 9 - u64::from(layouts[0] == best), 1));
    for (all, tilings, compiles) in [(false, false, 3), (true, false, 3), (false, true, 4), (true, true, 5)] {
        let options = Options { all, tilings, ..OPTIONS };
        let found = found(&arrays, &programs, &options, None, &compile).unwrap();
        let layout = &found.tried[found.best.unwrap()].choice[0];
        assert_eq!((*layout == best, found.compiles), (tilings, compiles), "{all}");
    }
}

#[test]
fn figures_of_several_compilers_are_not_compared_in_silence() {
    let arrays = shared(&["f32[128,256]"], 1);
    let programs = programs(&[1]);
    let today: Vec<Layout> = vec![arrays[0].array.layout().clone()];
    for others in [["a", "a"], ["a", "b"]] {
        let mut compile = |asks: &[(usize, Ask)]| {
            let one = |(_, ask): &(usize, Ask)| match ask {
                Ask::Layouts(layouts) => measured(&arrays, &[layouts[&0].clone()], 1, 1).with_compiler(others[1]),
                _ => measured(&arrays, &today, 2, 1).with_compiler(others[0]),
            };
            asks.iter().map(|ask| Some(Ok(one(ask)))).collect()
        };
        let tuning = crate::search(&arrays, &programs, &OPTIONS, &mut compile).unwrap();
        let note = "Compilers of several versions made the figures, so they should not be compared.";
        assert_eq!(tuning.notes.iter().any(|own| own == note), others[0] != others[1]);
        let expected: &[&str] = if others[0] == others[1] { &["a"] } else { &["a", "b"] };
        assert_eq!(tuning.search.compilers, expected);
        assert_eq!(tuning.arrays[0].preferred[0].layout, "{1,0:T(8,128)}");
    }
}

#[test]
fn arrays_that_are_alike_are_tried_together() {
    let programs = programs(&[1]);
    let same = ["s8[256,384,128,640]"; 2];
    let mut other_role = shared(&same, 1);
    other_role[1].places = vec![(0, Place::Parameter(1, vec![])), (0, Place::Parameter(2, vec![]))];
    let other_size = shared(&["s8[256,384,128,640]", "s8[384,256,128,640]"], 1);
    for (arrays, finds) in [(shared(&same, 1), true), (other_role, false), (other_size, false)] {
        let today = arrays[0].array.layout().clone();
        // If both have the same order, the cost falls as it gets closer to the best order. If only one array changes, the cost is higher than today.
        let mut compile = |asks: &[(usize, Ask)]| {
            let one = |(_, ask): &(usize, Ask)| {
                let layouts = match ask {
                    Ask::Layouts(layouts) => layouts.values().cloned().collect(),
                    _ => vec![today.clone(); 2],
                };
                let orders = [&layouts[0], &layouts[1]].map(Layout::minor_to_major);
                let alone = if orders[0] == orders[1] { 0 } else { 50 };
                let cycles = 100 + alone + distance(&layouts[0], &[1, 3, 2, 0]) + distance(&layouts[1], &[1, 3, 2, 0]);
                // The second array is also the third parameter.
                let (arrays, layouts): (Vec<_>, Vec<_>) =
                    [0, 1, 1].iter().map(|&array| (arrays[array].clone(), layouts[array].clone())).unzip();
                Some(Ok(measured(&arrays, &layouts, cycles, 1)))
            };
            asks.iter().map(one).collect()
        };
        let found = search(&arrays, &programs, &OPTIONS, &mut compile).unwrap();
        let best = &found.tried[found.best.unwrap()].choice;
        let orders: Vec<_> = best.iter().map(Layout::minor_to_major).collect();
        let expected: &[usize] = if finds { &[1, 3, 2, 0] } else { &[3, 2, 1, 0] };
        assert_eq!(orders, [expected; 2]);
    }
}
