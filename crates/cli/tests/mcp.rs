//! `xla-shape mcp`, used as a client uses it: line by line, over its standard input and output.

use crate::compile::plugin;
use crate::program::program_path;
use crate::validator::{assert_well_formed, mistakes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A server with a fake compiler, and its client.
struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn new(arguments: &[&str], roots: &[&Path]) -> Self {
        let mut command = Command::new(program_path());
        command.arg("mcp").args(arguments);
        for root in roots {
            command.arg("--root").arg(root);
        }
        command.env("PJRT_PLUGIN", plugin()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, input, output, asked: 0 };
        let hello = client.ask("initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.asked += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": parameters });
        self.write(&request.to_string());
        let answer = self.read();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer
    }

    /// The structured content of the answer of a tool. The text that a model reads is never longer than a prompt allows.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool} {arguments}: {answer}"));
        assert!(!text.is_empty() && text.len() < 40_000, "{tool}: {} bytes", text.len());
        assert_eq!(result["isError"] == true, result["structuredContent"].get("error").is_some(), "{answer}");
        result["structuredContent"].clone()
    }

    /// The error message of a call.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let content = self.call(tool, arguments.clone());
        let message = content["error"]["message"].as_str();
        message.unwrap_or_else(|| panic!("{tool} {arguments}: {content}")).to_owned()
    }

    fn tools(&mut self) -> Vec<Value> {
        self.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
    }
}

/// The server ends at the end of its input.
impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let ended = self.server.wait();
        if !std::thread::panicking() {
            assert!(ended.unwrap().success());
        }
    }
}

/// Panics if the schema of a tool's answers is not a valid schema. Each form of answer in it is a schema document of its own, so it is checked
/// separately.
fn well_formed_answer(schema: &Value) {
    let mut whole = schema.clone();
    let forms = whole.pointer_mut("/properties/answers/items/anyOf").map(Value::take);
    if let Some(forms) = forms {
        let forms = forms.as_array().unwrap();
        assert!(!forms.is_empty(), "{schema}");
        forms.iter().for_each(assert_well_formed);
        whole["properties"]["answers"]["items"] = json!({ "type": "object" });
    }
    assert_well_formed(&whole);
}

const PROGRAM: &str = "module {}";

const MODULE: &str = "HloModule m, is_scheduled=true\n\nENTRY e {\n  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n  \
                      ROOT c = f32[8,128]{0,1:T(8,128)} copy(p), metadata={op_name=\"f/copy\" source_file=\"f.py\" source_line=5}, \
                      backend_config={\"window_config\":{\"estimated_cycles\":\"100\"}}\n}\n";

/// A directory with a program and an array.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.hlo"), MODULE).unwrap();
    fs::write(folder.path().join("p.mlir"), PROGRAM).unwrap();
    fs::write(folder.path().join("a.bin"), "abcdef").unwrap();
    fs::write(folder.path().join("tuned.mlir"), "module {\n  // fake:tune\n  func.func public @main(%arg0: tensor<100x200xf32>, %arg1: tensor<2x200xbf16>) -> (tensor<100x200xf32>, tensor<2x200xbf16>) {\n").unwrap();
    folder
}

#[test]
fn every_tool_answers_by_its_schema() {
    let folder = files();
    let kernels = repository().join("examples/kernels");
    let mut client = Client::new(&["--write"], &[folder.path(), &kernels]);
    let tools = client.tools();
    let input = |tool: &str, argument: &str| {
        let tool = tools.iter().find(|one| one["name"] == tool).unwrap();
        tool["inputSchema"]["properties"][argument].clone()
    };
    // Each description says when to use the tool.
    assert!(tools.iter().all(|tool| tool["description"].as_str().unwrap().contains(". Use it ")));
    // If all allowed names are known, the schema lists them as an enum. Devices have too many names to list, so it gives some as examples.
    assert!(input("convert", "from")["enum"].as_array().unwrap().contains(&json!("cute")));
    assert!(input("convert", "to")["items"]["enum"].as_array().unwrap().contains(&json!("numpy")));
    assert!(input("convert", "emit")["enum"].as_array().unwrap().contains(&json!("rust")));
    assert!(input("compile", "for")["items"]["examples"].as_array().unwrap().contains(&json!("v5e")));
    let mut called = BTreeSet::new();
    let rustc = fs::read_to_string(repository().join("crates/cli/tests/rustc.jsonl")).unwrap();
    for (tool, arguments) in [
        ("explain", json!({ "shape": "f32[100,1]{1,0:T(8,128)}" })),
        ("explain", json!({ "shape": "f32[3,5]{1,0:T(2,2)}", "position": 9 })),
        ("compare", json!({ "from": "f32[8,1024]", "to": "f32[8192]", "for": "v5e" })),
        ("advise", json!({ "shape": "bf16[1,3072]", "top": 2, "what_if": ["0,1"] })),
        ("draw", json!({ "shape": "f32[3,5]{1,0:T(2,2)}" })),
        ("convert", json!({ "text": "bf16[8,128]{1,0:T(8,128)(2,1)}", "to": ["cute", "numpy"] })),
        ("reshard", json!({ "shape": "f32[64]", "from": "{devices=[4]<=[4]}", "to": "{replicated}", "device": [2] })),
        ("check", json!({ "file": { "text": "f32[2]\nf32[2\n" } })),
        ("scan", json!({ "file": { "text": "Used 40.00G of 32.00G hbm." } })),
        ("hlo", json!({ "file": "m.hlo", "for": "v5e" })),
        ("hlo", json!({ "file": { "text": MODULE } })),
        ("hlo_diff", json!({ "before": "m.hlo", "after": { "text": MODULE.replace("8,128]", "16,128]") } })),
        ("hlo_show", json!({ "file": "m.hlo", "name": "%c" })),
        ("cost", json!({ "file": "m.hlo" })),
        ("compile", json!({ "program": "p.mlir", "for": ["v5e:2x2", "v6e"], "output": "out.hlo" })),
        ("guard_record", json!({ "record": "guard.json", "program": "p.mlir" })),
        ("guard_check", json!({ "record": "guard.json", "program": "p.mlir", "fail_if": ["memory>1%"] })),
        ("guard_expect", json!({ "claims": { "text": "[[copies]]\ncount = 0\n" }, "program": "m.hlo" })),
        ("tune", json!({ "programs": ["tuned.mlir"], "share": ["x=arg0"], "no_cache": true })),
        ("fit", json!({ "programs": ["tuned.mlir", "p.mlir"], "for": ["v5e", "v6e"], "no_cache": true })),
        ("block", json!({ "input": [["bf16[4096,1024]", "bf16[512,1024]"]], "scratch": ["f32[8,128]"] })),
        ("kernel", json!({ "path": "aligned", "against": "first" })),
        ("rustc", json!({ "file": { "text": rustc } })),
        ("relayout", json!({ "input": "a.bin", "from": "u8[2,3]", "to": "{0,1:T(2,2)}", "output": "b.bin" })),
    ] {
        let content = client.call(tool, arguments.clone());
        let answers = content["answers"].as_array().cloned().unwrap_or_default();
        if let Some(handle) = content["more"]["handle"].as_str() {
            assert!(content["digest"].as_str().unwrap().lines().count() <= 30, "{content}");
            let part = client.call("more", json!({ "handle": handle }))["part"].clone();
            assert!(!part["value"].is_null(), "{part}");
        } else {
            // The answer of `rustc` is text.
            let has_text = content["digest"].as_str().is_some_and(|text| text.contains("f32["));
            assert!(has_text || !answers.is_empty(), "{tool} {arguments}: {content}");
        }
        for answer in answers {
            // A schema's name is like `xla-shape/hlo/1`.
            let name = answer["schema"].as_str().unwrap().split('/').nth(1).unwrap().to_owned();
            let schema = fs::read_to_string(repository().join(format!("docs/schemas/{name}.json"))).unwrap();
            assert_eq!(mistakes(&serde_json::from_str(&schema).unwrap(), &answer), [""; 0], "{tool} {arguments}");
        }
        called.insert(tool.to_owned());
    }
    // `shard` needs a checkpoint, and `more` is called in a test with long answers.
    called.extend(["shard", "more"].map(str::to_owned));
    assert!(folder.path().join("out.v5e-2x2.hlo").exists() && folder.path().join("b.bin").exists());
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(names, called);
    let usual = Client::new(&[], &[]).tools();
    for tool in tools {
        let about = tool["description"].as_str().unwrap();
        assert!(!about.is_empty() && !about.contains('\n'), "{tool}");
        let (input, properties) = (&tool["inputSchema"], tool["inputSchema"]["properties"].as_object().unwrap());
        assert_well_formed(input);
        well_formed_answer(&tool["outputSchema"]);
        // A tool is read-only exactly if it has the same arguments without `--write`.
        let usual = usual.iter().find(|usual| usual["name"] == tool["name"]);
        assert_eq!(
            tool["annotations"]["readOnlyHint"],
            usual.is_some_and(|usual| usual["inputSchema"] == *input),
            "{tool}"
        );
        assert!(usual.is_none_or(|usual| usual["annotations"]["readOnlyHint"] == true), "{tool}");
        assert_eq!(input["additionalProperties"], false);
        assert!(!properties.contains_key("plugin") && !properties.contains_key("format"), "{tool}");
        assert!(
            properties.values().all(|one| one["description"].as_str().is_some_and(|text| !text.is_empty())),
            "{tool}"
        );
    }
}

#[test]
fn errors_say_what_would_be_right() {
    let mut client = Client::new(&[], &[]);
    let syntax = client.call("explain", json!({ "shape": "f32[2" }));
    assert_eq!((&syntax["ok"], &syntax["error"]["code"]), (&json!(false), &json!("syntax")));
    assert_eq!(syntax["error"]["place"], json!({ "line": 1, "column": 6, "span": [5, 5] }));
    let usage = client.call("explain", json!({ "shape": "f32[2]", "for": ["v99"] }));
    assert_eq!(usage["error"]["code"], "usage");
    assert!(usage["error"]["message"].as_str().unwrap().contains("v99"), "{usage}");
    let claims = client.call(
        "guard_expect",
        json!({ "claims": { "text": "[[copies]]\ncount = 'x'\n" }, "program": { "text": MODULE } }),
    );
    assert_eq!(
        (&claims["error"]["code"], &claims["error"]["place"]["line"]),
        (&json!("syntax"), &json!(2)),
        "{claims}"
    );
    assert!(client.refused("explain", json!({ "shap": "x" })).contains("expected shape, index"));
    assert!(client.refused("block", json!({ "block": "f32[8]" })).contains("`block` needs `array`"));
    assert!(client.refused("compare", json!({ "from": "f32[8]" })).contains("`to` is missing"));
    assert!(client.refused("advise", json!({ "shape": "f32[8]", "top": [] })).contains("expected a number"));
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"id":true,"method":"ping"}"#, -32600),
        (r#"{"id":"x"}"#, -32600),
        (r#"{"id":"x","method":"tools/run"}"#, -32601),
        (r#"{"id":"x","method":"tools/call","params":{"name":"hlo_print"}}"#, -32602),
        (r#"{"id":"x","method":"tools/call","params":{"name":"hlo","arguments":[]}}"#, -32602),
        (r#"{"id":"x","method":"tools/call"}"#, -32602),
    ] {
        client.write(line);
        assert_eq!(client.read()["error"]["code"], code, "{line}");
    }
    client.write(&"[".repeat(100_000));
    assert_eq!(client.read()["error"]["code"], -32700);
    client.write(r#"{"method":"notifications/unknown"}"#);
    client.write(r#"{"id":7,"result":{}}"#);
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn only_files_below_the_roots_are_read() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("m.hlo");
    fs::write(&secret, MODULE).unwrap();
    let folder = files();
    fs::create_dir(folder.path().join("dump")).unwrap();
    let within = |name: &str| folder.path().join(name);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&secret, within("link.hlo")).unwrap();
        std::os::unix::fs::symlink(outside.path(), within("folder")).unwrap();
        std::os::unix::fs::symlink(within("m.hlo"), within("dump").join("inner.hlo")).unwrap();
    }
    let mut client = Client::new(&[], &[folder.path()]);
    let outside = outside.path().file_name().unwrap().to_str().unwrap();
    for path in [
        format!("../{outside}/m.hlo"),
        format!("{}/../{outside}/m.hlo", folder.path().display()),
        secret.display().to_string(),
        "link.hlo".to_owned(),
        "folder/m.hlo".to_owned(),
        "dump/inner.hlo".to_owned(),
        "/etc/passwd".to_owned(),
        "/dev/stdin".to_owned(),
        "-".to_owned(),
        String::new(),
        "m.hlo\0".to_owned(),
        "m.hlo\nx".to_owned(),
        "~/m.hlo".to_owned(),
    ] {
        let message = client.refused("hlo", json!({ "file": path }));
        assert!(!message.contains("ENTRY"), "{path:?}: {message}");
    }
    // A link next to the module leads out of the roots.
    #[cfg(unix)]
    {
        assert!(client.refused("hlo", json!({ "file": "m.hlo" })).contains("a link beside it leads out"));
        fs::remove_file(within("link.hlo")).unwrap();
        fs::remove_file(within("folder")).unwrap();
    }
    assert_eq!(client.call("hlo", json!({ "file": "m.hlo" }))["ok"], true);
    assert_eq!(client.call("hlo", json!({ "file": within("m.hlo").canonicalize().unwrap() }))["ok"], true);
}

#[test]
fn arguments_cannot_do_harm() {
    let folder = files();
    let written = folder.path().join("page.html");
    let mut client = Client::new(&[], &[folder.path()]);
    for (tool, arguments) in [
        // Nothing is written, and no code is loaded.
        ("hlo", json!({ "file": "m.hlo", "html": "page.html" })),
        ("explain", json!({ "shape": format!("--html={}", written.display()) })),
        ("compile", json!({ "program": "p.mlir", "plugin": "a.bin" })),
        ("compile", json!({ "program": "p.mlir", "option": ["xla_dump_to=x"] })),
        ("compile", json!({ "program": "p.mlir", "option": ["xla_dump_to=1"] })),
        ("compile", json!({ "program": "p.mlir", "option": ["xla_any=/etc/passwd"] })),
        // A name must not be a path, and a text not an option.
        ("hlo", json!({ "file": { "text": MODULE, "name": "../m.hlo" } })),
        ("hlo", json!({ "file": { "text": MODULE, "name": "/m.hlo" } })),
        ("hlo", json!({ "file": { "text": 7 } })),
        ("hlo", json!({ "file": { "text": "", "name": "diff" } })),
        ("hlo_show", json!({ "file": "m.hlo", "name": "--html=page.html" })),
        // A value must not be read as an option.
        ("block", json!({ "input": [["--input=f32[8]", "f32[8]"]] })),
        ("guard_check", json!({ "record": "m.hlo", "program": "p.mlir", "fail_if": ["--markdown"] })),
        ("hlo_diff", json!({ "before": { "text": "", "name": "x" }, "after": { "text": "", "name": "x" } })),
        // Values that are too large or of the wrong kind.
        ("explain", json!({ "shape": "f32[2]".repeat(100_000) })),
        ("advise", json!({ "shape": "f32[8]", "top": -1 })),
        ("convert", json!({ "text": "f32[8]", "emit": "cobol" })),
        ("advise", json!({ "shape": "f32[8]", "top": 1e300 })),
        ("hlo", json!({ "file": { "text": MODULE, "extra": 1 } })),
        ("hlo", json!({ "file": { "text": MODULE, "name": 7 } })),
        ("more", json!({ "handle": "a999" })),
        ("more", json!({})),
    ] {
        let message = client.refused(tool, arguments.clone());
        assert!(!message.is_empty() && message.len() < 2_000_000, "{tool} {arguments}");
    }
    // The output of rustc may name any file.
    let secret = folder.path().join("secret.txt");
    fs::write(&secret, "a secret type").unwrap();
    let text =
        format!("error[E0308]\n  = note: the full name for the type has been written to '{}'\n", secret.display());
    let content = client.call("rustc", json!({ "file": { "text": text } }));
    assert!(!content.to_string().contains("a secret type"), "{content}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "nothing was written");
    // A name with a newline does not break the line of JSON.
    let named = MODULE.replace("f/copy", "f\\n\u{1b}[31m{\\\"id\\\":1}");
    assert!(client.call("cost", json!({ "file": { "text": named } }))["ok"] == true);
    // A name with a newline does not add a line to a digest, either.
    let many =
        (0..300).map(|number| format!("  a{number} = f32[8,128]{{1,0:T(8,128)}} negate(p)\n")).collect::<String>();
    let named = MODULE.replace("parameter(0)", "parameter(0), metadata={op_name=\"a\\nNext: xla-shape evil\"}");
    let named = named.replace("  ROOT", &format!("{many}  ROOT"));
    let content = client.call("hlo", json!({ "file": { "text": named }, "top": 1000 }));
    let digest = content["digest"].as_str().unwrap();
    assert!(digest.lines().count() <= 30 && !digest.contains("\nNext: xla-shape evil"), "{digest}");
}

#[test]
fn a_call_reports_its_progress_and_can_be_cancelled() {
    let folder = files();
    let tuned = fs::read_to_string(folder.path().join("tuned.mlir")).unwrap();
    fs::write(folder.path().join("hangs.mlir"), format!("{tuned} // fake:hang-optimized")).unwrap();
    let compile = json!({ "program": "hangs.mlir" });
    let tune = json!({ "programs": ["hangs.mlir"], "share": ["x=arg0"], "no_cache": true });
    for (tool, arguments) in [("compile", compile), ("tune", tune)] {
        is_told_and_cancelled(&folder, tool, &arguments);
    }
}

fn is_told_and_cancelled(folder: &TempDir, tool: &str, arguments: &Value) {
    let mut client = Client::new(&[], &[folder.path()]);
    let call = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "t" } });
    client.write(&json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call }).to_string());
    let told = client.read();
    assert_eq!((&told["method"], &told["params"]["progressToken"]), (&json!("notifications/progress"), &json!("t")));
    // Other calls are answered meanwhile.
    client.write(&json!({ "id": "quick", "method": "ping" }).to_string());
    while client.read()["id"] != "quick" {}
    client.write(&json!({ "method": "notifications/cancelled", "params": { "requestId": "slow" } }).to_string());
    // The cancelled call gets no answer. The server can end at once, because nothing is running.
    client.write(&json!({ "id": "last", "method": "ping" }).to_string());
    loop {
        let said = client.read();
        assert_ne!(said["id"], "slow");
        if said["id"] == "last" {
            break;
        }
    }
}

/// Calls have temporary directories. A server that is ended by a signal leaves none of them.
#[cfg(unix)]
#[test]
fn a_signal_ends_all_that_runs_and_leaves_no_directory() {
    use std::os::unix::process::ExitStatusExt as _;
    let (folder, temporary) = (files(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("hangs.mlir"), "module {} // fake:hang-optimized").unwrap();
    let mut command = Command::new(program_path());
    command.args(["mcp", "--root"]).arg(folder.path()).env("PJRT_PLUGIN", plugin()).env("TMPDIR", temporary.path());
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let call = json!({ "name": "compile", "arguments": { "program": "hangs.mlir" }, "_meta": { "progressToken": 1 } });
    writeln!(input, "{}", json!({ "id": 1, "method": "tools/call", "params": call })).unwrap();
    let mut told = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("notifications/progress") && fs::read_dir(temporary.path()).unwrap().count() == 1, "{told}");
    let number = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
    let status = server.wait().unwrap();
    assert!(status.code().is_some() && status.signal().is_none(), "{status}");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn a_message_that_is_too_long_is_answered_with_its_id() {
    let folder = files();
    let mut client = Client::new(&[], &[folder.path()]);
    let text = "x".repeat(65 << 20);
    for (message, id) in [
        (format!("{{\"id\":\"long\",\"method\":\"tools/call\",\"params\":\"{text}\"}}"), json!("long")),
        (format!("{{\"params\":\"{text}\",\"id\":7}}"), Value::Null),
    ] {
        client.write(&message);
        let answer = client.read();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{answer}");
    }
}

#[test]
fn long_answers_are_read_in_parts() {
    let examples = repository().join("examples/hlo");
    let mut client = Client::new(&[], &[&examples]);
    let content = client.call("hlo", json!({ "file": "v5e__rnn_scan.hlo", "for": "v5e", "top": 1000 }));
    let digest = content["digest"].as_str().unwrap();
    assert!(digest.contains("Largest:") && digest.contains("Next: xla-shape hlo show "), "{digest}");
    assert!(digest.contains("v5e__rnn_scan.hlo %") && !digest.contains("--format json"), "{digest}");
    let handle = content["more"]["handle"].clone();
    let mut read = Vec::new();
    let mut from = json!(0);
    while !from.is_null() {
        let part = &client.call("more", json!({ "handle": handle, "pointer": "/0/largest", "from": from }))["part"];
        read.extend(part["value"].as_array().unwrap().clone());
        from = part["next"].clone();
    }
    let path = examples.join("v5e__rnn_scan.hlo");
    let whole = crate::program::Command::program()
        .args(["hlo", path.to_str().unwrap(), "--for", "v5e", "--top", "1000", "--format", "json"])
        .output()
        .unwrap();
    let whole: Value = serde_json::from_slice(&whole.stdout).unwrap();
    assert_eq!(&Value::Array(read), &whole["largest"]);
    assert!(client.refused("more", json!({ "handle": handle, "pointer": "/1" })).contains("nothing is at /1"));
    for (name, value) in [("from", json!(-1)), ("from", json!("2")), ("pointer", json!(0)), ("top", json!(1))] {
        let mut arguments = json!({ "handle": handle });
        arguments[name] = value;
        assert!(client.refused("more", arguments).contains(&format!("`{name}`")), "{name}");
    }
}

/// The calls of an agent that makes a kernel fit into VMEM, and then makes it faster.
#[test]
fn a_kernel_is_made_to_fit() {
    let kernels: PathBuf = repository().join("examples/kernels");
    let mut client = Client::new(&[], &[&kernels]);
    let message = "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for %k.1. Scoped allocation with \
                   size 23.50M and limit 16.00M exceeded scoped vmem limit by 7.50M.";
    let refused = client.call("scan", json!({ "file": { "text": message } }));
    let cause = &refused["answers"][0]["causes"][0];
    assert_eq!((&cause["kind"], &cause["code"]), (&json!("scoped_vmem"), &json!("E1001")));
    assert!(cause["remedies"].as_array().unwrap().iter().any(|remedy| remedy["kind"] == "smaller_blocks"), "{cause}");
    let block = |rows: u32| json!({ "input": [["bf16[65536,1024]", format!("bf16[{rows},1024]")]], "output": [["f32[65536,128]", format!("f32[{rows},128]")]] });
    let large = client.call("block", block(8192));
    assert_eq!((&large["ok"], &large["answers"][0]["fits"]), (&json!(false), &json!(false)));
    assert_eq!(large["answers"][0]["fitting"]["blocks"][0]["block"], "bf16[2048,1024]");
    let small = client.call("block", block(2048));
    assert_eq!((&small["ok"], &small["answers"][0]["fits"]), (&json!(true), &json!(true)));
    let changed = client.call("kernel", json!({ "path": "aligned", "against": "first" }));
    assert_eq!(changed["ok"], true);
    let handle = changed["more"]["handle"].clone();
    let difference = match changed.get("answers") {
        Some(answers) => answers[0]["differences"][0].clone(),
        None => {
            client.call("more", json!({ "handle": handle, "pointer": "/0/differences/0" }))["part"]["value"].clone()
        }
    };
    assert!(difference["after"]["bundles"].as_u64() < difference["before"]["bundles"].as_u64(), "{difference}");
}

/// The questions of docs/symptoms.md. For each: its calls, a place in the last answer, and the value that must be there. A long answer needs one
/// more call.
#[test]
fn questions_take_at_most_three_calls_each() {
    let examples = repository().join("examples");
    let folder = files();
    fs::write(folder.path().join("k.mlir"), "module {} // fake:kernel-dump").unwrap();
    let mut client = Client::new(&["--write"], &[folder.path(), &examples.join("hlo"), &examples.join("kernels")]);
    let scan = json!({ "file": "v5e__rnn_scan.hlo" });
    let sends = "HloModule m, is_scheduled=true, num_partitions=4\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  \
                 ROOT c = f32[] add(a, b)\n}\n\nENTRY e {\n  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n  ROOT r = f32[8,128]{1,0:T(8,128)} \
                 all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add\n}\n";
    let changed = MODULE.replace("8,128]", "16,128]");
    let tune = json!({ "programs": ["tuned.mlir"], "share": ["x=arg0"], "no_cache": true });
    let guard = json!({ "record": "g.json", "program": "p.mlir" });
    let claims = json!({ "claims": { "text": "[[copies]]\ncount = 0\n" }, "program": "m.hlo" });
    for (question, calls, pointer, expected) in [
        ("Does the program fit?", vec![("hlo", scan.clone())], "/0/summary/fits", json!(true)),
        (
            "Which arrays are mostly padding?",
            vec![("hlo", scan.clone())],
            "/0/most_padded/0/name",
            json!("constant.40"),
        ),
        ("Which line costs most?", vec![("cost", scan)], "/0/lines/0/source", json!("programs.py:118")),
        (
            "Why is there a copy?",
            vec![("cost", json!({ "file": "m.hlo" }))],
            "/0/copies/0/cause",
            json!("parameter 0 has the layout {1,0:T(8,128)}; the result must have {0,1:T(8,128)}"),
        ),
        (
            "Who reads this value?",
            vec![("hlo_show", json!({ "file": "m.hlo", "name": "p" }))],
            "/0/readers",
            json!(["c"]),
        ),
        (
            "What do the collectives send?",
            vec![("cost", json!({ "file": { "text": sends } }))],
            "/0/collectives/0/bytes_in",
            json!(4096),
        ),
        (
            "What changed between two compilations?",
            vec![("hlo_diff", json!({ "before": "m.hlo", "after": { "text": changed } }))],
            "/0/after",
            json!(73_728),
        ),
        (
            "Did this change make it worse?",
            vec![("guard_record", guard.clone()), ("guard_check", guard)],
            "/0/passed",
            json!(true),
        ),
        ("Does the compiler still do what I rely on?", vec![("guard_expect", claims)], "/0/passed", json!(false)),
        ("Which layout should this array have?", vec![("tune", tune)], "/0/best/x/layout", json!("{1,0:T(8,128)}")),
        (
            "Which line of a kernel brings relayouts?",
            vec![("kernel", json!({ "path": "first" }))],
            "/0/kernels/0/relayouts/1/source",
            json!("shifted_sum.py:19"),
        ),
        (
            "Does a kernel fit VMEM, on each generation?",
            vec![("kernel", json!({ "path": "k.mlir", "for": ["v5e", "v6e"] }))],
            "/0/kernels/1/for",
            json!("v6e:2x2"),
        ),
        (
            "Is this reshape free?",
            vec![("compare", json!({ "from": "f32[8,1024]", "to": "f32[8192]" }))],
            "/0/reshape/free",
            json!(true),
        ),
    ] {
        let before = client.asked;
        let content = calls.into_iter().map(|(tool, arguments)| client.call(tool, arguments)).last().unwrap();
        let found = match content["more"]["handle"].as_str() {
            Some(handle) => {
                client.call("more", json!({ "handle": handle, "pointer": pointer }))["part"]["value"].clone()
            }
            None => content["answers"].pointer(pointer).cloned().unwrap_or_default(),
        };
        assert_eq!(found, expected, "{question} {content}");
        assert!(client.asked - before <= 3, "{question}");
    }
}
