//! Sums of the compiler's cycles agree with slow, independent ones.

use std::collections::{BTreeMap, BTreeSet};
use xla_shape_answers::Answer;
use xla_shape_answers::cost::{Amount, NoTotal, ProgramCost};
use xla_shape_hlo::cost::Figure;
use xla_shape_hlo::{Computation, Instruction, Module, Opcode};
use xla_shape_render::Show;
use xla_shape_tests::{corpus, hlo_modules};

/// The figures in a text, found without reading it as HLO.
fn figures(text: &str) -> impl Iterator<Item = u64> {
    let figure = |rest: &str| rest.split_once('"').unwrap().0.parse().unwrap();
    text.split("\"estimated_cycles\":\"").skip(1).map(figure)
}

/// The computations whose instructions run one after the other: the entry, and what loops, conditionals, calls and asynchronous operations call.
fn running(module: &Module) -> BTreeSet<&str> {
    let mut found: BTreeSet<&str> = module.entry().iter().map(|entry| entry.name()).collect();
    let mut open: Vec<&str> = found.iter().copied().collect();
    while let Some(name) = open.pop() {
        for instruction in module.computation(name).unwrap().instructions() {
            let keys: &[&str] = match instruction.opcode() {
                Opcode::While => &["condition", "body"],
                Opcode::Conditional => &["branch_computations", "true_computation", "false_computation"],
                Opcode::Call => &["to_apply"],
                Opcode::AsyncStart => &["calls"],
                _ => &[],
            };
            let called = keys.iter().filter_map(|key| instruction.attribute(key)?.names().ok());
            open.extend(called.flatten().filter(|called| found.insert(called)));
        }
    }
    found
}

#[test]
fn every_figure_counts_once() {
    let (mut known, mut flagged, mut without) = (0, 0, Vec::new());
    for row in hlo_modules() {
        let module = Module::parse(&row.text).unwrap();
        let costs = module.costs().unwrap();
        let cycles = costs.total();
        // Figures of instructions inside of fusions and of reducers do not count: those of the instructions that call them do.
        let running = running(&module);
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for instruction in module.instructions() {
            let Some(config) = instruction.attribute("backend_config") else { continue };
            let runs = running.contains(instruction.computation().name());
            let place = if runs { &mut outside } else { &mut inside };
            place.extend(figures(&config.unquoted().unwrap()));
        }
        assert_eq!(inside.len() + outside.len(), figures(&row.text).count(), "{}", row.module);
        let said: Vec<u64> = outside.iter().copied().filter(|&figure| figure != i64::MAX as u64).collect();
        assert_eq!(cycles.known, said.len(), "{}", row.module);
        assert_eq!(cycles.once, (!said.is_empty()).then(|| said.iter().sum()), "{}", row.module);
        assert_eq!(cycles.flagged, outside.len() - said.len(), "{}", row.module);
        known += cycles.known;
        flagged += cycles.flagged;
        assert!(!cycles.is_partial, "{}", row.module);
        if outside.len() < inside.len() {
            assert_eq!((cycles.once, cycles.total), (None, None));
            without.push(row.module);
        }
    }
    assert_eq!((known, flagged), (1915, 2));
    // Modules that XLA dumped to files have figures inside of fusions only; the compiler returned the others.
    assert_eq!(without, ["v5p__scatter_gather_sort__dump.hlo", "v6e__scatter_gather_sort__dump.hlo"]);
}

/// Where most fusions have no figure, the sum of the others says nothing about the program.
#[test]
fn figures_of_few_fusions_have_no_total() {
    let fused = "f { q = f32[8]{0} parameter(0) ROOT n = f32[8]{0} negate(q) }\n";
    let cost = |fusions: usize| {
        let fusion = |number: usize| format!("  b{number} = f32[8]{{0}} fusion(a), kind=kLoop, calls=f\n");
        let known = "  c = f32[8]{0} copy(a), backend_config={\"window_config\":{\"estimated_cycles\":\"7\"}}\n";
        let fusions: String = (0..fusions).map(fusion).collect();
        let text = format!("HloModule m\n{fused}ENTRY e {{\n  a = f32[8]{{0}} parameter(0)\n{fusions}{known}}}\n");
        ProgramCost::new(&Module::parse(&text).unwrap()).unwrap().sums
    };
    assert_eq!((cost(0).total, cost(0).why_no_total()), (Some(Amount::Cycles(7)), None));
    assert_eq!((cost(1).total, cost(1).why_no_total()), (None, Some(NoTotal::PartialCycles)));
}

/// The cost of one run of a computation: executes each loop iteration by iteration, as often as it says.
fn slow(computation: Computation<'_>, trips: &BTreeMap<u32, u64>) -> u64 {
    let cost = |instruction: Instruction<'_>| {
        let module = instruction.module();
        let called = |name: &str| {
            let value = instruction.attribute(name)?;
            Some(slow(module.computation(value.name().ok()?)?, trips))
        };
        let config = instruction.attribute("backend_config").map(|config| config.unquoted().unwrap());
        let figure =
            config.as_deref().and_then(|config| figures(config).next()).filter(|&cycles| cycles != i64::MAX as u64);
        let inside = match instruction.opcode() {
            Opcode::While => {
                let once = called("condition").unwrap() + called("body").unwrap();
                (0..trips.get(&instruction.number()).copied().unwrap_or(1)).map(|_| once).sum()
            }
            Opcode::Conditional => {
                let branches = instruction.attribute("branch_computations").unwrap().names().unwrap();
                let costs = branches.into_iter().map(|name| slow(module.computation(name).unwrap(), trips));
                costs.max().unwrap()
            }
            Opcode::Call => called("to_apply").unwrap(),
            Opcode::AsyncStart => called("calls").unwrap(),
            _ => 0,
        };
        figure.unwrap_or(0) + inside
    };
    computation.instructions().map(cost).sum()
}

#[test]
fn totals_are_those_of_going_through_every_iteration() {
    let (mut with_loops, mut counted) = (0, 0);
    for row in hlo_modules() {
        let module = Module::parse(&row.text).unwrap();
        let costs = module.costs().unwrap();
        let Some(total) = costs.total().total else { continue };
        let trips = costs.loops().iter().filter_map(|found| Some((found.instruction.number(), found.trips?))).collect();
        assert_eq!(total, slow(module.entry().unwrap(), &trips), "{}", row.module);
        let by_instruction: u64 = costs.instructions().iter().filter_map(|cost| cost.total()).sum();
        assert_eq!(total, by_instruction, "{}", row.module);
        counted += 1;
        with_loops += usize::from(!trips.is_empty());
    }
    assert_eq!((counted, with_loops), (96, 17));
}

/// A loop that runs six times, with a conditional in it.
const LOOP: &str = r#"HloModule m
cheap { p = f32[8]{0} parameter(0)
  ROOT c = f32[8]{0} negate(p), backend_config={"window_config":{"estimated_cycles":"5"}}
}
dear { p = f32[8]{0} parameter(0)
  ROOT c = f32[8]{0} sine(p), backend_config={"window_config":{"estimated_cycles":"50"}}
}
body {
  s = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[8]{0} conditional(i, x, x), branch_computations={cheap, dear}
  z = f32[8]{0} add(y, y), backend_config={"window_config":{"estimated_cycles":"7"}}
  ROOT t = (s32[], f32[8]{0}) tuple(n, z)
}
condition {
  s = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  six = s32[] constant(6)
  ROOT c = pred[] compare(i, six), direction=LT
}
ENTRY e {
  x = f32[8]{0} parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[8]{0}) tuple(zero, x)
  w = (s32[], f32[8]{0}) while(t), condition=condition, body=body
  r = f32[8]{0} get-tuple-element(w), index=1
  ROOT s = f32[8]{0} exponential(r), backend_config={"window_config":{"estimated_cycles":"9223372036854775807"}}
}
"#;

#[test]
fn loops_multiply_and_the_most_expensive_branch_counts() {
    let module = Module::parse(LOOP).unwrap();
    let costs = module.costs().unwrap();
    let cycles = costs.total();
    assert_eq!((cycles.once, cycles.total), (Some(62), Some(6 * 57)));
    assert_eq!((cycles.known, cycles.flagged, cycles.is_partial), (3, 1, false));
    assert_eq!(costs.branches().iter().map(|found| found.branch).collect::<Vec<_>>(), [1]);
    let runs = |name: &str| {
        let mut found = costs.instructions().iter().filter(|cost| cost.instruction.name() == name);
        found.next().unwrap().runs
    };
    assert_eq!((runs("z"), runs("s")), (Some(6), Some(1)));
    let exponential = costs.instructions().last().unwrap();
    assert_eq!((exponential.figure, exponential.total()), (Figure::Flagged, None));
    // The body of a loop whose trip count is not known counts once.
    let dynamic = LOOP.replace("six = s32[] constant(6)", "six = s32[] get-tuple-element(s), index=0");
    let module = Module::parse(&dynamic).unwrap();
    let costs = module.costs().unwrap();
    assert_eq!(costs.total().total, Some(57));
    assert_eq!(costs.loops()[0].trips, None);
}

#[test]
fn sums_that_do_not_fit_are_none() {
    let many = LOOP.replace("s32[]", "s64[]").replace("constant(6)", "constant(9223372036854775807)");
    let module = Module::parse(&many).unwrap();
    let cycles = module.costs().unwrap().total();
    assert_eq!((cycles.once, cycles.total, cycles.has_overflowed), (Some(62), None, true));
    let large = LOOP.replace("\"50\"", "\"9223372036854775806\"").replace("\"7\"", "\"9223372036854775806\"");
    let large = large.replace("\"5\"", "\"9223372036854775806\"");
    let module = Module::parse(&large).unwrap();
    let cycles = module.costs().unwrap().total();
    assert_eq!((cycles.once, cycles.total, cycles.has_overflowed), (None, None, true));
}

#[test]
fn figures_that_are_no_numbers_are_errors_with_a_place() {
    for wrong in ["\"many\"", "\"-1\"", "-1", "1.5", "null", "[1]", "\"9223372036854775808\"", "{}"] {
        let text = LOOP.replace("\"estimated_cycles\":\"50\"", &format!("\"estimated_cycles\":{wrong}"));
        let module = Module::parse(&text).unwrap();
        let error = module.costs().unwrap_err();
        assert!(text[error.span().start..].starts_with("c = f32[8]{0} sine("), "{wrong}");
        assert!(error.to_string().starts_with("c: expected `estimated_cycles` to be a number, found "), "{error}");
    }
    // `estimated_cycles` counts only inside `window_config`, not in another object or inside a string.
    for other in
        [r#"{"other":{"estimated_cycles":"50"}}"#, r#"{"note":"\"window_config\":{\"estimated_cycles\":\"5\"}"}"#]
    {
        let text = LOOP.replace(r#"{"window_config":{"estimated_cycles":"50"}}"#, other);
        let module = Module::parse(&text).unwrap();
        assert_eq!(module.costs().unwrap().total().known, 2, "{other}");
    }
}

#[test]
fn configurations_that_cannot_be_read_are_named() {
    let good = r#"{"window_config":{"estimated_cycles":"50"}}"#;
    for (config, message) in [
        (r#"{"window_config":[1]}"#, "c: expected `window_config` to be an object, found [1]"),
        (
            r#"{"window_config":{"estimated_cycles":"50","iteration_bounds":["8","x"]}}"#,
            "c: expected `iteration_bounds` to be numbers, found [\"8\",\"x\"]",
        ),
        (
            r#""{\"window_config\":{\"estimated_cycles\":}}""#,
            "c: cannot read `window_config`: expected value at line 1 column 21",
        ),
        (r#""{\"window_config\":""#, "c: expected `window_config` to be an object, found the end"),
    ] {
        let text = LOOP.replace(good, config);
        let module = Module::parse(&text).unwrap();
        let costs = module.costs().unwrap();
        let unread: Vec<_> = costs.unread().iter().map(|(_, error)| error.to_string()).collect();
        assert_eq!(unread, [message]);
        // The instruction counts as one without a figure, and the answer says so.
        let before = Module::parse(LOOP).unwrap().costs().unwrap().total();
        assert_eq!((costs.total().known, costs.total().without), (before.known - 1, before.without + 1), "{config}");
        let cost = ProgramCost::new(&module).unwrap();
        let said = cost.text(1000).to_string();
        assert!(said.contains(&format!("The figures of 1 instruction cannot be read: {message}.")), "{said}");
        assert!(cost.json().contains(r#""unread":["c: "#));
    }
    assert!(Module::parse(LOOP).unwrap().costs().unwrap().unread().is_empty());
}

#[test]
fn branches_keep_their_numbers() {
    // A branch that the module does not define has a number, too.
    let text = LOOP
        .replace("branch_computations={cheap, dear}", "branch_computations={missing, cheap, dear}")
        .replace("conditional(i, x, x)", "conditional(i, x, x, x)");
    let module = Module::parse(&text).unwrap();
    let costs = module.costs().unwrap();
    assert_eq!(costs.branches().iter().map(|found| found.branch).collect::<Vec<_>>(), [2]);
    assert_eq!(costs.total().total, Some(6 * 57));
    let runs = |name: &str| {
        let mut found = costs.instructions().iter().filter(|cost| cost.instruction.computation().name() == name);
        found.next().unwrap().runs
    };
    assert_eq!((runs("cheap"), runs("dear")), (Some(0), Some(6)));
}

#[test]
fn circles_of_calls_are_errors() {
    let text = "HloModule m
a { p = f32[8]{0} parameter(0)
  ROOT c = f32[8]{0} call(p), to_apply=b }
b { p = f32[8]{0} parameter(0)
  ROOT c = f32[8]{0} call(p), to_apply=a }
ENTRY e { p = f32[8]{0} parameter(0)
  ROOT c = f32[8]{0} call(p), to_apply=a }
";
    let module = Module::parse(text).unwrap();
    assert_eq!(module.costs().unwrap_err().to_string(), "c: its computation a calls itself");
}

#[test]
fn deep_and_wide_calls_take_time_in_proportion() {
    use std::fmt::Write as _;
    // Each computation calls the one before it twice, so 60 computations have 2^60 runs.
    let mut text = "HloModule m
c0 { p = f32[8]{0} parameter(0)
  ROOT r = f32[8]{0} negate(p), backend_config={\"window_config\":{\"estimated_cycles\":\"3\"}} }
"
    .to_owned();
    for depth in 1..=60 {
        let before = depth - 1;
        writeln!(
            text,
            "c{depth} {{ p = f32[8]{{0}} parameter(0)\n  a = f32[8]{{0}} call(p), to_apply=c{before}\n  \
             ROOT r = f32[8]{{0}} call(a), to_apply=c{before} }}"
        )
        .unwrap();
    }
    text += "ENTRY e { p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} call(p), to_apply=c60 }\n";
    let module = Module::parse(&text).unwrap();
    let costs = module.costs().unwrap();
    assert_eq!(costs.total().total, Some(3 << 60));
    assert_eq!(costs.instructions()[0].runs, Some(1 << 60));
}

/// The copies of a program, each with its change and its remedy.
fn copies(text: &str) -> Vec<(String, String, Option<String>)> {
    let module = Module::parse(text).unwrap();
    let cost = serde_json::from_str::<serde_json::Value>(&ProgramCost::new(&module).unwrap().json()).unwrap();
    let word = |copy: &serde_json::Value, field: &str| copy[field].as_str().map(str::to_owned);
    let copies = cost["copies"].as_array().unwrap().iter();
    copies
        .map(|copy| (word(copy, "instruction").unwrap(), word(copy, "change").unwrap(), word(copy, "remedy")))
        .collect()
}

#[test]
fn what_a_place_has_already_is_no_remedy() {
    // There is no remedy for a bitcast that views a square array in another way, or for a fusion that only changes the memory space. There is one
    // for a fusion that transposes the array.
    let fused = "HloModule m
f { p = f32[128,128]{1,0} parameter(0)
  ROOT t = f32[128,128]{1,0} transpose(p), dimensions={1,0} }
ENTRY e { a = f32[128,128]{1,0} parameter(0)
  m = f32[128,128]{1,0} fusion(a), kind=kLoop, calls=f
  ROOT r = f32[128,128]{1,0} negate(m) }
";
    let remedy = copies(fused).remove(0).2.unwrap();
    assert!(remedy.starts_with("ask for {0,1} at parameter 0; "), "{remedy}");
    let viewed = "HloModule m
ENTRY e { a = f32[128,128]{1,0} parameter(0)
  b = f32[128,128]{0,1} bitcast(a)
  m = f32[128,128]{1,0} copy(b)
  ROOT r = f32[128,128]{1,0} negate(m) }
";
    assert_eq!(copies(viewed), [("m".to_owned(), "layout".to_owned(), None)]);
    let space = fused
        .replace("transpose(p), dimensions={1,0}", "copy(p)")
        .replace("ROOT t = f32[128,128]{1,0}", "ROOT t = f32[128,128]{1,0:S(1)}");
    let space = space.replace("m = f32[128,128]{1,0} fusion", "m = f32[128,128]{1,0:S(1)} fusion");
    assert_eq!(copies(&space), [("m".to_owned(), "memory space".to_owned(), None)]);
    // If a parameter is donated already, donating it is no remedy.
    let donated = "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e { a = f32[8]{0} parameter(0)
  n = f32[8]{0} negate(a)
  c = f32[8]{0} copy(a)
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(n, c) }
";
    assert_eq!(copies(donated), [("c".to_owned(), "nothing".to_owned(), None)]);
    // The remedy keeps the size of the elements, `E(4)`.
    let narrow = "HloModule m
ENTRY e { a = s4[64,128]{1,0:T(8,128)(8,1)E(4)} parameter(0)
  ROOT c = s4[64,128]{0,1:T(8,128)(8,1)E(4)} copy(a) }
";
    let remedy = copies(narrow).remove(0).2.unwrap();
    assert!(remedy.starts_with("ask for {0,1:T(8,128)(8,1)E(4)} at parameter 0; "), "{remedy}");
    // Tiles depend on the size of elements: f32 does not have the tiles of bf16.
    let converting = "HloModule m
ENTRY e { a = f32[64,128]{1,0:T(8,128)} parameter(0)
  c = bf16[64,128]{0,1:T(8,128)(2,1)} copy(a)
  ROOT n = bf16[64,128]{0,1:T(8,128)(2,1)} negate(c) }
";
    let remedy = copies(converting).remove(0).2.unwrap();
    assert_eq!(
        remedy,
        "ask for {0,1:T(8,128)} at parameter 0; in JAX `Format(Layout(major_to_minor=(1, 0)), sharding)`"
    );
}

#[test]
fn remedies_name_the_copy_that_may_stay() {
    let ends = |text: &str| {
        let remedies = copies(text).into_iter().filter_map(|(.., remedy)| remedy);
        let ends = remedies.map(|remedy| remedy.split("sharding)`").nth(1).unwrap().to_owned());
        ends.collect::<Vec<_>>()
    };
    // The fusion reads the array in its present layout and transposed.
    let both = "HloModule m
f { p = f32[8,8]{1,0} parameter(0)
  q = f32[8,8]{0,1} parameter(1)
  t = f32[8,8]{1,0} bitcast(q)
  ROOT s = f32[8,8]{1,0} add(p, t) }
ENTRY e { a = f32[8,8]{1,0} parameter(0)
  b = f32[8,8]{1,0} bitcast(a)
  c = f32[8,8]{0,1} copy(a)
  ROOT s = f32[8,8]{1,0} fusion(b, c), kind=kLoop, calls=f }
";
    assert_eq!(ends(both), ["; %s reads it as it is now, and may then need a copy"]);
    assert_eq!(ends(&both.replace("fusion(b, c)", "fusion(c, c)")), [""]);
    // There are two copies, so nothing reads the array in its present layout.
    let copied = both.replace("bitcast(a)", "copy(a)").replace("b = f32[8,8]{1,0}", "b = f32[8,8]{0,1}");
    assert_eq!(ends(&copied), ["", ""]);
    let returned = "HloModule m
ENTRY e { a = f32[8,8]{1,0} parameter(0)
  c = f32[8,8]{0,1} copy(a)
  n = f32[8,8]{0,1} negate(c)
  ROOT t = (f32[8,8]{0,1}, f32[8,8]{1,0}) tuple(n, a) }
";
    assert_eq!(ends(returned), ["; result 1 is the same array, and may then need a copy"]);
    // A parameter that is also a result needs a second buffer, in any layout.
    let result = "HloModule m
ENTRY e { a = f32[8,8]{1,0} parameter(0)
  ROOT c = f32[8,8]{0,1} copy(a) }
";
    assert_eq!(ends(result), ["; a copy stays unless parameter 0 is donated, because it is a result as well"]);
    assert_eq!(
        ends(&result.replace("HloModule m", "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }")),
        [""]
    );
}

#[test]
fn asynchronous_starts_write_their_results_once() {
    let text = "HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8,128]{1,0} parameter(0)
  d = f32[32,128]{1,0} all-gather-done(s)
  s = (f32[8,128]{1,0}, f32[32,128]{1,0}) all-gather-start(a), dimensions={0}
  c = (f32[8,128]{1,0:S(1)}, f32[8,128]{1,0}, u32[]{:S(2)}) copy-start(a)
  ROOT r = f32[8,128]{1,0:S(1)} copy-done(c)
}
";
    let (module, _) = Module::parse_with_errors(text);
    let costs = module.costs().unwrap();
    let bytes = costs.instructions().iter().map(|cost| (cost.instruction.name(), cost.bytes_read, cost.bytes_written));
    assert_eq!(bytes.collect::<Vec<_>>(), [("s", Some(4096), Some(16_384)), ("c", Some(4096), Some(4096))]);
    // If the end of a collective comes before its start, nothing hides it, and there is no error.
    assert!(ProgramCost::new(&module).unwrap().json().contains("\"hidden_by_cycles\":null"));
}

#[test]
fn a_collective_in_pieces_counts_once() {
    let piece = |name: &str, cycles: &str| {
        format!(
            "{name} {{ p = f32[8,128]{{1,0}} parameter(0)\n  ROOT g_{name} = f32[16,128]{{1,0}} all-gather(p), channel_id=1, dimensions={{0}}, \
             frontend_attributes={{chain_id=\"0\"}}{cycles} }}\n"
        )
    };
    let cycles = r#", backend_config={"window_config":{"estimated_cycles":"70"}}"#;
    let text = format!(
        "HloModule m, is_scheduled=true\n{}{}{}ENTRY e {{ a = f32[8,128]{{1,0}} parameter(0)
  b = f32[16,128]{{1,0}} fusion(a), kind=kCustom, calls=one
  c = f32[16,128]{{1,0}} fusion(a), kind=kOutput, calls=two{cycles}
  d = f32[8,128]{{1,0}} negate(a){cycles}
  x = f32[16,128]{{1,0}} fusion(a), kind=kCustom, calls=three
  ROOT t = (f32[16,128]{{1,0}}, f32[16,128]{{1,0}}, f32[8,128]{{1,0}}, f32[16,128]{{1,0}}) tuple(b, c, d, x) }}\n",
        piece("one", ""),
        piece("two", ""),
        piece("three", "")
    );
    let answer = |text: &str| {
        let module = Module::parse(text).unwrap();
        serde_json::from_str::<serde_json::Value>(&ProgramCost::new(&module).unwrap().json()).unwrap()["collectives"]
            .clone()
    };
    let found = answer(&text);
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!((&found[0]["instruction"], &found[0]["bytes_in"]), (&"g_one".into(), &4096.into()));
    assert_eq!((&found[0]["hidden_by_cycles"], &found[0]["hidden_by"]), (&140.into(), &serde_json::json!(["c", "d"])));
    // Without the attribute of a chain, each piece counts as a collective.
    assert_eq!(answer(&text.replace("chain_id", "other")).as_array().unwrap().len(), 3);
}

#[test]
fn loops_that_do_not_say_how_often_they_run_have_no_runs() {
    let dynamic = LOOP.replace("six = s32[] constant(6)", "six = s32[] get-tuple-element(s), index=0");
    let module = Module::parse(&dynamic).unwrap();
    let costs = module.costs().unwrap();
    let found = |name: &str| costs.instructions().iter().find(|cost| cost.instruction.name() == name).unwrap();
    assert!(found("z").is_in_unknown_loop && !found("s").is_in_unknown_loop);
    let answer = ProgramCost::new(&module).unwrap().json();
    let answer = serde_json::from_str::<serde_json::Value>(&answer).unwrap();
    let z = answer["instructions"].as_array().unwrap().iter().find(|found| found["instruction"] == "z").unwrap();
    assert_eq!((&z["cycles"], &z["runs"]), (&7.into(), &serde_json::Value::Null));
    // A counter that overflows its type wraps around.
    let wrapping =
        LOOP.replace("s32[]", "u32[]").replace("one = u32[] constant(1)", "one = u32[] constant(4294967295)");
    let wrapping = wrapping.replace("zero = u32[] constant(0)", "zero = u32[] constant(5)");
    assert_eq!(Module::parse(&wrapping).unwrap().costs().unwrap().loops()[0].trips, None);
}

/// What libtpu 0.0.52 made of programs with elements that are repeated or not read, with matrix products that are computed element by element, and of the same programs with the remedy (scripts/causes.py).
#[test]
fn causes_of_unneeded_elements_are_named() {
    #[derive(serde::Deserialize)]
    struct Row {
        program: String,
        device: String,
        /// The cycles of the program as it is, and with the remedy.
        cycles: [u64; 2],
        change: String,
        causes: Vec<String>,
        module: String,
    }
    let rows = corpus::<Row>("causes.jsonl.zst");
    let mut unnamed = Vec::new();
    for row in &rows {
        let cost = ProgramCost::new(&Module::parse(&row.module).unwrap()).unwrap();
        let name = format!("{} for {}", row.program, row.device);
        assert_eq!(cost.sums.total.map(|total| total.number()), Some(row.cycles[0]), "{name}");
        let causes = cost.copies.iter().filter(|copy| copy.change.to_string() == row.change);
        let causes = causes.inspect(|copy| assert!(copy.remedy.is_some(), "{name}"));
        assert_eq!(causes.map(|copy| copy.cause.to_string()).collect::<Vec<_>>(), row.causes, "{name}");
        if row.causes.is_empty() {
            unnamed.push(name);
        } else {
            assert!(row.cycles[1] < row.cycles[0], "{name}");
        }
    }
    // In these two, the SparseCore gathers the elements; causes there are not found.
    let expected = ["rotary for v6e", "cross_entropy for v6e"].map(ToOwned::to_owned);
    assert_eq!((rows.len(), unnamed), (34, expected.to_vec()));
}
