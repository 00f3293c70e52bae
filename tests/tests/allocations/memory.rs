//! Limits the memory that readers take for each byte of their input.

use super::{most_held, most_taken};
use xla_shape::Shape;
use xla_shape::hlo::dump::{BufferAssignment, LiveRanges, UsageReport};
use xla_shape::hlo::{Module, find_shapes};
use xla_shape::proto::{decode_shape, decode_sharding, encode_shape, encode_sharding};
use xla_shape::shard::Sharding;
use xla_shape_core::Layout as ArrayLayout;
use xla_shape_parity::legacy::LegacyShape;

/// The most bytes that a reader may hold for each byte of the input, plus `ONCE`. `docs/trusted.md` explains the larger factors.
const MOST: usize = 32;
const MOST_OF_A_MESSAGE: usize = 80;
const MOST_OF_A_MODULE: usize = 160;
const MOST_OF_A_STRUCTURE: usize = 416;
const MOST_OF_A_SHARDING: usize = 480;
const MOST_OF_A_TABLE: usize = 64;
const MOST_OF_PADDING: usize = 96;
const ONCE: usize = 4096;

#[track_caller]
fn check<R>(name: &str, input: usize, most: usize, f: impl FnOnce() -> R) {
    let held = most_held(f);
    assert!(held <= ONCE + most * input, "{name}: {held} bytes for {input}, {} for each", held / input);
}

/// Texts of shapes that take as much memory as possible for each byte of text.
fn texts(count: usize) -> Vec<String> {
    let tiles = ["(2)", "(1)", "(3)(2)", "(1,2)", "(*,2)", "(*,*,7)(*,5)(2,3)", "()", "(9223372036854775807)"];
    let mut texts = Vec::new();
    for tile in tiles {
        for array in ["f32[2]{0:T", "f32[2,3]{1,0:T", "f32[0]{0:T", "f32[?]{0:T"] {
            texts.push(format!("{array}{}}}", tile.repeat(count)));
        }
    }
    for entry in ["1,", "2,", "*,"] {
        texts.push(format!("f32[2]{{0:T({}2)}}", entry.repeat(count)));
        texts.push(format!("f32[2]{{0:T({}2){}}}", entry.repeat(count), "(2)".repeat(64)));
    }
    for size in ["1,", "?,", "<=1,", "0,"] {
        texts.push(format!("f32[{}1]", size.repeat(count)));
    }
    let numbers = |from, to| (from..to).map(|n: usize| format!("{n},")).collect::<String>();
    texts.push(format!("f32[{}1]{{{}{count}}}", "1,".repeat(count), numbers(0, count)));
    texts.push(format!("f32[2]{{0:SC(0:{}{count})}}", numbers(1, count)));
    texts.push(format!("f32[2]{{0:SC{}}}", "(0:1)".repeat(count)));
    for element in ["token[],", "(),", "s4[],", "((),()),", "(()),", "f32[1],", "f32[1]{0:T(2)(3)(4)},", "b(s4[]),"] {
        texts.push(format!("({}())", element.repeat(count)));
    }
    for filler in ["(", "/**/", " ", "f32[2]{0:", "[", "{"] {
        texts.push(filler.repeat(count));
    }
    texts
}

#[test]
fn texts_take_memory_in_proportion() {
    // With counts like 8193, lists that grow by doubling have twice as much room as they need.
    for count in [1000, 8193, 10_000] {
        for text in texts(count) {
            let name = format!("{:.60}", text);
            check(&name, text.len(), MOST, || text.parse::<Shape>());
            check(&name, text.len(), MOST, || text.parse::<ArrayLayout>());
            check(&name, text.len(), MOST, || text.parse::<LegacyShape>());
            check(&name, text.len(), MOST, || serde_json::from_str::<Shape>(&format!("\"{text}\"")));
            if let Ok(Shape::Array(array)) = text.parse() {
                check(&name, text.len(), MOST_OF_A_TABLE, || array.stride_table());
                check(&name, text.len(), MOST_OF_PADDING, || array.padded_dimensions());
                check(&name, text.len(), MOST, || array.byte_size());
                check(&name, text.len(), 16, || array.to_string());
            }
        }
    }
}

#[test]
fn structures_take_memory_in_proportion() {
    // In this format, each part takes one byte of the input.
    for count in [1000_usize, 8193, 16_383, 65_537] {
        for part in [2_u8, 3] {
            let mut bytes = postcard::to_allocvec(&(count + 1)).unwrap();
            bytes.push(1);
            bytes.extend(postcard::to_allocvec(&count).unwrap());
            bytes.resize(bytes.len() + count, part);
            assert!(postcard::from_bytes::<Shape>(&bytes).is_ok());
            check(&format!("{count} parts"), bytes.len(), MOST_OF_A_STRUCTURE, || {
                postcard::from_bytes::<Shape>(&bytes)
            });
        }
    }
}

#[test]
fn messages_take_memory_in_proportion() {
    const COUNT: usize = 10_000;
    let tuple = |elements: &[u8]| [&[0x10, 13][..], &elements.repeat(COUNT)].concat();
    for (elements, is_shape) in
        [(&[0x22, 0][..], false), (&[0x22, 2, 0x10, 17], true), (&[0x22, 2, 0x10, 13], true), (&[0x50, 0], true)]
    {
        let bytes = tuple(elements);
        assert_eq!(decode_shape(&bytes).is_ok(), is_shape);
        check(&format!("{elements:?}"), bytes.len(), MOST, || decode_shape(&bytes));
        let bytes = [&elements.repeat(COUNT)[..], &[0x10, 13]].concat();
        check(&format!("{elements:?}"), bytes.len(), MOST, || decode_shape(&bytes));
    }
    // A size takes 1 byte in the message, and 24 bytes in memory.
    let mut bytes = vec![0x10, 11, 0x1a];
    prost::encoding::encode_varint(COUNT as u64, &mut bytes);
    bytes.resize(bytes.len() + COUNT, 1);
    assert!(decode_shape(&bytes).is_ok());
    check("sizes", bytes.len(), MOST_OF_A_MESSAGE, || decode_shape(&bytes));
    // An array of one dimension, whose layout has many tiles.
    for tile in [&[0x32, 3, 0x0a, 1, 2][..], &[0x32, 0], &[0x32, 4, 0x0a, 2, 1, 2]] {
        let mut layout = vec![0x0a, 1, 0];
        layout.extend(tile.repeat(COUNT));
        let mut bytes = vec![0x10, 11, 0x1a, 1, 1, 0x2a];
        prost::encoding::encode_varint(layout.len() as u64, &mut bytes);
        bytes.extend(layout);
        check(&format!("{tile:?}"), bytes.len(), MOST_OF_A_MESSAGE, || decode_shape(&bytes));
    }
}

/// Empty instructions are refused before they are read. Other instructions have enough bytes in the message for the memory that they take.
#[test]
fn modules_in_messages_take_memory_in_proportion() {
    const COUNT: usize = 10_000;
    let field = |number: u8, content: &[u8]| {
        let mut bytes = vec![number << 3 | 2];
        prost::encoding::encode_varint(content.len() as u64, &mut bytes);
        [bytes, content.to_vec()].concat()
    };
    let shape = field(3, &[0x10, 11, 0x1a, 1, 8]);
    let constant = |literal: &[u8]| field(2, &[&field(1, b"a"), &field(2, b"constant"), &shape, literal].concat());
    for (name, computation) in [
        ("empty instructions", field(2, &[]).repeat(COUNT)),
        ("instructions with a name", field(2, &field(1, b"a")).repeat(COUNT)),
        ("instructions", constant(&[]).repeat(COUNT)),
        ("empty literals", constant(&field(8, &field(10, &[]).repeat(COUNT)))),
        ("literals", constant(&field(8, &field(10, &[&shape[..], &field(2, &[1])].concat()).repeat(COUNT)))),
        ("empty shardings", constant(&[&[0xc2, 2][..], &field(5, &[]).repeat(COUNT)[1..]].concat())),
        ("operands", constant(&field(4, &[0; COUNT]))),
    ] {
        let module = field(3, &computation);
        for bytes in [field(1, &module), module] {
            check(name, bytes.len(), MOST_OF_A_MODULE, || Module::from_proto(&bytes));
            check(name, bytes.len(), MOST_OF_A_MODULE, || BufferAssignment::from_proto(&bytes));
        }
    }
    let computations = field(3, &[]).repeat(COUNT);
    check("empty computations", computations.len(), MOST_OF_A_MODULE, || Module::from_proto(&computations));
}

#[test]
fn writing_a_message_moves_no_byte_with_each_tuple_around_it() {
    let flat = "(f32[2]{0})";
    let deep = |depth: usize| -> Shape { format!("{}{flat}{}", "(".repeat(depth), ")".repeat(depth)).parse().unwrap() };
    let mut shape = deep(0);
    let wide = Shape::tuple(vec![shape.clone(); 10_000]).unwrap();
    shape = (0..190).fold(wide, |shape, _| Shape::tuple(vec![shape]).unwrap());
    let bytes = encode_shape(&shape).len();
    // `check` limits what is held at one time, while the `Vec` of the result grows; the second check, the sum of all allocations.
    check("a deep tuple", bytes, 4, || encode_shape(&shape));
    assert!(most_taken(|| encode_shape(&shape)) < 16 * bytes);
}

/// Texts of programs that take as much memory as possible for each byte of text.
fn programs(count: usize) -> Vec<(&'static str, String)> {
    let lines = |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let entry = |lines: String| {
        format!("HloModule m, is_scheduled=true\nENTRY e {{\n p=s4[]parameter(0)\n{lines} ROOT r=s4[]negate(p)\n}}\n")
    };
    let tuple = |element: &str| format!("({}s4[])", element.repeat(count));
    vec![
        ("instructions", entry(lines(&|i| format!("a{i}=s4[]negate(p)\n")))),
        ("operands", entry(format!("t=()tuple({}p)\n", "p,".repeat(count)))),
        ("tuples", entry(format!("t={}parameter(1)\nu={}copy(t)\n", tuple("s4[],"), tuple("s4[],")))),
        ("empty tuples", entry(format!("t={}parameter(1)\n", tuple("(),")))),
        (
            "elements of tuples",
            entry(format!(
                "t={}parameter(1)\n{}",
                tuple("s4[],"),
                lines(&|i| format!("g{i}=s4[]get-tuple-element(t),index={i}\n"))
            )),
        ),
        ("attributes", entry(format!("t=s4[]negate(p){}\n", lines(&|i| format!(",a{i}=1"))))),
        ("computations", lines(&|i| format!("c{i}{{ROOT p=s4[]parameter(0)}}\n")) + &entry(String::new())),
        (
            "calls",
            lines(&|i| format!("c{i}{{p=s4[]parameter(0)\nROOT q=s4[]call(p),to_apply=c{}}}\n", i.saturating_sub(1)))
                + &entry(String::new()),
        ),
        ("constants", entry(format!("t=s4[{count}]constant({{{}1}})\n", "1,".repeat(count - 1)))),
        ("groups", entry(format!("t=s4[]all-reduce(p),replica_groups={{{}}}\n", vec!["{0}"; count].join(",")))),
        ("shardings", entry(format!("t=s4[]negate(p),sharding={{{}{{replicated}}}}\n", "{manual},".repeat(count)))),
        ("scopes", entry(lines(&|i| format!("a{i}=s4[]negate(p),metadata={{op_name=\"a/b{i}\"}}\n")))),
        (
            "aliases",
            format!(
                "HloModule m,input_output_alias={{{}}}\nENTRY e{{ROOT p=s4[]parameter(0)}}",
                vec!["{}:(0,{})"; count].join(",")
            ),
        ),
        ("lines that cannot be read", entry("?\n".repeat(count))),
        ("braces", "{".repeat(count)),
        ("spaces", " ".repeat(count)),
    ]
}

#[test]
fn programs_take_memory_in_proportion() {
    for (name, text) in programs(2000) {
        check(name, text.len(), 32, || Module::parse_with_errors(&text));
        let (module, _) = Module::parse_with_errors(&text);
        check(name, text.len(), 80, || module.check());
        check(name, text.len(), 160, || {
            let memory = module.memory();
            memory.timeline().map(|timeline| (timeline.peaks(), timeline.account().clone()))
        });
        check(name, text.len(), 8, || module.to_string());
        check(name, text.len(), 224, || module.to_proto());
        check(name, text.len(), 64, || find_shapes(&text).count());
    }
}

#[test]
fn shardings_take_memory_in_proportion() {
    const COUNT: usize = 8193;
    let numbers = || (0..COUNT).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let array: xla_shape::ArrayShape = "f32[8,8]".parse().unwrap();
    for text in [
        format!("{{devices=[{COUNT}]{}}}", numbers()),
        format!("{{devices=[1]<=[{}1]}}", "1,".repeat(COUNT)),
        format!("{{devices=[{}1]<=[1]}}", "1,".repeat(COUNT)),
        format!("{{{}{{manual}}}}", "{manual},".repeat(COUNT)),
        format!("{{mesh['a'=2], [{}{{}}]}}", "{},".repeat(COUNT)),
        format!("{{mesh[{}'a'=1], [{{}}]}}", "'b'=1,".repeat(COUNT)),
        format!("{{mesh['a'=2], [{{}}], replicated={{{}'a'}}}}", "'a',".repeat(COUNT)),
        format!("{{devices=[1,1]<=[1] last_tile_dims={{{}manual}}}}", "manual,".repeat(COUNT)),
        format!("{{replicated metadata={{{}{{op_name=\"\"}}}}}}", "{op_name=\"\"},".repeat(COUNT)),
        "{".repeat(COUNT),
    ] {
        let name = format!("{text:.60}");
        check(&name, text.len(), 64, || text.parse::<Sharding>());
        if let Ok(sharding) = text.parse::<Sharding>() {
            check(&name, text.len(), 64, || sharding.partition(&array));
            check(&name, text.len(), 64, || sharding.to_tiled().map(|tiled| tiled.to_string()));
            check(&name, text.len(), 64, || encode_sharding(&sharding));
            let message = encode_sharding(&sharding);
            check(&name, message.len(), MOST_OF_A_SHARDING, || decode_sharding(&message));
        }
    }
}

#[test]
fn files_of_a_dump_take_memory_in_proportion() {
    const COUNT: usize = 4000;
    let assignment = |line: &str| format!("BufferAssignment:\nallocation 0: size 4096:\n{}", line.repeat(COUNT));
    let ranges = |line: &str| {
        format!("HloLiveRange (max 2):\n  InstructionSequence:\n    0:a\n  BufferLiveRange:\n{}", line.repeat(COUNT))
    };
    let steps = (0..COUNT).map(|i| format!("    {i}:a{i}\n")).collect::<String>();
    for text in [
        assignment(" value: <1 a @0> (size=4,offset=0): f32[]\n"),
        assignment("allocation 0: size 4:\n"),
        ranges("    a{}:0-2\n"),
        format!("HloLiveRange (max 2):\n  InstructionSequence:\n{steps}"),
        format!("Memory Space: vmem (color=0)\nTotal bytes: 16896 (16.5KiB)\n{}", "a\n".repeat(COUNT)),
    ] {
        let name = format!("{:.200}", text.split('\n').nth(2).unwrap_or_default());
        check(&name, text.len(), 16, || BufferAssignment::parse(&text));
        check(&name, text.len(), 16, || LiveRanges::parse(&text));
        check(&name, text.len(), 16, || UsageReport::parse(&text));
    }
}
