//! `mcp`: the verbs as tools of the Model Context Protocol, over standard input and output.
//!
//! A message is a line of JSON-RPC. A call of a tool runs this program once more: a call that is cancelled ends as a process, and memory that it took
//! is given back. The tools, their arguments and their schemas are those of the table of verbs.

mod call;
mod kept;
mod paths;
mod tools;

use crate::args::McpArguments;
use crate::failure::Failure;
use crate::io::{self, Line};
use call::{Call, Outcome};
use kept::Kept;
use paths::Roots;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tools::{Tool, tools};
use xla_shape_answers::json_line;
use xla_shape_program::Host;

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// How many calls run at a time.
const MOST_CALLS: usize = 8;

/// What a client may tell its model.
const INSTRUCTIONS: &str = "Exact answers about XLA shapes, layouts, compiled programs and TPU kernels, without a device. Files are given by \
    path below the directories that the server was started with, or inline as {\"text\": …}. `ok` is the verdict: false if something does not \
    fit, exceeds a limit or has errors. A long answer comes as a digest with a handle; the tool `more` reads the rest.";

/// Codes of JSON-RPC.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

pub(crate) fn run(arguments: &McpArguments, host: &Host) -> Result<(), Failure> {
    let server = Server {
        tools: tools(arguments.write),
        roots: Roots::new(&arguments.roots)?,
        host,
        running: Mutex::default(),
        kept: Mutex::default(),
        is_closed: AtomicBool::new(false),
    };
    // The calls that run when the input ends are finished.
    thread::scope(|scope| {
        io::for_each_line(Path::new("-"), std::io::stdin().lock(), |line| {
            match line {
                Some(Line::Whole(bytes)) if bytes.trim_ascii().is_empty() => {}
                Some(Line::Whole(bytes)) => server.read(scope, bytes),
                Some(Line::TooLong { .. }) => server.refuse(&Value::Null, INVALID_REQUEST, "the message is too long"),
                None => {}
            }
            match server.is_closed.load(Ordering::Relaxed) {
                true => Err(Failure::Write(std::io::ErrorKind::BrokenPipe.into())),
                false => Ok(()),
            }
        })
    })
}

/// What all calls share.
struct Server<'h> {
    tools: Vec<Tool>,
    roots: Roots,
    host: &'h Host,
    /// The calls that run, by the ids of their requests as JSON, each with the flag that ends it.
    running: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
    kept: Mutex<Kept>,
    /// Whether nobody reads the output any more.
    is_closed: AtomicBool,
}

impl Server<'_> {
    /// Acts on a message.
    fn read<'s>(&'s self, scope: &'s thread::Scope<'s, '_>, bytes: &[u8]) {
        let message = match serde_json::from_slice::<Value>(bytes) {
            Ok(Value::Object(message)) => message,
            Ok(_) => {
                return self.refuse(&Value::Null, INVALID_REQUEST, "expected an object; batches are not supported");
            }
            Err(error) => return self.refuse(&Value::Null, PARSE_ERROR, &error.to_string()),
        };
        let parameters = message.get("params").cloned().unwrap_or_else(|| json!({}));
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // The answer to a request, of which this server sends none.
            if !message.contains_key("result") && !message.contains_key("error") {
                self.refuse(&Value::Null, INVALID_REQUEST, "expected a method");
            }
            return;
        };
        let Some(id) = message.get("id") else {
            if method == "notifications/cancelled" {
                self.cancel(&parameters["requestId"]);
            }
            return;
        };
        if !id.is_string() && !id.is_number() {
            return self.refuse(&Value::Null, INVALID_REQUEST, "expected a text or a number as id");
        }
        match method {
            "initialize" => self.reply(id, &initialized(&parameters)),
            "ping" => self.reply(id, &json!({})),
            "tools/list" => {
                let listed = self.tools.iter().map(Tool::described).chain([kept::described()]);
                self.reply(id, &json!({ "tools": listed.collect::<Vec<_>>() }));
            }
            "tools/call" => self.call(scope, id, &parameters),
            _ => self.refuse(id, METHOD_NOT_FOUND, &format!("unknown method `{method}`")),
        }
    }

    fn call<'s>(&'s self, scope: &'s thread::Scope<'s, '_>, id: &Value, parameters: &Value) {
        let name = parameters["name"].as_str().unwrap_or_default();
        let arguments = match &parameters["arguments"] {
            Value::Null => Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => return self.refuse(id, INVALID_PARAMS, "expected an object as arguments"),
        };
        if name == kept::NAME {
            return self.reply(id, &lock(&self.kept).answer(&arguments));
        }
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            return self.refuse(id, INVALID_PARAMS, &format!("unknown tool `{name}`"));
        };
        let call = match Call::new(tool, &arguments, &self.roots) {
            Ok(call) => call,
            Err(message) => return self.reply(id, &failed(&json!({ "code": "usage", "message": message }))),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let key = id.to_string();
        {
            let mut running = lock(&self.running);
            if running.contains_key(&key) {
                return self.refuse(id, INVALID_REQUEST, "another request with this id is not answered yet");
            }
            if running.len() >= MOST_CALLS {
                let message = format!("{MOST_CALLS} calls run already; call again when one is answered");
                return self.reply(id, &failed(&json!({ "code": "busy", "message": message })));
            }
            running.insert(key.clone(), Arc::clone(&stop));
        }
        let (id, token) = (id.clone(), parameters["_meta"].get("progressToken").cloned());
        scope.spawn(move || {
            let outcome = call.run(self.host, &stop, |elapsed, what| {
                if let Some(token) = &token {
                    self.progress(token, elapsed, what);
                }
            });
            lock(&self.running).remove(&key);
            match outcome {
                // Nobody waits for the answer to a request that was cancelled.
                Outcome::Cancelled => {}
                Outcome::Failed(error) => self.reply(&id, &failed(&error)),
                Outcome::Answered(answered) => {
                    let answered = lock(&self.kept).shown(answered);
                    self.reply(&id, &answered);
                }
            }
        });
    }

    fn cancel(&self, id: &Value) {
        if let Some(stop) = lock(&self.running).get(&id.to_string()) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn progress(&self, token: &Value, elapsed: Duration, what: &str) {
        let parameters = json!({ "progressToken": token, "progress": elapsed.as_secs(), "message": what });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": parameters }));
    }

    fn reply(&self, id: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&self, id: &Value, code: i64, message: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn send(&self, message: &Value) {
        let mut output = std::io::stdout().lock();
        let written = output.write_all(json_line(message).as_bytes()).and_then(|()| output.flush());
        if written.is_err() {
            self.is_closed.store(true, Ordering::Relaxed);
            lock(&self.running).values().for_each(|stop| stop.store(true, Ordering::Relaxed));
        }
    }
}

fn initialized(parameters: &Value) -> Value {
    let asked = parameters["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.into_iter().find(|version| *version == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "xla-shape", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

/// The result of a call that has no answer.
fn failed(error: &Value) -> Value {
    let text = error["message"].as_str().unwrap_or_default();
    json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": { "ok": false, "error": error },
        "isError": true,
    })
}

/// A panic of another call leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
