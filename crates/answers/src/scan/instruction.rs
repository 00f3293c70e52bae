//! The instruction of a program that a message is about.

use schemars::JsonSchema;
use serde::Serialize;

/// The instruction of the given program that a message is certainly about.
///
/// ```
/// use xla_shape_answers::scan::{InProgram, Scan};
///
/// let mut scan = Scan::default();
/// scan.read_line(b"[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {devices=[4,1]<=[4]} to \
///     {devices=[1,4]<=[4]} efficiently for HLO operation %p = f32[4,16]{1,0} parameter(0)");
/// let place = InProgram { name: "%copy.1".to_owned(), source: Some("train.py:44".to_owned()) };
/// scan.name_instructions(|_| Some(place.clone()));
/// let cause = &scan.causes()[0];
/// assert_eq!(cause.instruction.as_ref(), Some(&place));
/// assert!(cause.details().contains(&"In the program, it is %copy.1 (train.py:44).".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct InProgram {
    /// Its name, as the program writes it, such as "%copy.1".
    pub name: String,
    /// The file and the line in the user's program, such as "train.py:44"; null if the program does not say.
    pub source: Option<String>,
}

impl InProgram {
    /// The sentence that says where it is.
    pub(super) fn sentence(&self) -> String {
        let source = self.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        format!("In the program, it is {}{source}.", self.name)
    }
}
