//! Faults of the system: no memory, a full disk, closed pipes, files that change.

use crate::program::{Command, in_words};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_xla-shape");

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    Command::program().current_dir(folder).args(arguments).output().unwrap()
}

fn start(folder: &TempDir, arguments: &[&str]) -> Child {
    std::process::Command::new(PROGRAM)
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn folder_with(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn error(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    std::str::from_utf8(&output.stderr).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

const RELAYOUT: &[&str] = &["relayout", "in.bin", "--from", "u8[2,3]", "--to", "{0,1}", "-o"];

#[test]
fn huge_requests_are_answered_without_huge_memory() {
    let folder = folder_with(&[("in.bin", &[1, 2, 3, 4, 5, 6])]);
    let huge = "u8[2,3]{1,0:T(2000000000000,300)}";
    let output = run(&folder, &["relayout", "in.bin", "--from", "u8[2,3]", "--to", huge, "-o", "out.bin"]);
    // Systems that can reserve space for files report the full disk before any work.
    let said = error(&output);
    assert!(said.contains("not enough memory for") || said.contains("cannot write `out.bin`"), "{output:?}");
    let output = run(&folder, &["relayout", "in.bin", "--from", "u8[2,3]", "--to", huge, "-o", "-"]);
    assert!(error(&output).contains("not enough memory for"), "{output:?}");
    let output =
        run(&folder, &["relayout", "in.bin", "--from", "u8[2000000000000,3]", "--to", "{0,1}", "-o", "out.bin"]);
    assert!(error(&output).contains("expected 6000000000000 bytes"), "{output:?}");
    assert_eq!(names(folder.path()), ["in.bin"]);

    // Arrays without elements, but with huge sizes in other dimensions.
    fs::write(folder.path().join("empty.raw"), b"").unwrap();
    for element_bits in [i64::MAX as u64, 1 << 40, 136] {
        let from = format!("u8[0]{{0:E({element_bits})}}");
        let to = format!("u8[0]{{0:T(8)E({element_bits})}}");
        let output = run(&folder, &["relayout", "empty.raw", "--from", &from, "--to", &to, "-o", "out.raw"]);
        assert!(output.status.success(), "{output:?}");
        assert!(fs::read(folder.path().join("out.raw")).unwrap().is_empty());
    }

    // A picture shows only a part of a large array, so its size is limited.
    for shape in ["f32[2000000000,1000000000]", "f32[3,5]{1,0:T(2000000000,1000000000)}", "pred[9223372036854775807]"] {
        let output = run(&folder, &["draw", shape]);
        assert!(output.stdout.len() + output.stderr.len() < 1 << 20, "{shape}");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{shape}: {output:?}");
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder_with(&[("in.bin", &[7; 1 << 20]), ("out.bin", b"old")]);
    // A limit on the size of files acts like a full disk: reserving space fails, or else a write fails halfway.
    for slab in [1 << 20, 4096] {
        let command = format!(
            "trap '' XFSZ; ulimit -f 8; exec '{PROGRAM}' relayout in.bin --from 'u8[1024,1024]' --to '{{0,1}}' \
             --slab-bytes {slab} -o out.bin"
        );
        let output = Command::new("bash").args(["-c", &command]).current_dir(&folder).output().unwrap();
        assert!(error(&output).starts_with("error: cannot write `out.bin`: "), "{output:?}");
        assert_eq!(fs::read(folder.path().join("out.bin")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["in.bin", "out.bin"], "nothing is left over");
    }
}

#[test]
fn an_array_that_nobody_reads_any_more_ends_the_program() {
    let folder = folder_with(&[("in.bin", &[7; 1 << 20])]);
    let arguments =
        ["relayout", "in.bin", "--from", "u8[1024,1024]", "--to", "{0,1}", "--slab-bytes", "4096", "-o", "-"];
    let mut child = start(&folder, &arguments);
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 5000]).unwrap();
    drop(output);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn devices_are_written_to_and_stay_devices() {
    let folder = folder_with(&[("in.bin", &[1, 2, 3, 4, 5, 6])]);
    let output = run(&folder, &[RELAYOUT, &["/dev/null"]].concat());
    assert!(output.status.success(), "{output:?}");
    if Path::new("/dev/full").exists() {
        let output = run(&folder, &[RELAYOUT, &["/dev/full"]].concat());
        assert!(error(&output).starts_with("error: cannot write `/dev/full`: No space left"), "{output:?}");
        let output = run(&folder, &["draw", "f32[3,5]", "--svg", "/dev/full"]);
        assert!(error(&output).starts_with("error: cannot write `/dev/full`: No space left"), "{output:?}");
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(PROGRAM).args(["draw", "f32[3,5]"]).stdout(full).output().unwrap();
        assert!(error(&output).starts_with("error: cannot write to standard output: No space left"), "{output:?}");
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn what_may_not_be_written_stays() {
    let folder = folder_with(&[("in.bin", &[1, 2, 3, 4, 5, 6]), ("out.bin", b"old")]);
    let out = folder.path().join("out.bin");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o444)).unwrap();
    let output = run(&folder, &[RELAYOUT, &["out.bin"]].concat());
    assert_eq!(error(&output), "error: cannot write `out.bin`: the file is read-only\n");
    assert_eq!(fs::read(&out).unwrap(), b"old");
    fs::create_dir(folder.path().join("folder")).unwrap();
    let output = run(&folder, &[RELAYOUT, &["folder"]].concat());
    assert!(error(&output).starts_with("error: cannot write `folder`: Is a directory"), "{output:?}");
    assert_eq!(names(folder.path()), ["folder", "in.bin", "out.bin"]);
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link() {
    let folder = folder_with(&[("in.bin", &[1, 2, 3, 4, 5, 6]), ("out.bin", b"old")]);
    let (out, link) = (folder.path().join("out.bin"), folder.path().join("link.bin"));
    fs::set_permissions(&out, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("out.bin", &link).unwrap();
    let output = run(&folder, &[RELAYOUT, &["link.bin"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&out).unwrap(), [1, 4, 2, 5, 3, 6]);
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A replaced file keeps its group and permissions, without the set-user-id, set-group-id and sticky bits.
#[test]
fn a_replaced_file_keeps_its_group_but_no_more() {
    let folder = folder_with(&[("in.bin", &[1, 2, 3, 4, 5, 6]), ("out.bin", b"old")]);
    let out = folder.path().join("out.bin");
    // Some users may not change the group of a file.
    let own = fs::metadata(&out).unwrap().gid();
    let group = if chown(&out, None, Some(4321)).is_ok() { 4321 } else { own };
    fs::set_permissions(&out, fs::Permissions::from_mode(0o7764)).unwrap();
    let output = run(&folder, &[RELAYOUT, &["out.bin"]].concat());
    assert!(output.status.success(), "{output:?}");
    let new = fs::metadata(&out).unwrap();
    assert_eq!((new.mode() & 0o7777, new.gid()), (0o764, group));
}

#[test]
fn a_link_that_leads_to_nothing_stays_and_then_leads_to_the_file() {
    let folder = folder_with(&[("in.bin", &[1, 2, 3, 4, 5, 6])]);
    fs::create_dir(folder.path().join("there")).unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink("there/second.bin", at("first.bin")).unwrap();
    symlink("out.bin", at("there/second.bin")).unwrap();
    let output = run(&folder, &[RELAYOUT, &["first.bin"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert!(["first.bin", "there/second.bin"].iter().all(|link| fs::symlink_metadata(at(link)).unwrap().is_symlink()));
    assert!(fs::symlink_metadata(at("there/out.bin")).unwrap().is_file());
    assert_eq!(fs::read(at("first.bin")).unwrap(), [1, 4, 2, 5, 3, 6]);

    symlink("nowhere/out.bin", at("astray.bin")).unwrap();
    symlink("circle.bin", at("circle.bin")).unwrap();
    for link in ["astray.bin", "circle.bin"] {
        let output = run(&folder, &[RELAYOUT, &[link]].concat());
        assert!(error(&output).starts_with(&format!("error: cannot write `{link}`: ")), "{output:?}");
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
    }
    assert_eq!(names(folder.path()), ["astray.bin", "circle.bin", "first.bin", "in.bin", "there"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_is_killed_leaves_the_old_file_and_no_other() {
    // INT is left out, because shells ignore it for background processes.
    for signal in ["KILL", "TERM"] {
        let folder = folder_with(&[("out.bin", b"old")]);
        // The file has no data, but is so large that the program needs a while.
        fs::File::create(folder.path().join("in.bin")).unwrap().set_len(1 << 30).unwrap();
        let arguments = ["relayout", "in.bin", "--from", "u8[32768,32768]", "--to", "{1,0:T(8,128)}", "-o", "out.bin"];
        let mut child = start(&folder, &[&arguments[..], &["--slab-bytes", "4096"]].concat());
        let counts = format!("/proc/{}/io", child.id());
        let has_written = || {
            let told = fs::read_to_string(&counts).unwrap();
            let written = told.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok());
            written.unwrap() > 100_000
        };
        while !has_written() {
            assert_eq!(child.try_wait().unwrap(), None, "it has begun to write");
            std::thread::yield_now();
        }
        let kill = format!("kill -{signal} {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert!(!child.wait().unwrap().success());
        assert_eq!(fs::read(folder.path().join("out.bin")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["in.bin", "out.bin"]);
    }
}

#[test]
fn input_that_stalls_is_waited_for_and_input_that_ends_early_is_an_error() {
    let folder = folder_with(&[("out.bin", b"old")]);
    let arguments = ["relayout", "-", "--from", "u8[2,3]", "--to", "{0,1}", "-o", "out.bin"];
    let mut child = start(&folder, &arguments);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&[1, 2, 3]).unwrap();
    assert_eq!(child.try_wait().unwrap(), None, "the rest may still come");
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(error(&output).contains("expected 6 bytes of u8[2,3]{1,0} in `-`, found 3"), "{output:?}");
    assert_eq!(fs::read(folder.path().join("out.bin")).unwrap(), b"old");

    let mut child = start(&folder, &arguments);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&[1, 2, 3]).unwrap();
    input.write_all(&[4, 5, 6]).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read(folder.path().join("out.bin")).unwrap(), [1, 4, 2, 5, 3, 6]);
}

#[test]
fn pipes_that_do_not_end_are_read_no_further_than_the_array() {
    let folder = folder_with(&[]);
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (2,)}";
    let npy = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    let header = r#"{"w":{"dtype":"U32","shape":[2],"data_offsets":[0,8]}}"#;
    let tensors = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    for (name, beginning, message) in [
        ("in.npy", npy, " or more\n"),
        ("in.npy", b"\x93NUMPY\x01\0".to_vec(), "the header is not text"),
        ("in.safetensors", tensors, "its tensors take 8 bytes, but 9 follow the header"),
        ("in.safetensors", vec![], "does not begin like a .safetensors file"),
        ("in.bin", vec![], "raw bytes have no shape"),
    ] {
        let pipe = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut pipe = fs::File::options().write(true).open(pipe).unwrap();
                let _ = pipe.write_all(&beginning);
                // Write until the reading end is closed.
                while pipe.write_all(&[0xff; 1 << 16]).is_ok() {}
            }
        });
        let output = run(&folder, &["relayout", name, "--to", "{0}", "-o", "out.bin"]);
        writer.join().unwrap();
        assert!(error(&output).contains(message), "{name}: {output:?}");
        fs::remove_file(pipe).unwrap();
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn output_that_nobody_reads_any_more_ends_the_program() {
    let folder = folder_with(&[]);
    let mut child = start(&folder, &["check", "-"]);
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    input.write_all(b"f32[2]\n").unwrap();
    output.read_exact(&mut [0; 8]).unwrap();
    drop(output);
    // Writing fails after the program has exited.
    while input.write_all(b"f32[2]\n").is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn two_programs_write_one_file_one_after_the_other() {
    let bytes: Vec<u8> = (0..1 << 16).map(|number| number as u8).collect();
    let folder = folder_with(&[("in.bin", &bytes)]);
    let arguments = |to| ["relayout", "in.bin", "--from", "u8[256,256]", "--to", to, "-o", "out.bin"];
    let [plain, turned] = ["{1,0}", "{0,1}"].map(|to| {
        assert!(run(&folder, &arguments(to)).status.success());
        fs::read(folder.path().join("out.bin")).unwrap()
    });
    assert_ne!(plain, turned);
    for _ in 0..10 {
        let children = ["{1,0}", "{0,1}"].map(|to| start(&folder, &arguments(to)));
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let out = fs::read(folder.path().join("out.bin")).unwrap();
        assert!(out == plain || out == turned, "a mixture");
    }
    assert_eq!(names(folder.path()), ["in.bin", "out.bin"]);
}

/// Reading a pipe without a writer would block forever.
#[test]
fn what_only_the_input_names_is_a_file() {
    let module = "HloModule m, is_scheduled=true\nENTRY e { ROOT a = f32[8]{0} parameter(0) }\n";
    let name = "module_0001.m.after_optimizations";
    let folder = folder_with(&[
        ("m.json", br#"{"weight_map":{"a":"pipe"}}"#),
        ("plan.json", br#"{"*":"{replicated}"}"#),
        (&format!("{name}.txt"), module.as_bytes()),
    ]);
    let pipes = ["pipe", &format!("{name}-buffer-assignment.txt"), "module_0002.n.after_optimizations.txt"];
    for pipe in pipes {
        assert!(std::process::Command::new("mkfifo").arg(folder.path().join(pipe)).status().unwrap().success());
    }
    let output = run(&folder, &["shard", "m.json", "--plan", "plan.json", "--device", "0", "-o", "out"]);
    assert_eq!(error(&output), "error: `m.json`: expected names of files, found \"pipe\"\n");
    assert!(run(&folder, &["hlo", "."]).status.success());
    assert!(run(&folder, &["hlo", &format!("{name}.txt")]).status.success());
    let line = format!("the full name for the type has been written to '{}'\n", folder.path().join("pipe").display());
    fs::write(folder.path().join("log.txt"), &line).unwrap();
    let output = run(&folder, &["rustc", "log.txt"]);
    assert_eq!(output.stdout, line.as_bytes());
    // The names of these output files come from the program, not from the user. They must be regular files, too.
    let one =
        [&[56, 0, 0, 0, 0, 0, 0, 0][..], br#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}   "#, b"x"].concat();
    fs::write(folder.path().join("w.safetensors"), one).unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let pipe = folder.path().join("out/w.device-0.safetensors");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = run(&folder, &["shard", "w.safetensors", "--plan", "plan.json", "--device", "0", "-o", "out"]);
    assert!(error(&output).contains("not a regular file"), "{output:?}");
}

/// Removes the codes for headings and for the colours of devices.
fn without_own_codes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[30;48;5;");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        result.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('m').unwrap_or("\u{1b}"));
    }
    // Remove the codes for bold, for the colours of errors, warnings and notes, and for their end.
    ["1", "31", "32", "33", "0"].iter().fold(result, |text, code| text.replace(&format!("\u{1b}[{code}m"), ""))
}

/// Names in files must not move a terminal's cursor or rename its window.
#[test]
fn nothing_that_a_file_names_controls_a_terminal() {
    let name = "\u{1b}]0;x\u{7}\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200f}";
    let module = format!(
        "HloModule m, is_scheduled=true\nENTRY e {{\n p = f32[800,1280]{{1,0:T(8,128)}} parameter(0), \
         metadata={{op_name=\"{name}/{name}\" source_file=\"{name}\" source_line=3}}\n ROOT r = f32[800,1280]{{1,0:T(8,128)}} \
         custom-call(p), custom_call_target=\"{name}\", metadata={{op_name=\"f/{name}\"}}\n}}\n"
    );
    let header = format!("{{\"{}\":{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}}}", "\\u001b]0;x\\u0007");
    let tensors = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), b"x"].concat();
    let broken = format!("HloModule m\nENTRY e {{\n ROOT r = f32[8] {name}\n}}\n");
    let folder =
        folder_with(&[("m.hlo", module.as_bytes()), ("w.safetensors", &tensors), ("broken.hlo", broken.as_bytes())]);
    for arguments in [
        &["hlo", "m.hlo"][..],
        &["hlo", "m.hlo", "--top", "100", "--space", "0"],
        &["hlo", "m.hlo", "--format", "json"],
        &["hlo", "diff", "m.hlo", "broken.hlo"],
        &["hlo", "broken.hlo"],
        &["scan", "m.hlo"],
        &["explain", name],
        &["check", "m.hlo"],
        &["draw", "f32[8]", "--sharding", &format!("{{mesh['{name}'=2], [{{'{name}'}}]}}")],
        &["relayout", "w.safetensors", "--tensor", "y", "-o", "out.npy"],
        &["relayout", name, "-o", "out.npy"],
        &["hlo", &format!("{name}.txt")],
    ] {
        // As on a terminal, with colours forced.
        let mut program = Command::program();
        let output = program.current_dir(&folder).env("CLICOLOR_FORCE", "1").args(arguments).output().unwrap();
        for stream in [output.stdout, output.stderr] {
            let text = without_own_codes(&String::from_utf8(stream).unwrap());
            assert!(!text.contains(is_control), "{arguments:?}: {text:?}");
        }
    }
    // On a real terminal, the text of a module is escaped too, and a message is refused.
    #[cfg(target_os = "linux")]
    {
        let (text, code) = on_a_terminal(&folder, &["hlo", "print", "m.hlo"]);
        assert!(code == 0 && text.contains("HloModule m") && text.contains("\\u{1b}]0;x\\u{7}"), "{text:?}");
        assert!(!text.replace("\r\n", "\n").contains(is_control), "{text:?}");
        assert_eq!(on_a_terminal(&folder, &["hlo", "print", "m.hlo", "--to", "proto"]), (String::new(), 1));
    }
    let output = run(&folder, &["hlo", "print", "m.hlo"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains(name));
}

fn is_control(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Runs the program on a terminal: its output and its exit code.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &TempDir, arguments: &[&str]) -> (String, i32) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let other = fs::File::options().read(true).write(true).open(name).unwrap();
    let mut program = std::process::Command::new(PROGRAM);
    program.current_dir(folder).args(arguments).stdout(other).stderr(Stdio::null());
    let mut child = program.spawn().unwrap();
    // Reading from the terminal ends when the last writer exits.
    drop(program);
    let mut written = Vec::new();
    let _ = fs::File::from(terminal).read_to_end(&mut written);
    (String::from_utf8(written).unwrap(), child.wait().unwrap().code().unwrap())
}

/// A file can have several names. Whichever is used, the program overwrites neither its input nor its other output.
#[test]
fn an_output_is_neither_an_input_nor_another_output() {
    let module = b"HloModule m, is_scheduled=true\nENTRY e { ROOT a = f32[8]{0} parameter(0) }\n";
    let folder = folder_with(&[
        ("in.hlo", module),
        ("in.bin", &[1, 2, 3, 4, 5, 6]),
        ("module_0001.m.after_optimizations.txt", module),
        ("module_0001.m.after_optimizations-memory-usage-report.txt", b""),
    ]);
    let at = |name: &str| folder.path().join(name);
    symlink("in.hlo", at("link.hlo")).unwrap();
    fs::hard_link(at("in.hlo"), at("hard.hlo")).unwrap();
    symlink("in.bin", at("link.bin")).unwrap();
    symlink("new.svg", at("link.svg")).unwrap();
    fs::create_dir(at("sub")).unwrap();
    let report = "module_0001.m.after_optimizations-memory-usage-report.txt";
    let relayout = |output| format!("relayout in.bin --from 'u8[2,3]' --to '{{0,1}}' -o {output}");
    let before = names(folder.path());
    for (arguments, output, input) in [
        ("hlo in.hlo --html in.hlo", "in.hlo", "in.hlo"),
        ("hlo in.hlo --html ./sub/../in.hlo", "./sub/../in.hlo", "in.hlo"),
        ("hlo in.hlo --html link.hlo", "link.hlo", "in.hlo"),
        ("hlo link.hlo --html hard.hlo", "hard.hlo", "link.hlo"),
        ("hlo - --html in.hlo < in.hlo", "in.hlo", "-"),
        ("hlo in.hlo --html - >> in.hlo", "-", "in.hlo"),
        (&format!("hlo . --html {report}"), report, &format!("./{report}")),
        ("compile in.hlo -o ./in.hlo", "./in.hlo", "in.hlo"),
        ("compile in.hlo --html hard.hlo", "hard.hlo", "in.hlo"),
        ("compile in.hlo --plugin in.bin -o link.bin", "link.bin", "in.bin"),
        (&relayout("in.bin"), "in.bin", "in.bin"),
        (&relayout("link.bin"), "link.bin", "in.bin"),
    ] {
        let output_of =
            Command::new("bash").args(["-c", &format!("{PROGRAM} {arguments}")]).current_dir(&folder).output();
        let message =
            format!("error: the output `{output}` is the same file as the input `{input}`: name another file\n");
        assert_eq!(error(&output_of.unwrap()), message, "{arguments}");
        assert!(fs::read(at("in.hlo")).unwrap() == module && fs::read(at("in.bin")).unwrap() == [1, 2, 3, 4, 5, 6]);
    }
    for (arguments, one, other) in [
        ("draw f32[8] --svg x --html x", "x", "x"),
        ("draw f32[8] --svg x --html ./sub/../x", "x", "./sub/../x"),
        ("draw f32[8] --svg new.svg --html link.svg", "new.svg", "link.svg"),
        ("draw f32[8] --svg hard.hlo --html in.hlo", "hard.hlo", "in.hlo"),
        ("compile in.bin -o x --html sub/../x", "x", "sub/../x"),
        ("compile in.bin -o x.y --html x.y --for v5e,v6e", "x.v5e-2x2.y", "x.v5e-2x2.y"),
    ] {
        let output = run(&folder, &arguments.split(' ').collect::<Vec<_>>());
        let message =
            format!("error: the outputs `{one}` and `{other}` are the same file: name another one for one of them\n");
        assert_eq!(error(&output), message, "{arguments}");
    }
    assert_eq!(names(folder.path()), before);
    // Two outputs may go to the same device.
    let output = run(&folder, &["draw", "f32[8]", "--svg", "/dev/null", "--html", "/dev/null"]);
    assert!(output.status.success(), "{output:?}");
}

/// If the shell opened a file for the program, the program appends or overwrites as the shell opened it.
#[test]
fn streams_that_lead_to_files_keep_what_is_in_them() {
    let picture = {
        let output = Command::program().args(["draw", "f32[8]", "--svg", "-"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (command, before, behind) in [
        ("draw f32[8] --svg /dev/stdout >> log", "first\n", ""),
        ("draw f32[8] --svg log >> log", "first\n", ""),
        ("draw f32[8] --svg /dev/stderr 2>> log", "first\n", ""),
        ("draw f32[8] --svg /dev/fd/3 3>> log", "first\n", ""),
        ("draw f32[8] --svg /dev/stdout > log", "", ""),
        ("draw f32[8] --svg /dev/stdout | cat >> log", "first\n", ""),
    ] {
        let folder = folder_with(&[("log", b"first\n")]);
        let output = Command::new("bash").args(["-c", &format!("{PROGRAM} {command}")]).current_dir(&folder).output();
        assert!(output.as_ref().unwrap().status.success(), "{command}: {output:?}");
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert_eq!(log, format!("{before}{picture}{behind}"), "{command}");
    }
    // Other programs may write to the same file before and after.
    let folder = folder_with(&[]);
    let command = format!("(echo before; {PROGRAM} draw f32[8] --svg /dev/stdout; echo behind) > log");
    assert!(Command::new("bash").args(["-c", &command]).current_dir(&folder).output().unwrap().status.success());
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log, format!("before\n{picture}behind\n"));
    // Standard output takes one output, whatever name the arguments use for it.
    for arguments in ["--svg - --html /dev/stdout", "--svg /dev/stdout --format json"] {
        let command = format!("{PROGRAM} draw f32[8] {arguments} > log");
        let output = Command::new("bash").args(["-c", &command]).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = in_words(std::str::from_utf8(&output.stderr).unwrap());
        assert!(error.starts_with("error: standard output takes one of"), "{output:?}");
    }
}

/// Messages repeat wrong arguments, which may come from files: `xla-shape explain "$(cat name)"`.
#[test]
fn wrong_usage_does_not_control_a_terminal() {
    let hostile = "\u{1b}]0;x\u{7}\u{1b}[31m\u{8}\u{9b}2J\u{7f}\u{202e}\r";
    for arguments in [
        &["help", hostile][..],
        &["explain", "f32[2]", hostile],
        &["explain", "f32[2]", &format!("--{hostile}")],
        &["explain", "f32[2]", "--format", hostile],
        &["compare", "f32[2]", "f32[2]", "--for", hostile],
        &["compile", "x", "--for", hostile],
        &["hlo", "x", "--top", hostile],
        &["shard", "x", "--plan", "p", "-o", "o", "--device", hostile],
        &["help", "completions", hostile],
    ] {
        let mut program = Command::program();
        let output = program.env("CLICOLOR_FORCE", "1").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("\\u{1b}]0;x\\u{7}\\u{1b}[31m"), "{arguments:?}: {text:?}");
        // Remove the colours of clap's own words, which do not come from an argument.
        let mut own = text.replace("\u{1b}[0m", "");
        for number in ["1", "4", "31", "32", "33", "1;31", "1;4"] {
            own = own.replace(&format!("\u{1b}[{number}m"), "");
        }
        assert!(!own.contains(is_control), "{arguments:?}: {text:?}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;

        let bytes = std::ffi::OsStr::from_bytes(b"\x1b]0;x\x07\x9b\xff");
        let output = std::process::Command::new(PROGRAM).args(["explain".as_ref(), bytes]).output().unwrap();
        assert!(!String::from_utf8(output.stderr).unwrap().contains(is_control));
    }
}

/// Control characters in copied text do not reach a terminal, except colours.
#[test]
fn the_compilers_output_has_colours_and_nothing_else() {
    let hostile = "\u{1b}]0;x\u{7}\u{1b}]8;;http://x\u{1b}\\\u{8}\u{d}y\u{85}\u{9b}2J\u{1b}[2J\u{1b}[1A\u{202e}\u{1b}[?25l\u{1b}P\u{1b}[31";
    let coloured = "\u{1b}[1m\u{1b}[38;5;9merror\u{1b}[0m\u{1b}[4:3mx\u{1b}[m";
    let raw = format!("{coloured} {hostile}\n");
    let json =
        serde_json::json!({ "message": { "rendered": raw, "message": raw, "spans": [{ "label": raw, "text": raw }] } });
    let json = format!("{json}\n");
    assert!(!json.contains('\u{1b}'));
    let folder = folder_with(&[
        ("raw", raw.as_bytes()),
        ("json", json.as_bytes()),
        ("bytes", b"\x1b]0;x\x07 \x9b2J \xff \x1b[31mred\x1b[0m\n"),
        ("a.long-type-1.txt", format!("Buffer<Array<F32, ({hostile}Size<8>,), Layout<(Minor<0>,)>>>").as_bytes()),
        ("long", b"the full name for the type has been written to 'a.long-type-1.txt'\n"),
    ]);
    for file in ["raw", "json", "long"] {
        let output = run(&folder, &["rustc", file]);
        let text = String::from_utf8(output.stdout).unwrap();
        let shown = text.strip_prefix(coloured);
        assert!(file == "long" || shown.is_some(), "{file}: {text:?}");
        assert!(!shown.unwrap_or(&text).contains(is_control), "{file}: {text:?}");
        let output = run(&folder, &["rustc", "--format", "json", file]);
        assert!(!String::from_utf8(output.stdout).unwrap().contains(is_control), "{file}");
    }
    let output = run(&folder, &["rustc", "bytes"]);
    assert_eq!(output.stdout, b"\\u{1b}]0;x\\u{7} \\x9b2J \xff \x1b[31mred\x1b[0m\n");
    // JSON for editors has the same text as without the program.
    let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&run(&folder, &["rustc", "--format", "json", "json"]).stdout), value(json.as_bytes()));
}
