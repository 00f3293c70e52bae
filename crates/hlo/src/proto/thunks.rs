//! `thunk_metadata.txt`: the instruction of each step of a program on a GPU (`ThunkMetadataListProto` of
//! `xla/backends/gpu/runtime/thunk.proto`, as text).

use super::text_format::{Item, Reader, Scalar};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::text::ParseError;

/// The name of the instruction of each step of a program on a GPU, by the step's number, from a dump's `thunk_metadata.txt`.
///
/// ```
/// use xla_shape_hlo::proto::thunk_instructions;
///
/// let text = "thunk_metadata { thunk_info { profile_annotation: \"fusion.8\" thunk_id: 2 } thunk_kind: \"kCustomKernel\" }";
/// assert_eq!(thunk_instructions(text)?[&2], "fusion.8");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
///
/// # Errors
/// If the text breaks the rules of protobuf's text format.
pub fn thunk_instructions(text: &str) -> Result<BTreeMap<u32, String>, ParseError> {
    let mut found = BTreeMap::new();
    let mut path = Vec::new();
    let (mut name, mut number) = (None, None);
    for item in Reader::new(text) {
        match item?.item {
            Item::Open(field) => path.push(field),
            Item::Close => {
                // A field that is left out is 0.
                if let Some("thunk_info") = path.pop()
                    && let Some(name) = name.take()
                {
                    found.insert(number.take().unwrap_or(0), name);
                }
            }
            Item::Scalar("profile_annotation", Scalar::Bytes(bytes)) if path == ["thunk_metadata", "thunk_info"] => {
                name = Some(String::from_utf8_lossy(&bytes).to_string());
            }
            Item::Scalar("thunk_id", Scalar::Word(word)) if path == ["thunk_metadata", "thunk_info"] => {
                number = word.parse().ok();
            }
            Item::Scalar(..) => {}
        }
    }
    Ok(found)
}
