//! The codes of XLA's catalogue of errors.

/// A code of XLA's catalogue (`XLA_ERROR_CODE_LIST` in `xla/error/error_codes.h`, and `docs/errors`).
///
/// ```
/// use xla_shape_hlo::Code;
///
/// let code = Code::in_message("INVALID_ARGUMENT: E1200: CompileTimeHostOffloadOutputLocationMismatch: error").unwrap();
/// assert_eq!((code.id(), code.name()), ("E1200", Some("CompileTimeHostOffloadOutputLocationMismatch")));
/// assert_eq!(code.page().as_deref(), Some("https://openxla.org/xla/errors/error_1200"));
/// assert!(Code::in_message("a.py:3:0: E0102: function already defined line 1 (function-redefined)").is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Code {
    id: &'static str,
    name: Option<&'static str>,
}

/// The codes with their names; a name is empty if XLA's list has none.
const CODES: [(&str, &str); 29] = [
    ("E0000", "Cancelled"),
    ("E0001", "Unknown"),
    ("E0002", "InvalidArgument"),
    ("E0003", "DeadlineExceeded"),
    ("E0004", "NotFound"),
    ("E0005", "AlreadyExists"),
    ("E0006", "PermissionDenied"),
    ("E0007", "ResourceExhausted"),
    ("E0008", "FailedPrecondition"),
    ("E0009", "Aborted"),
    ("E0010", "OutOfRange"),
    ("E0011", "Unimplemented"),
    ("E0012", "Internal"),
    ("E0013", "Unavailable"),
    ("E0014", "DataLoss"),
    ("E0015", "Unauthenticated"),
    ("E0100", "RuntimeBufferAllocationFailure"),
    ("E0101", "RuntimeProgramAllocationFailure"),
    ("E0102", "RuntimeProgramInputMismatch"),
    ("E0200", "RuntimeUnexpectedCoreHalt"),
    ("E1000", "CompileTimeHbmOom"),
    ("E1001", "CompileTimeScopedVmemOom"),
    ("E1002", ""),
    ("E1200", "CompileTimeHostOffloadOutputLocationMismatch"),
    ("E2001", "CompileTimeMosaicUnsupportedRhsType"),
    ("E2002", "CompileTimeMosaicMisalignedBlockAndTiling"),
    ("E2003", "CompileTimeMosaicUnprovenMemoryAccessAlignment"),
    ("E3000", "CompileTimeSparseCoreAllocationFailure"),
    ("E3001", "CompileTimeSparseCoreInvalidReplicaCount"),
];

impl Code {
    /// The code that a message has, as XLA writes it: `E1000: CompileTimeHbmOom: …`, with or without a status before it or the name after it.
    /// Linters of Python write codes of the same form, but their messages have other names, or a symbol in parentheses at the end, so they are not
    /// taken for codes of XLA.
    #[must_use]
    pub fn in_message(text: &str) -> Option<Self> {
        text.match_indices(": ").find_map(|(end, _)| {
            let (before, id) = text.get(..end)?.split_at_checked(end.checked_sub(5)?)?;
            let (id, name) = CODES.iter().copied().find(|(known, _)| *known == id)?;
            let rest = text.get(end.checked_add(2)?..)?;
            let is_named = !name.is_empty() && rest.starts_with(name);
            // `RESOURCE_EXHAUSTED: E1000: `
            let status = before.trim_end().strip_suffix(':').and_then(|before| before.rsplit(' ').next());
            let has_status = status.is_some_and(|status| {
                status.len() > 4 && status.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            });
            let is_first = before.trim().is_empty() && !text.trim_end().ends_with(')');
            (is_named || has_status || is_first)
                .then_some(Self { id, name: Some(name).filter(|name| !name.is_empty()) })
        })
    }

    /// The code, such as `E1000`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.id
    }

    /// XLA's name of it; `None` if the list has none.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        self.name
    }

    /// The page on which XLA explains it; `None` for the general codes below E0100, which have none.
    #[must_use]
    pub fn page(self) -> Option<alloc::string::String> {
        let number = self.id.strip_prefix('E').filter(|number| !number.starts_with("00"))?;
        Some(alloc::format!("https://openxla.org/xla/errors/error_{number}"))
    }
}
