//! The words of attributes whose values are enums (`xla/xla_data.proto`).

use xla_shape_core::infer::FftType;

/// The words of an enum, by their numbers in messages.
#[derive(Debug)]
pub(crate) struct Words {
    /// A description of the valid values, for errors.
    pub(crate) what: &'static str,
    /// The word of each number; empty if text has no word for it.
    pub(crate) words: &'static [&'static str],
    /// The highest number that XLA does not print, because it means the default.
    pub(crate) unprinted: i64,
    /// Whether XLA reads these words in capitals and in lower case.
    pub(crate) ignores_case: bool,
    /// Whether unknown words are accepted, since newer compilers are expected to have more.
    pub(crate) may_grow: bool,
}

impl Words {
    const fn new(what: &'static str, words: &'static [&'static str]) -> Self {
        Self { what, words, unprinted: 0, ignores_case: false, may_grow: false }
    }

    /// The number of a word.
    pub(crate) fn number(&self, text: &str) -> Option<usize> {
        let is = |word: &&str| if self.ignores_case { word.eq_ignore_ascii_case(text) } else { *word == text };
        self.words.iter().position(is).filter(|_| !text.is_empty())
    }

    /// The word of a number.
    pub(crate) fn word(&self, number: i64) -> Option<&'static str> {
        let place = usize::try_from(number).ok()?;
        self.words.get(place).copied().filter(|word| !word.is_empty())
    }
}

pub(crate) static FFT_TYPES: Words = Words::new(
    "FFT, IFFT, RFFT or IRFFT",
    &[FftType::Fft.name(), FftType::Ifft.name(), FftType::Rfft.name(), FftType::Irfft.name()],
);
pub(crate) static DIRECTIONS: Words = Words::new("EQ, NE, GE, GT, LE or LT", &["EQ", "NE", "GE", "GT", "LE", "LT"]);
pub(crate) static ORDERS: Words = Words::new("`TOTAL` or `PARTIAL`", &["TOTAL", "PARTIAL"]);
pub(crate) static FUSION_KINDS: Words =
    Words::new("kLoop, kInput, kOutput or kCustom", &["kLoop", "kInput", "kOutput", "kCustom"]);
pub(crate) static SHUFFLE_MODES: Words = Words::new("rotate", &["rotate"]);
pub(crate) static DEVICE_MODES: Words = Words::new(
    "cross_replica, cross_partition, cross_replica_and_partition or flattened_id",
    &["cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"],
);
pub(crate) static CONVOLUTION_KINDS: Words =
    Words::new("unset, fprop, dgrad or wgrad", &["unset", "fprop", "dgrad", "wgrad"]);
pub(crate) static TRANSPOSES: Words =
    Words::new("NO_TRANSPOSE, TRANSPOSE or ADJOINT", &["", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]);
pub(crate) static SCHEDULES: Words = Words {
    ignores_case: true,
    ..Words::new(
        "SCHEDULE_NONE, SCHEDULE_LATEST or SCHEDULE_EARLIEST",
        &["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"],
    )
};
pub(crate) static PADDING_TYPES: Words =
    Words::new("PADDING_VALID or PADDING_SAME", &["PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"]);
pub(crate) static API_VERSIONS: Words = Words {
    // API_VERSION_ORIGINAL is the default.
    unprinted: 1,
    ignores_case: true,
    ..Words::new(
        "a version of the interface, such as API_VERSION_TYPED_FFI",
        &[
            "API_VERSION_UNSPECIFIED",
            "API_VERSION_ORIGINAL",
            "API_VERSION_STATUS_RETURNING",
            "API_VERSION_STATUS_RETURNING_UNIFIED",
            "API_VERSION_TYPED_FFI",
        ],
    )
};
pub(crate) static DISTRIBUTIONS: Words =
    Words { ignores_case: true, ..Words::new("`rng_normal` or `rng_uniform`", &["", "rng_uniform", "rng_normal"]) };
/// The number of `rng_normal`.
pub(crate) const RNG_NORMAL: usize = 2;
pub(crate) static RNG_ALGORITHMS: Words = Words {
    ignores_case: true,
    may_grow: true,
    ..Words::new("an algorithm", &["rng_default", "rng_three_fry", "rng_philox"])
};
pub(crate) static TRI_STATE: Words = Words::new("`true` or `false`", &["", "true", "false"]);
pub(crate) static PRECISIONS: Words =
    Words { ignores_case: true, ..Words::new("default, high or highest", &["default", "high", "highest"]) };
pub(crate) static ALGORITHMS: Words = Words {
    ignores_case: true,
    may_grow: true,
    ..Words::new(
        "an algorithm",
        &[
            "unset",
            "dot_any_f8_any_f8_f32",
            "dot_any_f8_any_f8_f32_fast_accum",
            "dot_f16_f16_f16",
            "dot_f16_f16_f32",
            "dot_bf16_bf16_bf16",
            "dot_bf16_bf16_f32",
            "dot_bf16_bf16_f32_x3",
            "dot_bf16_bf16_f32_x6",
            "dot_tf32_tf32_f32",
            "dot_tf32_tf32_f32_x3",
            "dot_f32_f32_f32",
            "dot_f64_f64_f64",
            "dot_bf16_bf16_f32_x9",
            "dot_bf16_bf16_fp8x3",
            "dot_bf16_bf16_fp8x4",
        ],
    )
};
