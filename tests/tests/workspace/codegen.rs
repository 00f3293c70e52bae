//! The machine code of the index functions and kernels in `tests/codegen` is as good as the code of functions written by hand. Index functions still
//! have the recorded code (in `golden/`; `scripts/bless.sh` writes it). Kernels consist of vector instructions, on newer machines too.
//!
//! Optimising the library for these tests takes longer than any other test, so they need a feature: `.ci/run` turns it on, or `cargo test -p
//! xla-shape-tests --features optimised --test workspace codegen`.
//!
//! They run only on x86-64 with the pinned toolchain, because other machines and compilers give other code.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};
use xla_shape_ui_tests::Compiler;

/// The compiler, with the optimised build of the library.
static COMPILER: LazyLock<Compiler> = LazyLock::new(|| Compiler::optimised(FOLDER));
/// The machine code for the oldest machine. It contains versions for newer ones, inside `vector::run`.
static OLDEST: LazyLock<String> = LazyLock::new(|| compile("x86-64"));
/// The machine code for AVX-512.
static NEWEST: LazyLock<String> = LazyLock::new(|| compile("x86-64-v4"));

/// The folder for the compiler's output.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Every function of the package, by module and name, with its instructions.
type Functions = BTreeMap<(String, String), Vec<String>>;

fn functions() -> &'static Functions {
    static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| parse(&OLDEST));
    &FUNCTIONS
}

fn compile(machine: &str) -> String {
    let assembly = format!("{FOLDER}/{machine}.s");
    let emit = format!("--emit=asm={assembly}");
    let target = format!("-Ctarget-cpu={machine}");
    let code = ["-Cllvm-args=-x86-asm-syntax=intel", "-Ccodegen-units=1", "-Csymbol-mangling-version=v0"];
    let rest = ["--crate-type", "lib", "--crate-name", "xla_shape_codegen", "-Cforce-unwind-tables=no", &target, &emit];
    let output = COMPILER.compile("tests/codegen/src/lib.rs", &[&code[..], &rest].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(assembly).expect("the assembly is text")
}

/// The functions of an assembly file, from names such as `_RNvNtCs…_17xla_shape_codegen9row_major7library`.
///
/// If functions have the same code, the compiler keeps one and makes the others aliases of it.
fn parse(assembly: &str) -> Functions {
    let mut functions = BTreeMap::new();
    let mut aliases = Vec::new();
    let mut current: Option<&mut Vec<String>> = None;
    for line in assembly.lines() {
        if let Some((name, target)) = line.split_once(" = ") {
            aliases.extend(function_name(name).zip(function_name(target)));
        } else if let Some(label) = line.strip_suffix(':') {
            if let Some(name) = function_name(label).or_else(|| kernel_of(label)) {
                current = Some(functions.entry(name).or_default());
            } else if label.starts_with(".Lfunc_end") {
                current = None;
            }
        } else if let Some(instructions) = &mut current {
            let instruction = line.split('#').next().unwrap_or("").trim();
            if !instruction.is_empty() && !instruction.starts_with('.') {
                instructions.push(without_numbers_of_the_package(&instruction.replace('\t', " ")));
            }
        }
    }
    for (name, target) in aliases {
        let instructions = functions[&target].clone();
        functions.insert(name, instructions);
    }
    functions
}

/// Labels contain the number of a function or a hash of the package, which change with any other function. So `.LCPI38_0` becomes `.LCPI_0`, and
/// `.Lanon.6574397d.1` becomes `.Lanon.1`.
fn without_numbers_of_the_package(instruction: &str) -> String {
    let mut text = instruction.to_owned();
    for (label, digits) in [(".LCPI", 10), (".LBB", 10), (".LJTI", 10), (".Lanon.", 16)] {
        let mut parts = text.split(label);
        let mut shortened = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.trim_start_matches(|c: char| c.is_digit(digits));
            shortened.push_str(label.trim_end_matches('.'));
            shortened.push_str(rest);
        }
        text = shortened;
    }
    text
}

/// The module and the name of a function of the package; `None` for any other symbol.
fn function_name(symbol: &str) -> Option<(String, String)> {
    let (_, mut rest) = symbol.strip_prefix("_RNv")?.split_once("17xla_shape_codegen")?;
    let mut names = Vec::new();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (name, after) = identifier(rest);
        names.push(name);
        rest = after;
    }
    match names[..] {
        [.., module, function] if rest.is_empty() => Some((module.to_owned(), function.to_owned())),
        _ => None,
    }
}

/// The kernel to which a closure, or a generic function with a closure, belongs. Its code counts as part of the kernel.
fn kernel_of(symbol: &str) -> Option<(String, String)> {
    let symbol = symbol.strip_prefix("_R")?;
    if let Some((_, rest)) = symbol.rsplit_once("17xla_shape_codegen6copies") {
        return Some(("copies".to_owned(), identifier(rest).0.to_owned()));
    }
    let (_, rest) = symbol.rsplit_once("17xla_shape_codegen7kernels")?;
    let (module, rest) = identifier(rest);
    let (function, _) = identifier(rest);
    Some((module.to_owned(), function.to_owned()))
}

/// The first identifier of a mangled name such as `9row_major7library`, and the rest.
fn identifier(mangled: &str) -> (&str, &str) {
    let digits = mangled.find(|c: char| !c.is_ascii_digit()).expect("a name follows its length");
    let length = mangled[..digits].parse().expect("digits are a number");
    mangled[digits..].trim_start_matches('_').split_at(length)
}

/// The vector instructions that each kernel must have. They do all of its arithmetic, except combining the lanes of a vector.
const KERNELS: &[(&str, &[&str])] = &[
    ("fill_f32", &["movups"]),
    ("fill_bf16", &["movdqu"]),
    ("sum_f32", &["addps"]),
    ("sum_bf16", &["punpcklwd", "addps"]),
    ("scale_f32", &["mulps"]),
    ("scale_bf16", &["punpcklwd", "mulps", "psrld"]),
    ("scale_padded", &["mulps"]),
    ("axpy_f32", &["mulps", "addps"]),
    ("axpy_bf16", &["punpcklwd", "mulps", "addps", "psrld"]),
    ("axpy_from_row_major", &["mulps", "addps"]),
    ("softmax_f32", &["maxps", "mulps", "addps", "paddd"]),
    ("softmax_bf16", &["punpcklwd", "maxps", "mulps", "addps", "paddd"]),
    ("stencil_27", &["addps"]),
    ("product", &["mulps", "addps"]),
    ("axpy_by_runs", &["mulps", "addps"]),
    ("product_by_runs", &["mulps", "addps"]),
];

/// The most scalar arithmetic instructions in a kernel: enough to combine 16 lanes twice, and to divide.
const MAX_SCALAR: usize = 40;

#[test]
fn kernels_are_made_of_vector_instructions() {
    let functions = functions();
    for (kernel, wanted) in KERNELS {
        let code = &functions[&((*kernel).to_owned(), "library".to_owned())];
        let count = |wanted: &dyn Fn(&str) -> bool| {
            code.iter().filter(|line| wanted(line.split(' ').next().unwrap_or_default())).count()
        };
        for wanted in *wanted {
            assert!(count(&|found| found == *wanted) > 0, "{kernel} has no {wanted}:\n{}", code.join("\n"));
        }
        let scalar = ["addss", "subss", "mulss", "divss", "maxss", "minss"];
        let scalar = count(&|found| scalar.contains(&found));
        assert!(scalar <= MAX_SCALAR, "{kernel} has {scalar} scalar instructions:\n{}", code.join("\n"));
    }
}

/// Groups of rows that alternate in memory are copied by loops of vector instructions that call no function for an element. Ranges that are equal in
/// both are copied by `memcpy`.
#[test]
fn copies_between_packed_tiles_call_only_memcpy() {
    for (copy, wanted, memcpys) in [
        ("narrow", &["psrld", "paddd", "por", "movdqu"][..], 0),
        ("narrow_to_groups_of_four", &["psrld", "paddd", "por", "movdqu"], 0),
        ("widen", &["pslld", "movdqu"], 0),
        ("copy_block", &[], 2),
    ] {
        let code = &functions()[&("copies".to_owned(), copy.to_owned())];
        for wanted in wanted {
            assert!(code.iter().any(|line| line.starts_with(wanted)), "{copy} has no {wanted}:\n{}", code.join("\n"));
        }
        let mut calls: Vec<_> = code.iter().filter(|line| line.starts_with("call")).collect();
        // Ignore calls that only a failed check makes, and calls to parts of the library's own loop. But count functions of `core` that
        // call these parts, as iterators over arrays do.
        let is_own = |line: &str| {
            let own = line.find("9xla_shape");
            line.contains("apply_with") && own.is_some_and(|own| line.find("4core").is_none_or(|core| own < core))
        };
        calls.retain(|line| !line.contains("panicking") && !line.contains("slice_index_fail") && !is_own(line));
        let is_memcpy = |line: &&&String| line.contains("memcpy");
        assert!(calls.len() <= memcpys && calls.iter().all(|line| is_memcpy(&line)), "{copy} calls {calls:#?}");
        assert_eq!(memcpys > 0, calls.iter().any(|line| is_memcpy(&line)), "{copy}");
    }
}

/// With AVX-512, LLVM may vectorize a loop over chunks across the chunks, which takes several times as long as processing one chunk after the other.
#[test]
fn library_neither_gathers_nor_scatters() {
    let assembly = &*NEWEST;
    // Only AVX-512 has masks, also for shorter vectors.
    assert!(assembly.contains("zmm") || assembly.contains("{%k"), "the code is for AVX-512");
    let mut function = "";
    for line in assembly.lines() {
        if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with("_R")) {
            function = label;
        }
        let instruction = line.trim_start().split('\t').next().unwrap_or_default();
        let is_slow =
            instruction.starts_with('v') && (instruction.contains("gather") || instruction.contains("scatter"));
        assert!(!is_slow || function.ends_with("by_hand"), "{function} has {line}");
    }
}

/// The innermost loop of a product: of the blocks between labels in the function whose name has these parts, the one with the most of this
/// instruction.
fn innermost_loop<'a>(assembly: &'a str, name: &[&str], instruction: &str) -> Vec<&'a str> {
    let (mut in_function, mut blocks, mut block) = (false, Vec::new(), Vec::new());
    for line in assembly.lines() {
        if let Some(label) = line.strip_suffix(':') {
            if label.starts_with("_R") {
                in_function = name.iter().all(|part| label.contains(part));
            }
            blocks.push(std::mem::take(&mut block));
        } else if in_function && !line.trim_start().starts_with('.') {
            block.push(line);
        }
    }
    blocks.into_iter().max_by_key(|block| count(block, instruction)).expect("the assembly has blocks")
}

/// How many lines contain this text.
fn count(block: &[&str], wanted: &str) -> usize {
    block.iter().filter(|line| line.contains(wanted)).count()
}

/// Whatever the target, the versions for newer machines keep sums in registers: 8 rows of 32 columns with AVX-512, 6 rows of 16 with AVX2.
#[test]
fn products_have_their_sums_in_registers() {
    for (version, elements, instruction, vectors) in [
        ("with_vnni", "2S8", "vpdpbusd", 16),
        ("with_vnni", "3F32", "vfmadd", 16),
        ("with_bf16", "4Bf16", "vdpbf16ps", 16),
        ("with_avx2", "3F32", "vfmadd", 12),
        ("with_avx2", "4Bf16", "vfmadd", 12),
    ] {
        let inner = innermost_loop(&OLDEST, &[version, "7Product", elements], instruction);
        let text = inner.join("\n");
        let found = count(&inner, instruction);
        assert!(found >= vectors, "{version}, {elements}: expected {vectors} of {instruction}:\n{text}");
        for slow in ["gather", "rsp", "call"] {
            assert_eq!(count(&inner, slow), 0, "{version}, {elements}: {slow} in the innermost loop:\n{text}");
        }
    }
}

/// Kernels of plain Rust: their versions for AVX2 and AVX-512 consist of vector instructions.
#[test]
fn kernels_for_newer_machines_are_vectorized() {
    let of_lanes: &[&str] = &["call", "vaddss", "vpextr", "vpinsr", "cvttss2si"];
    let in_rows: &[&str] = &["vgather", "vscatter", "call expf", "call fmaf"];
    for (kernel, version, wanted, slow) in [
        ("Conversions", "with_avx2", &["vpmovsxbd", "vpmovzxwd", "vaddps"][..], of_lanes),
        ("Conversions", "with_avx512", &["vpmovsxbd", "vpmovzxwd", "vaddps"], of_lanes),
        // For one row at a time: the largest score, `exp`, and the sum.
        ("Softmax", "with_avx2", &["vmaxps ymm", "vmulps ymm", "vpslld ymm", "vaddps ymm"], in_rows),
        ("Softmax", "with_avx512", &["vmaxps zmm", "vmulps zmm", "vpslld zmm", "vaddps zmm"], in_rows),
        // For one line at a time.
        ("Rows", "with_avx2", &["vmulps ymm", "vaddps ymm"], in_rows),
        ("Rows", "with_avx512", &["vmulps zmm", "vaddps zmm"], in_rows),
    ] {
        let is_start = |line: &&str| line.starts_with("_R") && line.contains(version) && line.contains(kernel);
        let code = OLDEST.lines().skip_while(|line| !is_start(line));
        let code = code.take_while(|line| !line.starts_with(".Lfunc_end"));
        let code = code.map(|line| line.trim_start().replace('\t', " ")).collect::<Vec<_>>();
        for wanted in wanted {
            let is_there = code.iter().any(|line| line.starts_with(wanted));
            assert!(is_there, "{kernel} {version} has no {wanted}:\n{}", code.join("\n"));
        }
        for slow in slow {
            let found = code.iter().filter(|line| line.starts_with(slow)).count();
            assert_eq!(found, 0, "{kernel} {version} has {slow}:\n{}", code.join("\n"));
        }
    }
}

#[test]
fn functions_are_as_good_as_by_hand() {
    let functions = functions();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("codegen/golden");
    let bless = env::var_os("BLESS").is_some();
    let mut report = String::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for ((module, function), library) in functions {
        if function != "library" {
            continue;
        }
        count += 1;
        let by_hand = &functions[&(module.clone(), "by_hand".to_owned())];
        // Both end with `ret`, which does not count.
        let (ours, theirs) = (library.len() - 1, by_hand.len() - 1);
        writeln!(report, "{module}: {ours} instructions, {theirs} by hand").expect("a string takes any text");
        // Kernels may have unrolled loops with thousands of instructions, so the numbers may differ a little.
        let is_kernel = KERNELS.iter().any(|(kernel, _)| kernel == module);
        let allowed = if is_kernel { theirs + theirs / 20 } else { theirs };
        // In `scale_padded`, the loop over segments is a separate generic function: 708 instructions in all, against 397 by hand. The report shows
        // both.
        if ours > allowed && module != "scale_padded" {
            failures.push(format!(
                "{module}: more than by hand:\n{}\nby hand:\n{}",
                library.join("\n"),
                by_hand.join("\n")
            ));
        }
        if is_kernel {
            continue;
        }
        let (file, text) = (golden.join(format!("{module}.s")), format!("{}\n", library.join("\n")));
        if bless {
            fs::write(&file, &text).expect("the golden file can be written");
        } else if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
            failures.push(format!("{module}: not as in {}:\n{text}", file.display()));
        }
    }
    print!("{report}");
    assert!(count >= 12 + KERNELS.len(), "only {count} functions were found");
    assert!(failures.is_empty(), "{report}\n{}", failures.join("\n\n"));
}
