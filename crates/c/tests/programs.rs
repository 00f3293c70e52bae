//! C and C++ programs over the header and the static library: they compile without warnings, in every language version, and run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The installed compilers of a language: the one that the environment variable `variable` names, and those of `usual` that run.
fn compilers(variable: &str, usual: [&str; 2]) -> Vec<String> {
    let works =
        |name: &String| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let named = env::var(variable).ok().filter(|name| !name.is_empty());
    let found: Vec<_> = named.into_iter().chain(usual.map(str::to_owned)).filter(works).collect();
    if found.is_empty() {
        println!("skipped: no compiler of {usual:?} is installed, and {variable} names none");
    }
    found
}

fn c() -> Vec<String> {
    compilers("CC", ["gcc", "clang"])
}

fn cpp() -> Vec<String> {
    compilers("CXX", ["g++", "clang++"])
}

/// The folder where cargo has put the libraries.
fn libraries() -> PathBuf {
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(folder.join("libxla_shape_c.a").is_file(), "no libxla_shape_c.a in {}", folder.display());
    folder
}

/// Compiles and runs a program of `examples` or `tests`, with the static and with the shared library. Returns what it prints.
fn run(compiler: &str, standard: &str, source: &str, more: &[&str]) -> String {
    let folder = libraries();
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = source.rsplit('/').next().unwrap();
    let succeeds = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let object = scratch.join(format!("{name}-{standard}.o"));
    let mut compile = Command::new(compiler);
    compile.arg(format!("-std={standard}")).args(WARNINGS).args(more).arg("-I").arg(root().join("include"));
    succeeds(compile.arg("-c").arg(root().join(source)).arg("-o").arg(&object));
    let mut texts = Vec::new();
    for shared in [false, true] {
        let program = scratch.join(format!("{name}-{standard}-{shared}.out"));
        let mut link = Command::new(compiler);
        link.arg(&object).arg("-o").arg(&program);
        if shared {
            link.arg("-L").arg(&folder).arg("-lxla_shape_c").arg(format!("-Wl,-rpath,{}", folder.display()));
        } else {
            link.arg(folder.join("libxla_shape_c.a"));
        }
        // The standard library of Rust needs these libraries. Where a system has no files for them, they are part of its C library.
        if cfg!(target_os = "linux") {
            link.args(["-lpthread", "-ldl", "-lm"]);
        }
        succeeds(&mut link);
        let output = Command::new(&program).current_dir(root()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && errors.is_empty(),
            "{source} with {compiler}: {}{text}{errors}",
            output.status
        );
        texts.push(text);
    }
    assert_eq!(texts[0], texts[1]);
    texts.swap_remove(0)
}

#[test]
#[cfg(unix)]
fn the_copy_of_a_plug_in() {
    for compiler in c() {
        let text = run(&compiler, "c99", "examples/copy_to_host.c", &[]);
        assert_eq!(
            text,
            "from f32[1000,300]{0,1:T(8,128)} to f32[1000,300]{1,0:T(8,128)}\n\
             copied 1245184 bytes in 8 parts\n\
             element (3,150) is 3150\n"
        );
    }
}

#[test]
#[cfg(unix)]
fn the_loop_over_a_tiled_buffer() {
    for compiler in cpp() {
        let text = run(&compiler, "c++17", "examples/tiled_loop.cpp", &["-Wshadow", "-Wconversion"]);
        assert!(text.contains("12288 bytes, of them 6288 padding\nrow 0: 44850\n"), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn errors_as_values() {
    for compiler in cpp() {
        let text = run(&compiler, "c++17", "examples/expected.cpp", &["-fno-exceptions", "-Wshadow", "-Wconversion"]);
        assert!(text.starts_with("device 0: 0...3 0...256\n"), "{text}");
        assert!(text.contains("f32[10,256]{1,1}\n"), "{text}");
    }
}

/// The example at the top of the header compiles and runs.
#[test]
#[cfg(unix)]
fn the_example_of_the_header() {
    let example = |header: &str, lead: &str, name: &str| {
        let text = std::fs::read_to_string(root().join("include").join(header)).unwrap();
        let lines = text.lines().skip_while(|line| !line.contains("#include"));
        let lines = lines.take_while(|line| line.starts_with(&format!("{lead}   ")) || *line == lead);
        let program: String = lines.map(|line| format!("{}\n", line.strip_prefix(lead).unwrap())).collect();
        assert!(program.contains("int main("), "{program}");
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, program).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let expected = "53248 bytes, element (1,0) is at 1\n";
    for compiler in c() {
        assert_eq!(run(&compiler, "c99", &example("xla_shape.h", " *", "header.c"), &[]), expected);
    }
    for compiler in cpp() {
        assert_eq!(run(&compiler, "c++17", &example("xla_shape.hpp", "//", "header.cpp"), &[]), expected);
    }
}

/// A compiled C program compares XLA's element maps with the library.
#[test]
#[cfg(unix)]
fn xla_s_element_maps() {
    for compiler in c() {
        let text = run(&compiler, "c99", "tests/maps.c", &[]);
        let corpus = root().join("../../tests/corpus/linear_index.jsonl");
        let rows = std::fs::read_to_string(corpus).unwrap().lines().count();
        assert_eq!(text, format!("{rows} of {rows} maps agree\n"));
    }
}

/// Both headers compile in every version of both languages, alone and together.
#[test]
fn versions_of_the_languages() {
    let compile = |compiler: &str, language: &str, standard: &str, header: &str, more: &[&str]| {
        let header = root().join("include").join(header);
        let mut command = Command::new(compiler);
        command.args(["-fsyntax-only", "-x", language]).arg(format!("-std={standard}")).args(WARNINGS).args(more);
        let output = command.arg("-include").arg(header).arg("/dev/null").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // Older compilers do not know newer languages.
        assert!(output.status.success() || errors.contains("-std="), "{command:?}: {errors}");
    };
    if cfg!(not(unix)) {
        return;
    }
    for compiler in c() {
        for standard in ["c99", "c11", "c17", "c2x"] {
            compile(&compiler, "c", standard, "xla_shape.h", &[]);
        }
    }
    for compiler in cpp() {
        for standard in ["c++17", "c++20", "c++23"] {
            compile(&compiler, "c++", standard, "xla_shape.h", &[]);
            compile(&compiler, "c++", standard, "xla_shape.hpp", &["-Wshadow", "-Wconversion"]);
            compile(&compiler, "c++", standard, "xla_shape.hpp", &["-DXLA_SHAPE_NO_EXCEPTIONS", "-fno-exceptions"]);
        }
    }
}

/// `scripts/c_header.sh --check` compares the header with what cbindgen makes. Without cbindgen, this finds a function that is missing.
#[test]
fn the_header_has_every_function() {
    let header = std::fs::read_to_string(root().join("include/xla_shape.h")).unwrap();
    let mut functions = 0;
    let folders = [root().join("src"), root().join("src/border")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let source = std::fs::read_to_string(file).unwrap();
        for declared in source.split("extern \"C\" fn ").skip(1) {
            let name = declared.split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is not in the header: run scripts/c_header.sh");
            functions += 1;
        }
    }
    let declared =
        header.lines().filter(|line| !line.trim_start().starts_with('*') && line.contains("xla_shape_")).count();
    assert_eq!(functions, declared, "the header has other functions: run scripts/c_header.sh");
}
