//! Recognizes files that are not HLO modules, and names the verb that reads them.

use xla_shape_pjrt::Format;

/// A sentence about what the file seems to be, and which verb reads it.
pub(super) fn for_file(bytes: &[u8]) -> Option<&'static str> {
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
    let format = Format::detect(bytes);
    if format == Some(Format::Mlir) {
        return Some(
            "this is MLIR; `xla-shape compile FILE` compiles it and says the same of it; in JAX, `lowered.compile().as_text()` is HLO",
        );
    }
    let text = String::from_utf8_lossy(bytes);
    if text.trim().parse::<xla_shape::Shape>().is_ok() {
        return Some("this is a shape; `xla-shape explain SHAPE` says what it means");
    }
    let is_module = format == Some(Format::Hlo) || text.contains("\nENTRY ");
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
            assert!(super::for_file(bytes).is_some_and(|hint| hint.contains(word)), "{bytes:?}");
        }
        for bytes in [&b"HloModule m\nENTRY e {"[..], b"ENTRY e {", b"// a comment\nHloModule m", b"\xff\xfe"] {
            assert_eq!(super::for_file(bytes), None, "{bytes:?}");
        }
    }
}
