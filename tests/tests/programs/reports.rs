//! Texts that people paste: logs, error messages, pages with HLO. Each must be answered, whatever surrounds its lines.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape_answers::Answer;
use xla_shape_answers::scan::Scan;
use xla_shape_hlo::Module;
use xla_shape_program::Program;
use xla_shape_render::Show;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/reports")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn scanned(text: &str) -> Scan {
    let mut scan = Scan::default();
    text.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
    scan
}

fn answer(text: &str) -> String {
    scanned(text).text(1000).to_string()
}

/// The figures, the causes and the shapes of a text, without their lines and columns.
fn without_places(text: &str) -> Value {
    let mut answer: Value = serde_json::from_str(&scanned(text).json()).unwrap();
    fn clean(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("line");
                fields.remove("column");
                fields.values_mut().for_each(clean);
            }
            Value::Array(values) => values.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut answer);
    // The answer sorts shapes of the same size by place. Places may differ here, so sort them by text.
    if let Some(shapes) = answer["shapes"].as_array_mut() {
        shapes.sort_by_key(ToString::to_string);
    }
    answer
}

/// What each report must say, and what it must not.
const WANTED: [(&str, &[&str], &[&str]); 12] = [
    (
        "001.txt",
        &["smem: 1 MiB of 1 MiB, 1.70 KiB too much", "SMEM holds the operands of scalar prefetch"],
        &["xla_dump_to"],
    ),
    (
        "002.txt",
        &[
            "HLO temp: 3.93 GiB (3.81 GiB unpadded, 3.92 GiB padded, 14.7 MiB fragmentation)",
            "overlays: 414 MiB",
            "E1000",
        ],
        &[],
    ),
    (
        "005.txt",
        &[
            "E0102, line 1: parameter 2482 of jit_step_fn: the program expects bf16[16,1280,40]{2,1,0:T(8,128)(2,1)} (5 MiB, d2 40 \
             padded to 128); the array is bf16[16,1280,40]{1,2,0:T(8,128)(2,1)} (1.56 MiB)",
            "Another order of d1 and d2",
            "The bytes are not the same: element (0,0,1) moves",
            "Format(Layout(major_to_minor=(0, 1, 2)), sharding)",
            "Format(Layout(major_to_minor=(0, 2, 1)), sharding)",
            "3.44 MiB less",
        ],
        &[],
    ),
    (
        "011.txt",
        &[
            "buffer assignment: 4 GiB (0 B fragmentation)",
            "parameter: 1 GiB",
            "constant: 4 B",
            "live out: 1 GiB",
            "preallocated temp: 2 GiB",
            "2 allocations in the message: 2 GiB",
            "a.py:3",
        ],
        &[],
    ),
    (
        "013.txt",
        &[
            "E0100, line 1: the runtime has no room for an array of 16 MiB; 15.5 MiB are free",
            "jax.live_arrays()",
            "E0101, line 2: the runtime cannot load the program jit_step, which needs 29.5 GiB in one piece; 148 MiB are free",
            "list what takes the memory of jit_step",
        ],
        &["too much"],
    ),
    (
        "014.txt",
        &["vmem, scoped: 37.2 MiB of 32 MiB, 5.22 MiB too much", "the kernel %flash_attention.1 needs"],
        &["no size in it"],
    ),
    (
        "016.txt",
        &[
            "E2001, line 1: the matrix unit of this TPU does not multiply s8",
            "E2003, line 3: the kernel _lambda_.1 indexes dimension 1 of f32[8,1024] (vector_load), which has tiles of 128",
            "pl.multiple_of(i, 128)",
            "expected a column offset below 128",
            "slices dimension 1 of the array: the size is 1 and must be a multiple of 2",
            "must be a multiple of 512 bytes. A line has 256 bytes (64 of f32)",
            "copy 128 elements",
        ],
        &[],
    ),
    ("017.txt", &["E1200", "S(5), from %tuple.64 on", "memory_kind=\"pinned_host\""], &[]),
    (
        "020.txt",
        &["pred[10,64,5,5]{3,2,0,1} (15.6 KiB)", "The layout of the first shape has no order for 4 dimensions"],
        &[],
    ),
    (
        "022.txt",
        &[
            "the kernel %kv_cache_update.1 needs 17 MiB of VMEM, 1 MiB too much; it may use 16 MiB",
            "16 MiB is the limit on v5e and v5p if the kernel does not set vmem_limit_bytes",
            "at most 128 MiB on v5e",
            "vmem_limit_bytes=17825792",
        ],
        &[],
    ),
    ("023.txt", &["vmem, scoped: 5.07 MiB", "scoped memory for k.1: 5 MiB"], &[]),
    (
        "026.txt",
        &["requested: 1.02 GiB of 861 MiB", "DRAM, each bank: 427 MiB of 329 MiB", "the largest has 324 MiB"],
        &["XLA_FLAGS"],
    ),
];

#[test]
fn reports_are_answered() {
    for (name, wanted, unwanted) in WANTED {
        let text = answer(&read(name));
        for wanted in wanted {
            assert!(text.contains(wanted), "{name}: expected {wanted:?} in\n{text}");
        }
        for unwanted in unwanted {
            assert!(!text.contains(unwanted), "{name}: unexpected {unwanted:?} in\n{text}");
        }
    }
}

/// The prefixes that a launcher, a logger, a mail program or a terminal puts before each line.
const PREFIXES: [&str; 26] = [
    "(EngineCore_DP0 pid=106339) ERROR 06-03 07:41:11 [core.py:1184] ",
    "(EngineCore pid=7) ",
    "(RayWorkerWrapper pid=812, ip=10.0.0.2) ",
    "I0321 10:57:56.764856    1234 hlo_dumper.cc:39] ",
    "2025-03-21 10:57:56.764866: I external/xla/xla/service/hlo_dumper.cc:39] ",
    "2020-05-04 09:05:40.719332: E    1578 tensorflow/compiler/xla_util.cc:76] ",
    "[worker-0] ",
    "[rank0]: ",
    "[1,0]<stderr>:",
    "2025-03-21T10:57:56.764856789Z stderr F ",
    "2025-03-21T10:57:56.764856789Z ",
    "[pod/vllm-tpu-0/server] ",
    "2025-03-21 10:57:56,764 - root - ERROR - ",
    "Mar 21 10:57:56 t1v-n-3ad0 python3[1234]: ",
    "> ",
    "> > ",
    "worker-1  | ",
    "    ",
    "\x1b[36m(RayWorkerWrapper pid=812)\x1b[0m ",
    "12: ",
    "# ",
    "+",
    "2026-01-01 10:00:00.000 | ERROR | m:f:42 - ",
    "##[error]",
    "log.txt:101:",
    "// ",
];

fn with_prefix(text: &str, prefix: &str) -> String {
    text.lines().map(|line| [prefix, line, "\n"].concat()).collect()
}

/// The text in a page with a fence, in strings of JSON, C++ and Python, with the line breaks of Windows, and with line numbers.
fn wrapped(text: &str) -> Vec<String> {
    let escaped = serde_json::to_string(text).unwrap();
    let fenced = format!("It fails:\n\n```\n{text}\n```\n\nWhy?\n");
    let json = format!("{{\"severity\": \"ERROR\", \"message\": {escaped}}}\n");
    let raw = format!("constexpr char kLog[] = R\"(\n{text})\";\n");
    let python = format!("log = r\"\"\"\n{text}\"\"\"\n");
    // With line numbers, as `cat -n` and listings write them.
    let counted = |end: &str| text.lines().zip(1..).map(|(line, n)| format!("{n:6}{end}{line}\n")).collect::<String>();
    vec![fenced, json, raw, python, text.replace('\n', "\r\n"), counted("\t"), counted("  "), counted(": ")]
}

#[test]
fn an_answer_is_the_same_with_every_prefix() {
    for (name, ..) in WANTED {
        let text = read(name);
        let expected = without_places(&text);
        let prefixed = PREFIXES.iter().map(|prefix| with_prefix(&text, prefix));
        for text in prefixed.chain(wrapped(&text)) {
            let found = without_places(&text);
            let lines = |answer: &Value| serde_json::to_string_pretty(answer).unwrap();
            let (found, expected) = (lines(&found), lines(&expected));
            let other = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
            assert_eq!((other, found.len()), (None, expected.len()), "{name} as\n{text}");
        }
    }
}

fn module(text: &str) -> (String, Vec<String>, bool) {
    let program = Program::read("report", text.into()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(program.unread().is_none(), "{text}");
    let module = program.module();
    let shapes = module.instructions().map(|instruction| instruction.shape().to_string()).collect();
    (module.name().unwrap_or_default().to_owned(), shapes, module.is_scheduled())
}

#[test]
fn hlo_is_read_inside_of_logs_pages_and_strings() {
    let page = read("007.md.txt");
    let (name, shapes, is_scheduled) = module(&page);
    assert_eq!((name.as_str(), shapes.len(), is_scheduled), ("jit_f", 2, true));
    let (name, shapes, _) = module(&read("008.txt"));
    assert_eq!((name.as_str(), shapes.len()), ("jit__squeeze", 2));

    let start = page.find("HloModule").unwrap();
    let text = &page[start..page.rfind("```").unwrap()];
    let expected = module(text);
    assert!(expected.2);
    let quoted: String = text.lines().map(|line| format!("    \"{}\\n\"\n", line.replace('"', "\\\""))).collect();
    let strings = [
        format!("TEST(A, B) {{\n  const char* hlo = R\"(\n{text})\";\n  Run(hlo);\n}}\n"),
        format!("TEST(A, B) {{\n  const char* hlo = R\"hlo({text})hlo\";\n}}\n"),
        format!("TEST(A, B) {{\n  const char* hlo = R\"( \n  {})\";\n  Run(hlo);\n}}\n", text.trim_end()),
        format!("hlo = \"\"\"{text}\"\"\"\nrun(hlo)\n"),
        format!("hlo = '''\n{text}'''\n"),
        format!("const char* hlo =\n{quoted};\n"),
        format!("The module is\n\n{text}\nand it is slow.\n"),
        format!("Unknown prefix 17 - {}", text.replace('\n', "\nUnknown prefix 23 - ")),
    ];
    // In HLO, `//` begins a comment: a module in comments does not count.
    let prefixed = PREFIXES.iter().filter(|prefix| **prefix != "// ").map(|prefix| with_prefix(text, prefix));
    for inside in strings.into_iter().chain(prefixed).chain(wrapped(text)) {
        assert_eq!(module(&inside), expected, "{inside}");
    }
}

#[test]
fn an_update_in_the_memory_of_the_host_stays_there() {
    let text = read("019.hlo");
    let found = Module::parse(&text).unwrap().check().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found, ["%d (dynamic-update-slice): expected a result in the memory S(5) of the operand, found S(0)"]);
}

/// The rows of a file with one object in each line.
fn rows(name: &str) -> Vec<Value> {
    read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(text: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(&scanned(text).json()).unwrap();
    answer["causes"].as_array().unwrap().iter().map(|cause| cause["kind"].as_str().unwrap().to_owned()).collect()
}

/// The messages are from public issues, logs and documents; `says` is a text that their answers must contain.
#[test]
fn public_messages_are_answered() {
    let rows = rows("public.jsonl");
    assert!(rows.len() >= 65);
    for (number, row) in rows.iter().enumerate() {
        let (source, message) = (&row["source"], row["message"].as_str().unwrap());
        // Neighbouring messages get different prefixes, so that all prefixes are tested.
        let prefixed = with_prefix(message, PREFIXES[number % PREFIXES.len()]);
        assert_eq!(without_places(&prefixed), without_places(message), "{source} as\n{prefixed}");
        let text = answer(message);
        assert!(text.contains(row["says"].as_str().unwrap()), "{source}: expected {} in\n{text}", row["says"]);
        assert_eq!(kinds(message).first().map(String::as_str), row["kind"].as_str(), "{source}");
        let lines = message.replace(". ", ".\n").lines().map(|line| format!("[worker-0] {line}\n")).collect::<String>();
        assert_eq!(kinds(&lines), kinds(message), "{source} with a prefix");
    }
}

/// Moving an array to another memory is a copy, whatever its layout.
#[test]
fn another_memory_is_a_copy() {
    let text = answer("Shape mismatch: expected f32[8,128]{1,0:T(8,128)} but got f32[8,128]{1,0:T(8,128)S(5)}");
    assert!(text.contains("Another memory") && text.contains("a copy moves them to the other memory"), "{text}");
    assert!(!text.contains("every byte stays"), "{text}");
}

/// A text that only mentions memory or a code, without an error message, has no cause.
#[test]
fn words_alone_are_no_cause() {
    for text in [
        "catch (const std::bad_alloc&) { return false; }",
        "NCCL WARN Cuda failure 'invalid argument'\nepoch 3: no epoch ran out of memory",
        "a.py:3:0: E0102: function already defined line 1 (function-redefined)",
        "E0321 10:57:56.764856 1234 a.cc:39] all is well",
        "1  f32[8]\n2  f32[16]",
    ] {
        assert!(kinds(text).is_empty(), "{text}");
    }
}

/// Each message has one cause, and no advice that belongs to another: none about Pallas for an instruction that XLA made, for example, and none about
/// XLA's flags when another library ran out of memory.
#[test]
fn advice_is_for_what_was_refused() {
    let rows = rows("public.jsonl");
    let of = |kind: &str| -> Vec<Scan> {
        let rows = rows.iter().filter(|row| row["kind"] == kind);
        rows.map(|row| scanned(row["message"].as_str().unwrap())).collect()
    };
    for (kind, unwanted) in [
        ("sparse_core", "xla_dump_to"),
        ("scoped_vmem_of_instruction", "pl.pallas_call"),
        ("cuda_memory", "XLA_FLAGS"),
        ("sparse_core_memory", "xla-shape block"),
        ("array", "16 MiB of 800 MiB"),
        ("library_memory", "xla_dump_to"),
        ("host_memory", "xla_dump_to"),
        ("no_space", "xla_dump_to"),
        ("sflag", "xla_dump_to"),
        ("driver", "xla_dump_to"),
        ("pinned_host", "of the GPU has no room"),
        ("host_array", "xla_dump_to"),
        ("container_killed", "xla_dump_to"),
        ("constant", "xla_dump_to"),
        ("command_buffer", "another framework"),
    ] {
        let scans = of(kind);
        assert!(!scans.is_empty(), "{kind}");
        for scan in scans {
            let text = scan.text(1000).to_string();
            assert!(scan.says_out_of_memory() || kind == "sparse_core_memory", "{text}");
            assert_eq!((scan.causes().len(), text.contains(unwanted)), (1, false), "{text}");
        }
    }
}

/// A status that is not only about memory does not say that memory ran out.
#[test]
fn other_resources_are_not_memory() {
    let rows = rows("public.jsonl");
    for kind in ["message_size", "no_capacity"] {
        let rows = rows.iter().filter(|row| row["kind"] == kind);
        let texts: Vec<_> = rows.map(|row| row["message"].as_str().unwrap()).collect();
        assert!(!texts.is_empty(), "{kind}");
        for text in texts {
            let (scan, text) = (scanned(text), answer(text));
            assert!(!scan.says_out_of_memory() && !text.contains("Memory ran out"), "{text}");
        }
    }
}

/// The statistics of a program for a GPU, also with the lines that only some releases write. A sum that is cut off is not 0.
#[test]
fn statistics_of_a_gpu_have_the_sum_that_is_read() {
    let text = "BufferAssignment stats:\n             parameter allocation:    4.00GiB\n     preallocated temp allocation:   24.00GiB\n  \
                preallocated temp fragmentation:    1.00MiB (0.00%)\n";
    let of = |text: &str| {
        let amounts = scanned(text).amounts().into_iter().cloned().collect::<Vec<_>>();
        amounts.iter().map(|amount| (amount.what.clone(), amount.bytes >> 30, amount.is_part)).collect::<Vec<_>>()
    };
    let parts = |name: &str, is_part| {
        [(format!("{name}parameter"), 4, is_part), (format!("{name}preallocated temp"), 24, is_part)]
    };
    assert_eq!(of(text), parts("buffer assignment, ", false));
    assert!(answer(text).contains("preallocated temp: 24 GiB (1 MiB fragmentation)"));
    let whole = [text, "                 total allocation:   30.00GiB\n"].concat();
    let expected = [vec![("buffer assignment".to_owned(), 30, false)], parts("", true).to_vec()].concat();
    assert_eq!(of(&whole), expected);
    assert!(of("BufferAssignment stats:\n").is_empty());
}

/// A text as the lines of JSON that loggers and clouds write.
fn json_lines(text: &str) -> Vec<String> {
    let lines = || text.lines().map(|line| serde_json::to_string(line).unwrap());
    let of = |before: &str, after: &str| lines().map(|line| [before, &line, after, "\n"].concat()).collect::<String>();
    let docker = text.lines().map(|line| serde_json::to_string(&format!("{line}\n")).unwrap().replace('>', "\\u003e"));
    vec![
        of("{\"severity\": \"ERROR\", \"message\": ", ", \"pod\": \"p-0\"}"),
        of("{\"textPayload\":", "},"),
        of("2025-03-21T10:57:56.764856789Z stderr F {\"msg\": ", "}"),
        docker
            .map(|line| format!("{{\"log\": {line}, \"stream\": \"stderr\", \"time\": \"2026-11-30T12:00:01.1Z\"}}\n"))
            .collect(),
        ["[\n", &of("  {\n    \"textPayload\": ", ",\n    \"severity\": \"ERROR\"\n  },"), "]\n"].concat(),
        format!("[{}]", lines().map(|line| format!("{{\"message\": {line}}}")).collect::<Vec<_>>().join(", ")),
    ]
}

/// A log with one object of JSON in each line says what it says without them.
#[test]
fn an_answer_is_the_same_in_lines_of_json() {
    for (name, ..) in WANTED {
        let text = read(name);
        for json in json_lines(&text) {
            assert_eq!(without_places(&json), without_places(&text), "{name} as\n{json}");
        }
    }
    let json = r#"{"message": "\"a\"\n\u003e f32[8,1]{1,0:T(8,128)}", "shape": "f32[7]"}"#;
    let scan = scanned(json);
    let places: Vec<_> = scan.shapes().iter().map(|(found, _)| found.column).collect();
    assert_eq!(places, ["f32[8,1]", "f32[7]"].map(|shape| json.find(shape).unwrap() + 1));
}

/// The answer about a log in which several processes write the same message, line by line in turn, is that about one of them.
#[test]
fn the_lines_of_processes_are_sorted() {
    for (name, ..) in WANTED {
        let text = read(name);
        for [first, second] in [
            ["(RayTrainWorker pid=101, ip=10.0.0.1) ", "(RayTrainWorker pid=202, ip=10.0.0.2) "],
            ["0: ", "1: "],
            ["[1,0]<stderr>:", "[1,1]<stderr>:"],
            ["[rank0]: ", "[rank1]: "],
            ["worker-1  | ", "worker-2  | "],
        ] {
            let mixed: String = text.lines().map(|line| format!("{first}{line}\n{second}{line}\n")).collect();
            let parts = |text: &str| {
                let answer = without_places(text);
                let is_new = |all: &mut Vec<Value>, value: Value| {
                    if !all.contains(&value) {
                        all.push(value)
                    }
                };
                let mut amounts = Vec::new();
                answer["amounts"].as_array().unwrap().iter().for_each(|amount| is_new(&mut amounts, amount.clone()));
                (amounts, answer["causes"].clone(), answer["largest"].clone())
            };
            assert_eq!(parts(&mixed), parts(&text), "{name} as\n{mixed}");
        }
    }
    let lines = |text: &str| scanned(text).causes().iter().map(|cause| cause.refused.line()).collect::<Vec<_>>();
    let text = "0: ran out of memory trying to allocate 24.00GiB (rounded to 25769803776)requested by op\n1: a\n0: ****____\n0: b\n";
    assert_eq!(lines(text), [1]);
    let peak = "Peak buffers:\n\tBuffer 1:\n\t\tSize: 16.00GiB\n\t\tShape: f32[64,8192,8192]\n";
    assert!(!answer(peak).contains("mixed"), "{}", answer(peak));
    let twice = answer(&peak.lines().map(|line| format!("{line}\n{line}\n")).collect::<String>());
    assert!(twice.contains("seem to be mixed") && !twice.contains("no shape"), "{twice}");
}

/// No type is converted to itself.
#[test]
fn a_type_is_not_converted_to_itself() {
    for (found, to) in
        [("int32", "float32"), ("int8", "int32"), ("bfloat16", "float32"), ("unsigned integers", "int32")]
    {
        let text = answer(&format!("NotImplementedError: Reductions over {found} not implemented."));
        assert!(text.contains(&format!("x.astype(jnp.{to})")), "{text}");
    }
}

/// A message that quotes an operation of a kernel is recognised as a log; a log with a module in it, as a module.
#[test]
fn reports_are_taken_for_what_they_are() {
    use xla_shape_program::{File, Input, Reading};
    for (name, expected) in [("016.txt", Reading::Log), ("008.txt", Reading::Hlo)] {
        let text = read(name);
        let file = File { name: name.to_owned(), bytes: text.as_bytes() };
        let found = Reading::all(Input { files: &[file], against: &[] });
        assert_eq!(found.first(), Some(&expected), "{name}");
    }
}

/// The lines that explain why a program is too large are not a second cause.
#[test]
fn a_message_is_one_cause() {
    let message = "Used 101.72G of 94.75G hbm. Exceeded hbm capacity by 6.97G.\n\nTotal hbm usage >= 102.72G:\n    reserved 1.00G\n    \
                   program 40.31G\n\nProgram hbm requirement 40.31G:\n    HLO temp 40.31G\n";
    assert_eq!(kinds(message), ["program"]);
    assert_eq!(kinds("Program hbm requirement 40.31G:\n    HLO temp 40.31G\n"), ["program"]);
}

/// `scripts/refusals.py` makes the messages with the compilers for TPUs, and compiles the remedies.
#[test]
fn refusals_of_compilers_are_named() {
    let rows = rows("refusals.jsonl");
    assert!(rows.len() >= 60);
    for row in rows {
        let found = kinds(row["message"].as_str().unwrap());
        assert_eq!(found.first().map(String::as_str), row["kind"].as_str(), "{row}");
    }
}

#[test]
fn the_modules_of_a_profile_are_read() {
    let open = |name: &str| Program::read(name, fs::read(folder().join(name)).unwrap()).unwrap();
    let program = open("010.tpu.xplane.pb");
    assert_eq!(program.module().name(), Some("jit_matmul_optimized"));
    assert_eq!(program.generation(), Some(xla_shape::tpu::Generation::V6e));
    // The profile has the compiler's buffer assignment of the module, so the account is exact.
    assert!(program.memory(None).timeline().unwrap().account().exact);
    let program = open("010.cpu.xplane.pb");
    assert_eq!((program.module().name(), program.generation()), (Some("jit__lambda"), None));
    assert!(program.module().check().is_empty());

    // For a profile without modules, and for a file format that is not supported, the error says what the file is.
    let refused = |bytes: Vec<u8>| Program::read("f", bytes).unwrap_err().to_string();
    assert!(refused([&[0x0a, 11, 0x12, 9], &b"/host:CPU"[..]].concat()).starts_with("error: f: this is a profile"));
    let riegeli = [&b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f"[..], &[0; 56]].concat();
    assert!(refused(riegeli).starts_with("error: f: these are records of Riegeli"));
}

#[test]
fn an_earlier_temporary_has_the_memory_of_the_result() {
    let text = read("004.hlo");
    let module = Module::parse(&text).unwrap();
    // `compiled.memory_analysis()` of jax 0.10.2.
    assert_eq!(module.memory().timeline().unwrap().account().device.temporaries, 1_120_256);
}

/// The texts of all cases.
fn cases() -> Vec<String> {
    let mut texts: Vec<String> = WANTED.iter().map(|(name, ..)| read(name)).collect();
    for name in ["public.jsonl", "refusals.jsonl"] {
        texts.extend(rows(name).iter().map(|row| row["message"].as_str().unwrap().to_owned()));
    }
    texts
}

/// Whether the parts of `words`, between `…`, are in a text in this order.
fn has_words(text: &str, words: &str) -> bool {
    let mut rest = text;
    words.split('…').map(str::trim).all(|part| {
        let found = rest.find(part);
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

/// Each row of the table of messages in `docs/symptoms.md` names words of messages, and XLA's code if there is one. Each of these words is in a case
/// that is answered, and the answer has the code.
#[test]
fn each_symptom_has_a_case() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/symptoms.md")).unwrap();
    let (_, section) = page.split_once("\n## Messages and codes\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let cases: Vec<String> = cases().iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let mut all = 0;
    for row in section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| you see")) {
        let cell = row.split('|').nth(1).unwrap();
        let words: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!words.is_empty(), "{row}");
        let mut answers = Vec::new();
        for words in words {
            let found: Vec<_> = cases.iter().filter(|text| has_words(text, words)).collect();
            assert!(!found.is_empty(), "no case has `{words}`");
            answers.extend(found.into_iter().map(|text| {
                let scan = scanned(text);
                assert!(!scan.is_empty(), "{text}");
                scan.text(1000).to_string()
            }));
        }
        for code in cell.split('`').step_by(2).flat_map(|text| text.split(", ")).map(str::trim) {
            if code.len() == 5 && code.starts_with('E') {
                assert!(answers.iter().any(|answer| answer.contains(code)), "no answer has {code}");
            }
        }
        all += 1;
    }
    assert!(all >= 20, "{all}");
}
