//! The results of autotuning on a GPU, as XLA writes them into a file.

use super::content::fields;
use super::text_format::{Item, Reader};

/// The number of results of autotuning in a file that `--xla_gpu_dump_autotune_results_to` wrote: a cache with `entries`, or the older
/// `AutotuneResults` with `results`, as text or as a message. `None` if the file is neither; XLA then compiles as if it had no results.
///
/// In a message, each length-delimited field counts as one result, because only results are in such fields in both forms.
///
/// ```
/// use xla_shape_hlo::proto::autotuning_results;
///
/// let text = "entries { key { target { device: \"ed0e\" } } } entries { key { target { device: \"ed0e\" } } }";
/// assert_eq!(autotuning_results(text.as_bytes()), Some(2));
/// assert_eq!(autotuning_results(b"version: 3\n"), Some(0));
/// assert_eq!(autotuning_results(b"gpu_device_info { core_count: 132 }"), None);
/// ```
#[must_use]
pub fn autotuning_results(bytes: &[u8]) -> Option<usize> {
    let text = core::str::from_utf8(bytes).ok();
    text.and_then(in_text).or_else(|| fields(bytes).map(|fields| fields.len()))
}

/// `None` if the text is not protobuf's text format, or has a field that results do not have.
fn in_text(text: &str) -> Option<usize> {
    let (mut depth, mut results) = (0_usize, 0);
    for item in Reader::new(text) {
        match item.ok()?.item {
            Item::Open(name) => {
                if depth == 0 {
                    matches!(name, "entries" | "results").then_some(())?;
                    results += 1;
                }
                depth += 1;
            }
            Item::Close => depth = depth.checked_sub(1)?,
            Item::Scalar(name, _) => (depth > 0 || name == "version").then_some(())?,
        }
    }
    Some(results)
}

#[cfg(test)]
mod tests {
    use super::autotuning_results;

    #[test]
    fn both_forms_are_counted() {
        for (bytes, results) in [
            (&b"version: 3 results { device: \"CUDA: 9.0\" hlo: \"x\" result { gemm { algorithm: 1 } } }"[..], Some(1)),
            (b"", Some(0)),
            // A message of `version: 3` and two results in field 4.
            (&[8, 3, 0x22, 1, 0, 0x22, 0], Some(2)),
            (b"hello world", None),
            (b"name: \"m\"", None),
            (b"entries {", None),
            (&[0xff, 0xfe], None),
        ] {
            assert_eq!(autotuning_results(bytes), results, "{bytes:?}");
        }
    }
}
