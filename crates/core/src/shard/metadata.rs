//! The origin of a sharding in the source program.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// The origin of a sharding in the source program: the fields of `OpMetadata` in `xla/xla_data.proto` that a text can
/// hold.
///
/// Metadata does not affect the sharding, except that it may name a [`Reduction`](super::Reduction): shardings that
/// otherwise differ only in metadata are equal.
///
/// ```
/// use xla_shape_core::shard::Sharding;
///
/// let sharding: Sharding = r#"{replicated metadata={op_name="w" source_file="model.py" source_line=7}}"#.parse()?;
/// let origin = &sharding.metadata()[0];
/// assert_eq!((origin.op_name.as_str(), origin.source_file.as_str(), origin.source_line), ("w", "model.py", 7));
/// assert_eq!(sharding, Sharding::REPLICATED, "metadata does not count");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct OpMetadata {
    /// The type of the operation in the framework.
    pub op_type: String,
    /// The name of the operation in the framework.
    pub op_name: String,
    /// The source file.
    pub source_file: String,
    /// The first line, counted from 1; 0 if unknown, as in the fields below.
    pub source_line: i32,
    /// The last line.
    pub source_end_line: i32,
    /// The first column.
    pub source_column: i32,
    /// The last column.
    pub source_end_column: i32,
    /// The kinds of profile that guided the compiler: numbers of `ProfileType` in `xla/xla_data.proto`.
    pub profile_type: Vec<i32>,
    /// The name that deduplicated operations share.
    pub deduplicated_name: String,
    /// The number of the stack frame.
    pub stack_frame_id: i32,
    /// The name of the operation in a schedule.
    pub scheduling_name: String,
    /// Data that a framework attached.
    pub payload: Option<String>,
}

impl fmt::Display for OpMetadata {
    /// The text between the braces of `metadata={…}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut text = |f: &mut fmt::Formatter<'_>, name: &str, value: &str| {
            if value.is_empty() {
                return Ok(());
            }
            write!(f, "{separator}{name}=\"")?;
            separator = " ";
            for c in value.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    _ => f.write_char(c)?,
                }
            }
            f.write_char('"')
        };
        text(f, "op_type", &self.op_type)?;
        text(f, "op_name", &self.op_name)?;
        text(f, "source_file", &self.source_file)?;
        text(f, "deduplicated_name", &self.deduplicated_name)?;
        text(f, "scheduling_name", &self.scheduling_name)?;
        text(f, "metadata_payload", self.payload.as_deref().unwrap_or(""))?;
        for (name, value) in [
            ("source_line", self.source_line),
            ("source_end_line", self.source_end_line),
            ("source_column", self.source_column),
            ("source_end_column", self.source_end_column),
            ("stack_frame_id", self.stack_frame_id),
        ] {
            if value != 0 {
                write!(f, "{separator}{name}={value}")?;
                separator = " ";
            }
        }
        if !self.profile_type.is_empty() {
            write!(f, "{separator}profile_type={{")?;
            for (i, kind) in self.profile_type.iter().enumerate() {
                write!(f, "{}{kind}", if i > 0 { "," } else { "" })?;
            }
            f.write_char('}')?;
        }
        Ok(())
    }
}
