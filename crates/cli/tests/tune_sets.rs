//! Compares the search of `xla-shape tune` with recorded answers of the TPU compiler about all combinations.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use xla_shape::{Layout, Shape};
use xla_shape_answers::cost::Amount;
use xla_shape_corpus::corpus;
use xla_shape_pjrt::Slice;
use xla_shape_tune::{Ask, Figures, Measured, Options, Place, Program, SharedArray};

/// Searches with the recorded answers of a set in place of the compiler. A program may prefer several layouts for an array. So that the compiler's
/// own choice can contain all of them, each array is several parameters of each program: one for each preferred layout.
fn replay(row: &Value, all: bool) -> Value {
    let list = |value: &Value| value.as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names: Vec<String> =
        list(&row["share"]).iter().map(|share| text(share).split_once('=').unwrap().0.to_owned()).collect();
    let programs: Vec<Program> = list(&row["programs"])
        .iter()
        .map(|program| Program { name: text(&program[0]), weight: program[1].as_u64().unwrap() as u32 })
        .collect();
    let preferred = |name: &String, program: usize| {
        let all = list(&row["preferred"][name]).into_iter().filter(|one| text(&one[0]) == programs[program].name);
        all.map(|one| text(&one[1]).parse::<Layout>().unwrap()).collect::<Vec<_>>()
    };
    let each = |name: &String| (0..programs.len()).map(|program| preferred(name, program).len()).max().unwrap().max(1);
    let places = names.iter().map(each).max().unwrap();
    let array = |(number, name): (usize, &String)| {
        let parameters = (number * places..(number + 1) * places).map(|number| Place::Parameter(number, Vec::new()));
        let place = |program: usize| parameters.clone().map(move |parameter| (program, parameter));
        let array = text(&row["arrays"][number]) + &text(&row["today"]["layouts"][name]);
        SharedArray {
            name: name.clone(),
            places: (0..programs.len()).flat_map(place).collect(),
            array: array.parse().unwrap(),
            memories: Vec::new(),
        }
    };
    let arrays: Vec<SharedArray> = names.iter().enumerate().map(array).collect();
    let answer = |program: usize, ask: &Ask| {
        let own = arrays.iter().map(|array| vec![array.array.layout().clone()]);
        let layouts: Vec<Vec<Layout>> = match ask {
            Ask::Today => own.collect(),
            Ask::Auto => {
                let preferred = names.iter().map(|name| preferred(name, program));
                preferred.zip(own).map(|(all, own)| if all.is_empty() { own } else { all }).collect()
            }
            Ask::Layouts(layouts) => layouts.values().map(|layout| vec![layout.clone()]).collect(),
        };
        let named: BTreeMap<_, _> =
            names.iter().zip(&layouts).map(|(name, layouts)| (name, layouts[0].to_string())).collect();
        // Use the program that the compiler made when it chose the layouts, if that differs from the program with requested layouts.
        let name = json!(programs[program].name);
        let is_other = |auto: &Value| *ask == Ask::Auto && auto[5].as_array().unwrap().contains(&name);
        let auto = list(&row["auto"]).into_iter().filter(is_other);
        let mut tried = auto.chain(list(&row["tried"])).filter(|tried| tried[0] == json!(named));
        let tried = tried.next();
        let tried = tried.ok_or("it is not in the table")?;
        let cycles = tried[4][program].as_u64().ok_or("it was not taken")?;
        let at = |layouts: &[Layout], place: usize| layouts.get(place).unwrap_or(&layouts[0]).clone();
        let inputs = arrays.iter().zip(layouts).flat_map(|(array, layouts)| {
            (0..places).map(move |place| Shape::Array(array.array.clone().with_layout(at(&layouts, place)).unwrap()))
        });
        let inputs: Vec<Shape> = inputs.collect();
        let figures =
            Figures { cost: Some(Amount::Cycles(cycles)), bytes: tried[2].as_u64().unwrap(), ..Figures::default() };
        Ok(Measured::new(figures, &inputs, &[]))
    };
    let generation = row["for"].as_str().unwrap().parse::<Slice>().unwrap().generation();
    let options = Options { generation: Some(generation), all, tilings: false, at_most_bytes: None, most: None };
    let mut compile = |asks: &[(usize, Ask)]| asks.iter().map(|(program, ask)| Some(answer(*program, ask))).collect();
    serde_json::to_value(xla_shape_tune::search(&arrays, &programs, &options, &mut compile).unwrap()).unwrap()
}

/// The TPU compiler's answers about every combination of layouts, for sets of programs, recorded by `scripts/tune_sets.py`.
#[test]
fn searches_find_what_every_combination_shows() {
    let rows: Vec<Value> = corpus("tune_sets.jsonl");
    let cycles = |row: &Value, field: &str| row[field]["cycles"].as_u64().unwrap();
    assert!(rows.len() >= 30);
    for row in &rows {
        let least = row["tried"].as_array().unwrap().iter().filter_map(|tried| tried[1].as_u64()).min();
        assert_eq!(Some(cycles(row, "best")), least, "{}", row["set"]);
        assert!(cycles(row, "search") <= cycles(row, "today"), "{}", row["set"]);
        assert!(row["search"]["compiles"].as_u64() <= row["compiles"].as_u64(), "{}", row["set"]);
        let best = |answer: &Value| answer["tried"][answer["best_entry"].as_u64().unwrap() as usize].clone();
        let (all, search) = (best(&replay(row, true)), replay(row, false));
        let quick = best(&search);
        assert_eq!(search["compiles"], row["search"]["compiles"], "{}", row["set"]);
        assert_eq!([&all["cycles"], &all["bytes"]], [&row["best"]["cycles"], &row["best"]["bytes"]], "{}", row["set"]);
        assert_eq!(quick["cycles"], row["search"]["cycles"], "{}", row["set"]);
    }
    // At most one search misses the best choice, and its result is within one percent of the best.
    let missed: Vec<_> = rows.iter().filter(|row| cycles(row, "search") > cycles(row, "best")).collect();
    assert!(missed.len() <= 1, "{missed:?}");
    assert!(missed.iter().all(|row| cycles(row, "search") * 100 <= cycles(row, "best") * 101), "{missed:?}");
    // No best layout takes more than twice the fewest bytes. So the search may leave out larger layouts.
    let mut choices = 0;
    for row in &rows {
        let mut padded = BTreeSet::new();
        for (share, shape) in row["share"].as_array().unwrap().iter().zip(row["arrays"].as_array().unwrap()) {
            let name = share.as_str().unwrap().split_once('=').unwrap().0;
            let bytes = |layouts: &Value| {
                let text = shape.as_str().unwrap().to_owned() + layouts[name].as_str().unwrap();
                text.parse::<Shape>().unwrap().array().unwrap().byte_size().unwrap()
            };
            let tried = row["tried"].as_array().unwrap();
            let least = tried.iter().map(|tried| bytes(&tried[0])).min().unwrap();
            assert!(bytes(&row["best"]["layouts"]) <= 2 * least, "{}", row["set"]);
            padded.extend((0..tried.len()).filter(|entry| bytes(&tried[*entry][0]) > 2 * least));
        }
        // The larger layouts cost much more than the best and today's.
        for cost in padded.iter().map(|entry| row["tried"][entry][1].as_u64().unwrap()) {
            assert!(cost * 100 >= cycles(row, "best") * 120, "{} {cost}", row["set"]);
            assert!(cost * 100 >= cycles(row, "today") * 115, "{} {cost}", row["set"]);
        }
        choices += padded.len();
    }
    assert_eq!(choices, 618);
    // (0,2,3,1) is the order that MaxText measured as the best on hardware.
    let maxtext = rows.iter().find(|row| row["set"] == "maxtext").unwrap();
    assert_eq!(maxtext["search"]["layouts"], json!({"kv": "{1,3,2,0:T(32,128)(4,1)}"}));
    assert!(maxtext["search"]["compiles"].as_u64().unwrap() <= 7);
    // The search compiles each program only a few times.
    for row in &rows {
        let programs = row["programs"].as_array().unwrap().len() as u64;
        let compiles = |row: &Value| row["compiles"].as_u64().unwrap();
        match row["arrays"].as_array().unwrap().len() {
            // The first better swap gains little there, so the other swaps are tried too.
            1 if row["set"] == "filters" => assert_eq!(compiles(&row["search"]), 8 * programs),
            1 => assert!(compiles(&row["search"]) <= 7 * programs, "{}", row["set"]),
            // Of many combinations, at most one in twenty is compiled.
            _ => assert!(compiles(&row["search"]) <= (compiles(row) / 20).max(6), "{}", row["set"]),
        }
    }
}

/// The same step, with its two caches as two arrays. If only one of them has the best order, that gains little or nothing. So similar arrays are
/// first tried together, all in the same order.
#[test]
fn two_caches_that_are_alike_get_the_order_that_is_the_best_for_both() {
    let [row] = &corpus::<Value>("tune_alike.json")[..] else { panic!("one row") };
    let answer = replay(row, false);
    let best = &answer["tried"][answer["best_entry"].as_u64().unwrap() as usize];
    // (0,2,3,1), from major to minor.
    let order = "{1,3,2,0:T(32,128)(4,1)}";
    assert_eq!((&best["layouts"], &best["cycles"]), (&json!({"kv": order, "kw": order}), &json!(1_224_170)));
    let recorded = row["tried"].as_array().unwrap();
    let least = recorded.iter().filter_map(|tried| tried[1].as_u64()).min();
    assert_eq!(best["cycles"].as_u64(), least);
    // The search asked only for compilations that are recorded.
    assert_eq!(answer["tried"].as_array().unwrap().len(), recorded.len());
    assert_eq!(answer["compiles"], row["compiles"]);
}
