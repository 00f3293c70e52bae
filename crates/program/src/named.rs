//! The device that the name of a file or folder contains, such as `train__v6e/after.hlo`.

use xla_shape_core::gpu::Gpu;
use xla_shape_core::tpu::Generation;

/// The generation of TPUs that the name of a file or of its folder contains.
pub(crate) fn generation_in(path: &str) -> Option<Generation> {
    // JAX calls v5p `TPU v5`, but in the name of a file that may be v5e, too.
    let of_name = |name: &str| {
        let is_v5 = name.split('-').any(|word| word.to_ascii_lowercase().ends_with("v5"));
        Generation::from_name(name).filter(|generation| !is_v5 || *generation != Generation::V5p)
    };
    // A word that ends in a digit is not enough: `v2` to `v5` are also versions of models.
    let is_clear = |word: &str| {
        let is_whole = word.starts_with(char::is_alphabetic) && word.ends_with(char::is_alphabetic);
        is_whole || starts_with(word, "tpu")
    };
    only(path, &["tpu"], of_name, is_clear)
}

/// The GPU that the name of a file or of its folder contains. A single word is not enough: `b200` may be the size of a batch.
pub(crate) fn gpu_in(path: &str) -> Option<Gpu> {
    only(path, &["nvidia", "geforce", "gpu"], Gpu::from_name, |_| false)
}

/// The device that the file or its folder names; `None` if they name none, or different ones. A device's name counts if it cannot
/// mean anything else (`is_clear`), follows `__`, or begins with one of `makers`.
fn only<D: PartialEq>(
    path: &str,
    makers: &[&str],
    of_name: impl Fn(&str) -> Option<D>,
    is_clear: impl Fn(&str) -> bool,
) -> Option<D> {
    /// `nvidia-a100-80gb-pcie` has as many.
    const MOST_WORDS: usize = 4;
    let mut found = Vec::new();
    for component in path.rsplit(['/', '\\']).take(2) {
        for (number, part) in component.split("__").enumerate() {
            let words = part.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            let words: Vec<&str> = words.collect();
            let mut rest = &words[..];
            while let Some((first, after)) = rest.split_first() {
                let begins = number > 0 && rest.len() == words.len()
                    || makers.iter().any(|maker| first.eq_ignore_ascii_case(maker));
                let longest = match (begins, is_clear(first)) {
                    (true, _) => MOST_WORDS.min(rest.len()),
                    (false, is_clear) => usize::from(is_clear),
                };
                let named =
                    (1..=longest).rev().find_map(|count| Some((of_name(&rest.get(..count)?.join("-"))?, count)));
                rest = match named {
                    Some((device, count)) => {
                        found.push(device);
                        rest.get(count..).unwrap_or_default()
                    }
                    None => after,
                };
            }
        }
    }
    let mut found = found.into_iter();
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

fn starts_with(word: &str, start: &str) -> bool {
    word.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::{generation_in, gpu_in};
    use xla_shape_core::gpu::Gpu;
    use xla_shape_core::tpu::Generation::{V2, V4, V5e, V5p, V6e, V7x};

    #[test]
    fn names_of_files_say_the_generation() {
        for (path, expected) in [
            ("train__v6e/after.hlo", V6e),
            ("dumps\\v5e__host_offload.hlo", V5e),
            ("gp__tpu7x/after.hlo.pb", V7x),
            ("x__v4/after.hlo", V4),
            ("big_halo_conv__v4.hlo", V4),
            ("swin__v4@libtpu-0.0.35/after.hlo", V4),
            ("seqpar__v5e_2x4@libtpu-0.0.30/after.hlo", V5e),
            ("a__b__v5p/after.hlo", V5p),
            ("tpu-v4-podslice/after.hlo", V4),
            ("run-tpu-v4-8.hlo", V4),
            ("tpu_v2.hlo", V2),
            ("TPU_v4/m.hlo", V4),
            ("tpuv4.hlo", V4),
            ("TPU v5 lite/m.hlo", V5e),
            ("tpu-v5-lite-podslice-3.hlo", V5e),
            ("v5litepod-4.hlo", V5e),
            ("ct5lp-hightpu-4t.hlo", V5e),
            ("step.V6E.hlo", V6e),
            ("trillium-7.hlo", V6e),
            ("v6e/train.v6e.hlo", V6e),
        ] {
            assert_eq!(generation_in(path), Some(expected), "{path}");
        }
        for path in [
            // If there are two different names, neither counts. A folder further up does not count either.
            "v5e/train.v6e.hlo",
            "x__v4/tpu-v2.hlo",
            "v5e/train/after.hlo",
            // Versions of models, sizes, numbers of runs.
            "resnet_v2/after.hlo",
            "resnet-v4.hlo",
            "llama_v5/after.hlo",
            "run-v4-8/after.hlo",
            "rev5e2.hlo",
            "x__rev5e2.hlo",
            "v5/8t.hlo",
            // v5e or v5p.
            "tpu-v5.hlo",
            "tpuv5.hlo",
            "x__v5/after.hlo",
            "tpu.hlo",
            "x__h100/after.hlo",
            "after.hlo",
            "__/__.hlo",
            "",
        ] {
            assert_eq!(generation_in(path), None, "{path}");
        }
    }

    #[test]
    fn names_of_files_say_the_gpu() {
        for (path, expected) in [
            ("x__h100/after.hlo", Gpu::H100Sxm),
            ("x__a100-80/after.hlo", Gpu::A100Sxm80),
            ("nvidia-h100-80gb.hlo", Gpu::H100Sxm),
            ("m.gpu_l4.hlo", Gpu::L4),
        ] {
            assert_eq!(gpu_in(path), Some(expected), "{path}");
        }
        for path in
            ["x__a100/after.hlo", "b200.hlo", "layers_l4.hlo", "x__h100/gpu-l4.hlo", "gpu.hlo", "x__v4/after.hlo"]
        {
            assert_eq!(gpu_in(path), None, "{path}");
        }
    }
}
