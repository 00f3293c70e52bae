//! Reads the file of a module, and recognizes files that are none.

use std::fmt::Display;
use xla_shape_core::ParseError;
use xla_shape_hlo::proto::is_message;
use xla_shape_hlo::{Language, Module, utf8};

/// A module, and a warning about the instructions that could not be read.
#[derive(Clone, Debug)]
pub struct ModuleFile {
    /// The module. If only some instructions of a text can be read, it has those.
    pub module: Module,
    /// The warning for people.
    pub unread: Option<String>,
}

impl ModuleFile {
    /// Reads a module, as text or message. `name` is the file's name for errors, which are messages for people.
    ///
    /// ```
    /// use xla_shape_render::hlo::ModuleFile;
    ///
    /// let read = ModuleFile::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert!(read.module.entry().is_some() && read.unread.is_none());
    /// assert!(ModuleFile::read("notes.txt", b"# notes").unwrap_err().contains("xla-shape scan"));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// If the file is not a module, or nothing of it can be read.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let shown = |error: &ParseError, text: &str, message: &dyn Display| {
            let (line, column) = error.line_column(text);
            let help = hint(bytes).map_or(String::new(), |hint| format!("\nhelp: {hint}"));
            format!("{message}\n  in {name}:{line}:{column}{help}")
        };
        if is_message(bytes) {
            let module = Module::from_proto(bytes).map_err(|error| format!("error: {name}: {error}"))?;
            return Ok(Self { module, unread: None });
        }
        let text = utf8(bytes).map_err(|error| {
            let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            shown(&error, valid, &format_args!("error: {error}"))
        })?;
        let (module, errors) = Module::parse_with_errors(text);
        let Some(first) = errors.first() else {
            if module.computations().len() == 0 {
                return Err(format!("error: {name} is not an HLO module: it has no computations"));
            }
            return Ok(Self { module, unread: None });
        };
        let error = shown(first, module.text(), &first.render(module.text()));
        let readable = module.instructions().filter(|instruction| instruction.is_read()).count();
        if hint(bytes).is_some() || readable == 0 || module.entry().is_none() {
            return Err(error);
        }
        let all = module.instructions().len();
        let unread = all - readable;
        let unread = format!(
            "warning: {unread} of {all} instructions could not be read; what follows is about the others\n{error}"
        );
        Ok(Self { module, unread: Some(unread) })
    }
}

/// A sentence about what the file seems to be, and which verb reads it.
fn hint(bytes: &[u8]) -> Option<&'static str> {
    const HEADER_LENGTH: usize = 8;
    if bytes.starts_with(b"\x93NUMPY") {
        return Some("this is an array of NumPy; `xla-shape relayout` reads it");
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some(
            "this is an archive, such as .npz; unpack it, then `xla-shape relayout` reads the .npy files in it",
        );
    }
    if bytes.get(HEADER_LENGTH) == Some(&b'{') && bytes.get(HEADER_LENGTH - 1) == Some(&0) {
        return Some("this is a .safetensors file; `xla-shape relayout --tensor NAME` reads it");
    }
    let language = Language::of(bytes);
    if language == Some(Language::Mlir) {
        return Some(
            "this is MLIR; `xla-shape compile FILE` compiles it and says the same of it; in JAX, `lowered.compile().as_text()` is HLO",
        );
    }
    let text = String::from_utf8_lossy(bytes);
    if text.trim().parse::<xla_shape_core::Shape>().is_ok() {
        return Some("this is a shape; `xla-shape explain SHAPE` says what it means");
    }
    let is_module = language == Some(Language::Hlo) || text.contains("\nENTRY ");
    (!is_module && std::str::from_utf8(bytes).is_ok())
        .then_some("this is not an HLO module; `xla-shape scan FILE` finds the shapes in any text")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_verb_for_a_file_is_named() {
        for (bytes, word) in [
            (&b"\x93NUMPY\x01\0"[..], "relayout"),
            (b"PK\x03\x04", ".npz"),
            (b"\x40\0\0\0\0\0\0\0{\"w\":{}}", "--tensor"),
            (b"module @jit_f {\n}", "MLIR"),
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
        for bytes in [&b"HloModule m\nENTRY e {"[..], b"ENTRY e {", b"// a comment\nHloModule m", b"\xff\xfe"] {
            assert_eq!(super::hint(bytes), None, "{bytes:?}");
        }
    }
}
