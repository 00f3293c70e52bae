//! Reads the file of a module, of a run or of a profile, and recognizes other files.

mod profile;

pub(crate) use profile::{Profiled, program_of_hosts};
#[cfg(feature = "files")]
pub(crate) use profile::{median_runs, program_of};
use std::fmt;
use xla_shape_core::text::Span;
use xla_shape_core::{ParseError, Shape};
use xla_shape_hlo::dump::BufferAssignment;
#[cfg(feature = "files")]
use xla_shape_hlo::mlir_text;
use xla_shape_hlo::profile::{Profile, ProfileError};
#[cfg(feature = "files")]
use xla_shape_hlo::proto::is_text_format;
use xla_shape_hlo::proto::{HloProtoError, is_message, text_format_message};
use xla_shape_hlo::{Language, Module, program_text, utf8};

/// Why bytes are not a program. It displays as the message of the program, with the place of the error and what the file seems to be.
///
/// ```
/// use xla_shape_program::{Program, ReadError};
///
/// let error = Program::read("a.npy", b"\x93NUMPY\x01\0".to_vec()).unwrap_err();
/// assert!(matches!(error, ReadError::Form { .. }));
/// assert_eq!(error.to_string(), "error: a.npy: this is an array of NumPy; `xla-shape relayout` reads it");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// It is a message that cannot be read.
    Message {
        /// The file.
        name: String,
        /// What is wrong.
        error: HloProtoError,
    },
    /// It is text that cannot be read, or bytes that are not text.
    Syntax {
        /// What is wrong, and where in `text`.
        error: ParseError,
        /// The text. If the bytes are not text, it ends with U+FFFD in place of the first invalid bytes.
        text: String,
        /// The whole message.
        message: String,
    },
    /// The form is known, but it has no module, or none that this crate can read.
    Form {
        /// The file.
        name: String,
        /// What it is, and what can be done: a sentence without a capital letter and a full stop.
        what: &'static str,
    },
    /// It is a module without computations.
    Empty {
        /// The file.
        name: String,
    },
    /// It is a profile that cannot be read.
    Profile {
        /// The file.
        name: String,
        /// What is wrong, and where.
        error: ProfileError,
    },
    /// It is a profile in which no module, or more than one, has the requested name.
    NoModule {
        /// The file.
        name: String,
        /// The name that is asked for.
        wanted: String,
        /// The modules with this name; if there are none, all modules of the profile.
        modules: Vec<String>,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { name, error } => write!(f, "error: {name}: {error}"),
            Self::Syntax { message, .. } => f.write_str(message),
            Self::Form { name, what } => write!(f, "error: {name}: {what}"),
            Self::Empty { name } => write!(f, "error: {name} is not an HLO module: it has no computations"),
            Self::Profile { name, error } => write!(f, "error: {name}: {error}"),
            Self::NoModule { name, wanted, modules } => {
                const MOST: usize = 20;
                write!(f, "error: {name}: expected the name of one module, found {wanted:?}; the profile has ")?;
                if modules.is_empty() {
                    return f.write_str("none");
                }
                write!(f, "{}", modules.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", "))?;
                if modules.len() > MOST { write!(f, " and {} more", modules.len() - MOST) } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// Some instructions could not be read, and the program has the others. It displays as a warning, with the place of the first error.
///
/// ```
/// use xla_shape_program::Program;
///
/// let text = "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  q = f32[8}\n  ROOT n = f32[8] negate(p)\n}";
/// let program = Program::read("m.hlo", text.into())?;
/// let unread = program.unread().unwrap();
/// assert_eq!((unread.instructions, unread.of), (1, 3));
/// assert_eq!(&text[unread.error.span().start..unread.error.span().end], "}");
/// # Ok::<(), xla_shape_program::ReadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Unread {
    /// How many instructions could not be read.
    pub instructions: usize,
    /// How many instructions the text has.
    pub of: usize,
    /// The first error; its span is in the module's text.
    pub error: ParseError,
    shown: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instructions, of, shown, .. } = self;
        f.write_str("warning: ")?;
        match instructions {
            0 => f.write_str("a part of the text could not be read; what follows is about the rest")?,
            _ => write!(f, "{instructions} of {of} instructions could not be read; what follows is about the others")?,
        }
        write!(f, "\n{shown}")
    }
}

/// What a file contains of a program.
pub(crate) struct Contents {
    pub(crate) module: Module,
    pub(crate) unread: Option<Unread>,
    /// The buffer assignment in the message of the module.
    pub(crate) assignment: Option<BufferAssignment>,
    /// What a profile calls the device.
    pub(crate) device: Option<String>,
    /// The names of the other modules of a profile.
    pub(crate) others: Vec<String>,
    /// The profile.
    pub(crate) profile: Option<Profiled>,
}

impl From<Module> for Contents {
    fn from(module: Module) -> Self {
        Self { module, unread: None, assignment: None, device: None, others: Vec::new(), profile: None }
    }
}

/// The first bytes of a file of records (`riegeli/records/records_metadata.proto`; the format has a fixed first chunk).
const RIEGELI: &[u8] = &[0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f];

/// Reads a module, as text or message; of a profile, the one that took the most time.
pub(crate) fn read(name: &str, bytes: Vec<u8>) -> Result<Contents, ReadError> {
    let is_trace = host_of_trace(name).is_some() && !Profile::is_profile(&bytes);
    if let Some(what) = is_trace.then_some(TRACE).or_else(|| other_form(&bytes)) {
        return Err(ReadError::Form { name: name.to_owned(), what });
    }
    if Profile::is_profile(&bytes) {
        return program_of_hosts(name, &[&bytes]);
    }
    if is_message(&bytes) {
        return of_message(name, &bytes);
    }
    if let Err(error) = utf8(&bytes) {
        let hint = hint(&bytes);
        let Span { start, .. } = error.span();
        let mut bytes = bytes;
        bytes.truncate(start);
        let mut text = String::from_utf8(bytes).unwrap_or_default();
        let message = placed(name, &text, &error, &format_args!("error: {error}"), hint);
        // A large file can leave no memory for a copy.
        if text.try_reserve_exact(char::REPLACEMENT_CHARACTER.len_utf8()).is_ok() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        let error = ParseError::new(error.kind().clone(), Span { start, end: text.len() });
        return Err(ReadError::Syntax { error, text, message });
    }
    // `utf8` has just checked that it is text.
    let text = String::from_utf8(bytes).unwrap_or_default();
    if let Some(message) = text_format_message(&text) {
        let message = message.map_err(|error| broken(name, &text, error, None));
        return of_message(name, &message?);
    }
    let (module, errors) = match Module::parse_with_errors(text) {
        // The module may be inside a log, a page or a string of a program.
        (module, errors) if !errors.is_empty() => match program_text(module.text()) {
            Some(inside) if inside != module.text() => Module::parse_with_errors(inside),
            _ => (module, errors),
        },
        whole => whole,
    };
    let Some(error) = errors.into_iter().next() else {
        if module.computations().len() == 0 {
            return Err(ReadError::Empty { name: name.to_owned() });
        }
        return Ok(module.into());
    };
    let hint = hint(module.text().as_bytes());
    let shown = placed(name, module.text(), &error, &error.render(module.text()), hint);
    let of = module.instructions().len();
    let instructions = module.instructions().filter(|instruction| !instruction.is_read()).count();
    if hint.is_some() || instructions == of || module.entry().is_none() {
        return Err(ReadError::Syntax { error, text: module.into_text(), message: shown });
    }
    Ok(Contents { unread: Some(Unread { instructions, of, error, shown }), ..Contents::from(module) })
}

/// The error about a trace for viewers without a profile next to it.
const TRACE: &str = "this is a trace for viewers, which has no modules, so its times belong to no source lines; the profiler writes a \
                     *.xplane.pb beside it, which has both";

/// The name of a trace for viewers without its ending: JAX writes one for each host, beside the profile of the host.
pub(crate) fn host_of_trace(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix("trace.json")?;
    name.strip_suffix(['.', '_'])
}

/// Whether the form of these bytes is known: either it can have a module, or [`other_form`] says why not.
pub(crate) fn is_known(bytes: &[u8]) -> bool {
    is_message(bytes) || Profile::is_profile(bytes) || other_form(bytes).is_some()
}

/// Recognizes a file without a module, or with one that is not read here: says what it is, and what can be done with
/// it.
fn other_form(bytes: &[u8]) -> Option<&'static str> {
    const HEADER_LENGTH: usize = 8;
    if bytes.starts_with(RIEGELI) {
        return Some(
            "these are records of Riegeli, which are not read here. XLA writes the same program as a message or as text: \
             XLA_FLAGS=--xla_dump_to=DIR, with --xla_dump_hlo_as_proto or --xla_dump_hlo_as_text",
        );
    }
    if bytes.starts_with(b"\x93NUMPY") {
        return Some("this is an array of NumPy; `xla-shape relayout` reads it");
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some("this is an archive; of an .npz file, `xla-shape relayout --tensor NAME` reads an array");
    }
    // The file begins with the length of its header, in 8 bytes, of which the last is 0. Then follows the header, in JSON.
    let has_header = bytes.get(HEADER_LENGTH) == Some(&b'{') && bytes.get(HEADER_LENGTH - 1) == Some(&0);
    has_header.then_some("this is a .safetensors file; `xla-shape relayout --tensor NAME` reads it")
}

/// The bytes of a program, taken out of a fence of Markdown, the lines of a log, or a string of another language; a message in protobuf's text
/// format becomes its bytes. Bytes that begin as a program does, or contain none, stay as they are.
#[cfg(feature = "files")]
pub(crate) fn unwrapped(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, ReadError> {
    if Language::of(&bytes).is_some() || is_known(&bytes) {
        return Ok(bytes);
    }
    let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(bytes) };
    if let Some(message) = text_format_message(text) {
        return message.map_err(|error| broken(name, text, error, None));
    }
    let inside = program_text(text).or_else(|| mlir_text(text));
    Ok(inside.map_or(bytes, String::into_bytes))
}

/// The MLIR program inside another text, if the text has no HLO.
#[cfg(feature = "files")]
pub(crate) fn mlir_inside(bytes: &[u8]) -> Option<String> {
    if Language::of(bytes).is_some() || is_known(bytes) {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !is_text_format(text))?;
    // HLO is read by its own reader, which also takes it without a header.
    let is_hlo = text.contains("HloModule ") || text.contains("ENTRY ");
    if is_hlo { None } else { mlir_text(text) }
}

/// A text that cannot be read, with the place of the error.
fn broken(name: &str, text: &str, error: ParseError, hint: Option<&str>) -> ReadError {
    let message = placed(name, text, &error, &error.render(text), hint);
    ReadError::Syntax { error, text: text.to_owned(), message }
}

/// A message about a text, with the place of the error.
fn placed(name: &str, text: &str, error: &ParseError, message: &dyn fmt::Display, hint: Option<&str>) -> String {
    let (line, column) = error.line_column(text);
    let help = hint.map_or(String::new(), |hint| format!("\nhelp: {hint}"));
    format!("{message}\n  in {name}:{line}:{column}{help}")
}

/// Reads a message: a module, or what contains one.
fn of_message(name: &str, bytes: &[u8]) -> Result<Contents, ReadError> {
    let module = Module::from_proto(bytes).map_err(|error| ReadError::Message { name: name.to_owned(), error })?;
    Ok(Contents { assignment: BufferAssignment::from_proto(bytes).ok().flatten(), ..Contents::from(module) })
}

/// A sentence about what the file seems to be, and which verb reads it.
fn hint(bytes: &[u8]) -> Option<&'static str> {
    let language = Language::of(bytes);
    if language == Some(Language::Mlir) {
        return Some(
            "this is MLIR; `xla-shape compile FILE` compiles it and says the same of it; in JAX, `lowered.compile().as_text()` is HLO",
        );
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if text.trim().parse::<Shape>().is_ok() {
        return Some("this is a shape; `xla-shape explain SHAPE` says what it means");
    }
    let is_module = language == Some(Language::Hlo) || text.contains("\nENTRY ");
    (!is_module).then_some("this is not an HLO module; `xla-shape scan FILE` finds the shapes in any text")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_verb_for_a_file_is_named() {
        for (bytes, word) in [
            (&b"module @jit_f {\n}"[..], "MLIR"),
            (b"// a comment\n#loc = loc(unknown)\nmodule {}", "MLIR"),
            (b"\xef\xbb\xbfbuiltin.module {}", "MLIR"),
            (b"ML\xefR\x0dStableHLO_v1.9.5\0\xff", "MLIR"),
            (b"# a heading", "scan"),
            (b"f32[2,3]{1,0}\n", "explain"),
            (b"Traceback (most recent call last):\n f32[2]", "scan"),
            (b"", "scan"),
        ] {
            assert!(super::hint(bytes).is_some_and(|hint| hint.contains(word)), "{bytes:?}");
        }
        for (bytes, word) in [
            (&b"\x93NUMPY\x01\0"[..], "relayout"),
            (b"PK\x03\x04", ".npz"),
            (b"\x40\0\0\0\0\0\0\0{\"w\":{}}", "--tensor"),
        ] {
            assert!(super::other_form(bytes).is_some_and(|what| what.contains(word)), "{bytes:?}");
        }
        for (name, host) in [("d/vm.trace.json.gz", Some("d/vm")), ("vm.trace.json", Some("vm")), ("x.json.gz", None)] {
            assert_eq!(super::host_of_trace(name), host);
        }
        for bytes in [&b"HloModule m\nENTRY e {"[..], b"ENTRY e {", b"// a comment\nHloModule m", b"\xff\xfe"] {
            assert_eq!(super::hint(bytes), None, "{bytes:?}");
        }
    }
}
