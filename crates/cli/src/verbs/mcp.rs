//! `mcp`: the verbs as tools of the Model Context Protocol, over standard input and output. A message is a line of JSON-RPC.

use super::tools::Tools;
use crate::args::McpArguments;
use crate::failure::{Failure, INTERRUPTED};
use crate::io::{self, Line, MAX_LINE};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;
use xla_shape_answers::json_line;
use xla_shape_answers::problem::{Code, Problem};
use xla_shape_answers::tool::ToolAnswer;
use xla_shape_program::Host;

/// The supported versions of the protocol, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// At most this many calls run at a time.
const MOST_CALLS: usize = 8;

/// The interval at which the server checks for a signal.
const SOON: Duration = Duration::from_millis(50);

/// The instructions that a client may pass to its model.
const INSTRUCTIONS: &str = "Exact answers about XLA shapes, layouts, compiled programs and TPU kernels, without a device. Files are given by \
    path below the directories that the server was started with, or inline as {\"text\": …}. `ok` is the verdict: false if something does not \
    fit, exceeds a limit or has errors. A long answer comes as a digest with a handle; the tool `more` reads the rest.";

/// Error codes of JSON-RPC.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

pub(crate) fn run(arguments: &McpArguments, host: &Host) -> Result<(), Failure> {
    let server = Server {
        tools: Tools::new(&arguments.roots, arguments.write).map_err(Failure::said)?,
        host,
        running: Mutex::default(),
        is_closed: AtomicBool::new(false),
    };
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&ended)).map_err(Failure::said)?;
    }
    let is_over = AtomicBool::new(false);
    // At the end of the input, the scope waits until the running calls have finished.
    thread::scope(|scope| {
        scope.spawn(|| server.end_at(&ended, &is_over));
        let read = io::for_each_line(Path::new("-"), std::io::stdin().lock(), |line| {
            match line {
                Some(Line::Whole(bytes)) if bytes.trim_ascii().is_empty() => {}
                Some(Line::Whole(bytes)) => server.read(scope, bytes),
                Some(Line::TooLong { beginning, .. }) => {
                    let message = format!("the message has more than {MAX_LINE} bytes; give large files by path");
                    server.refuse(&id_in(beginning), INVALID_REQUEST, &message);
                }
                None => {}
            }
            match server.is_closed.load(Ordering::Relaxed) {
                true => Err(Failure::Write(std::io::ErrorKind::BrokenPipe.into())),
                false => Ok(()),
            }
        });
        is_over.store(true, Ordering::Relaxed);
        read
    })
}

/// What all calls share.
struct Server<'h> {
    tools: Tools,
    host: &'h Host,
    /// The calls that run, by the ids of their requests as JSON, each with the flag that stops it.
    running: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
    /// Whether the client has stopped reading the output.
    is_closed: AtomicBool,
}

impl Server<'_> {
    /// Ends the program once a signal has set `ended`. It stops the running calls first, so that they remove their temporary directories.
    fn end_at(&self, ended: &AtomicBool, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(SOON);
            if ended.load(Ordering::Relaxed) {
                self.stop_all();
                while !self.running().is_empty() {
                    thread::sleep(SOON);
                }
                std::process::exit(INTERRUPTED.into());
            }
        }
    }

    fn stop_all(&self) {
        self.running().values().for_each(|stop| stop.store(true, Ordering::Relaxed));
    }

    /// Handles a message.
    fn read<'s>(&'s self, scope: &'s Scope<'s, '_>, bytes: &[u8]) {
        let message = match serde_json::from_slice::<Value>(bytes) {
            Ok(Value::Object(message)) => message,
            Ok(_) => {
                return self.refuse(&Value::Null, INVALID_REQUEST, "expected an object; batches are not supported");
            }
            Err(error) => return self.refuse(&Value::Null, PARSE_ERROR, &error.to_string()),
        };
        let parameters = message.get("params").unwrap_or(&Value::Null);
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            // An answer to a request of the server: ignore it, because this server sends no requests.
            (None, _) if message.contains_key("result") || message.contains_key("error") => {}
            (None, _) => self.refuse(&Value::Null, INVALID_REQUEST, "expected a method"),
            (Some("notifications/cancelled"), None) => {
                if let Some(stop) = self.running().get(&parameters["requestId"].to_string()) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            (Some(_), None) => {}
            (Some(_), Some(id)) if !id.is_string() && !id.is_number() => {
                self.refuse(&Value::Null, INVALID_REQUEST, "expected a text or a number as id");
            }
            (Some("initialize"), Some(id)) => self.reply(id, &initialized(parameters)),
            (Some("ping"), Some(id)) => self.reply(id, &json!({})),
            (Some("tools/list"), Some(id)) => self.reply(id, &json!({ "tools": self.tools.described() })),
            (Some("tools/call"), Some(id)) => self.call(scope, id, parameters),
            (Some(method), Some(id)) => self.refuse(id, METHOD_NOT_FOUND, &format!("unknown method `{method}`")),
        }
    }

    fn call<'s>(&'s self, scope: &'s Scope<'s, '_>, id: &Value, parameters: &Value) {
        let name = parameters["name"].as_str().unwrap_or_default().to_owned();
        let arguments = match &parameters["arguments"] {
            Value::Null => Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => return self.refuse(id, INVALID_PARAMS, "expected an object as arguments"),
        };
        if !self.tools.has(&name) {
            return self.refuse(id, INVALID_PARAMS, &format!("unknown tool `{name}`"));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let key = id.to_string();
        {
            let mut running = self.running();
            if running.contains_key(&key) {
                return self.refuse(id, INVALID_REQUEST, "another request with this id is not answered yet");
            }
            if running.len() >= MOST_CALLS {
                let message = format!("{MOST_CALLS} calls run already; call again when one is answered");
                let busy = ToolAnswer::refused(&Problem { code: Code::Busy, message, place: None });
                return self.reply(id, &result(&busy));
            }
            running.insert(key.clone(), Arc::clone(&stop));
        }
        let (id, token) = (id.clone(), parameters["_meta"].get("progressToken").cloned());
        scope.spawn(move || {
            let answer = self.tools.call(self.host, &name, &arguments, &stop, |elapsed, what| {
                if let Some(token) = &token {
                    let told = json!({ "progressToken": token, "progress": elapsed.as_secs(), "message": what });
                    self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": told }));
                }
            });
            self.running().remove(&key);
            // The client does not expect an answer to a request that it cancelled.
            if let Some(answer) = answer {
                self.reply(&id, &result(&answer));
            }
        });
    }

    /// A poisoned lock is fine: a call that panics leaves the map consistent.
    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Arc<AtomicBool>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
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
            self.stop_all();
        }
    }
}

/// The id of a message, read from its beginning alone; null if the beginning has no id.
fn id_in(beginning: &[u8]) -> Value {
    struct Id<'v>(&'v mut Value);
    impl<'de> Visitor<'de> for Id<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
            while let Some(name) = fields.next_key::<String>()? {
                if name == "id" {
                    let id = fields.next_value()?;
                    // If the beginning ends at the id, the id may be cut off. Reading the next name then fails, and `id` stays null.
                    fields.next_key::<IgnoredAny>()?;
                    *self.0 = id;
                    break;
                }
                fields.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
    let mut id = Value::Null;
    // This always fails, because the message has no end. If it fails before the id, `id` stays null.
    let _ = serde_json::Deserializer::from_slice(beginning).deserialize_map(Id(&mut id));
    if id.is_string() || id.is_number() { id } else { Value::Null }
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

/// An answer as the result of a call: as data, and as the text that a model reads.
fn result(answer: &ToolAnswer) -> Value {
    let text = match (&answer.error, &answer.more) {
        (Some(error), _) => error["message"].as_str().unwrap_or_default().to_owned(),
        (None, None) => json_line(answer),
        (None, Some(more)) => {
            let (digest, handle) = (answer.digest.as_deref().unwrap_or_default(), &more.handle);
            let warnings = answer.warnings.iter().map(|warning| format!("{warning}\n")).collect::<String>();
            let rest =
                format!("The answer has {} bytes: the tool `more` with the handle {handle} reads it.", more.bytes);
            [digest, &warnings, &rest].concat()
        }
    };
    json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": answer,
        "isError": answer.error.is_some(),
    })
}
