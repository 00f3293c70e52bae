//! Which language a program is written in.

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Language {
    /// HLO, as text.
    Hlo,
    /// A dialect of MLIR, such as StableHLO, as text or bytecode.
    Mlir,
}

/// The first bytes of MLIR's bytecode.
const BYTECODE: &[u8] = b"ML\xefR";

/// The words that a program in MLIR begins with.
const MLIR: [&str; 8] =
    ["module", "builtin.module", "\"builtin.module\"", "func.func", "\"func.func\"", "{-#", "vhlo", "sdy"];

impl Language {
    /// Whether these are bytes of MLIR's bytecode.
    ///
    /// ```
    /// assert!(xla_shape_hlo::Language::is_bytecode(b"ML\xefR\x0d"));
    /// ```
    #[must_use]
    pub fn is_bytecode(bytes: &[u8]) -> bool {
        bytes.starts_with(BYTECODE)
    }

    /// The language of a file's content, from its first bytes or, after comments, its first words; `None` if they do not show it, as
    /// in a binary message.
    ///
    /// ```
    /// use xla_shape_hlo::Language;
    ///
    /// assert_eq!(Language::of(b"// jit_f\nmodule @jit_f {}"), Some(Language::Mlir));
    /// assert_eq!(Language::of(b"HloModule m"), Some(Language::Hlo));
    /// assert_eq!(Language::of(b"# a heading"), None);
    /// ```
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if Self::is_bytecode(bytes) {
            return Some(Self::Mlir);
        }
        let rest = skip_comments(core::str::from_utf8(bytes).ok()?)?;
        let is = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
        if is(&["HloModule", "ENTRY", "%"]) {
            Some(Self::Hlo)
        } else {
            (is(&MLIR) || is_alias(rest)).then_some(Self::Mlir)
        }
    }
}

/// The text without leading space and comments.
fn skip_comments(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        // Both languages have `//`; HLO has `/*` too.
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n')?.1;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else {
            return Some(rest);
        }
    }
}

/// Whether a text begins with the definition of an alias in MLIR, such as `#loc1 = loc("x")`.
fn is_alias(text: &str) -> bool {
    let Some(name) = text.strip_prefix(['#', '!']) else { return false };
    let after = name.trim_start_matches(|letter: char| letter.is_alphanumeric() || "_$.-".contains(letter));
    after.len() < name.len() && after.trim_start().starts_with('=')
}
