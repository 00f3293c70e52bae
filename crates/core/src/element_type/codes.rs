//! How other programs number and name element types in their files and interfaces.

use super::ElementType;

impl ElementType {
    /// The bits that an element takes if only types with fewer bits than a byte are packed; `pred` takes 8. DLPack and
    /// `bitcast-convert` count in this way, and so does the memory that XLA's CPU backend passes to kernels.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!([ElementType::Pred, ElementType::S4, ElementType::F32].map(ElementType::packed_bits), [8, 4, 32]);
    /// ```
    #[must_use]
    pub const fn packed_bits(self) -> u64 {
        if self.is_sub_byte_non_pred() { self.bits() } else { self.storage_bits() }
    }

    /// The bits of an element in the memory of a TPU, which determine its tiles; `None` if they are not known.
    pub(crate) const fn tpu_bits(self) -> Option<u64> {
        self.row().tpu_bits
    }

    /// DLPack's code (`DLDataTypeCode` in `dlpack.h`); `None` if DLPack does not have the type.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::Bf16.dlpack_code(), ElementType::S1.dlpack_code()), (Some(4), None));
    /// ```
    #[must_use]
    pub const fn dlpack_code(self) -> Option<u8> {
        self.row().dlpack
    }

    /// NumPy's code in the header of an `.npy` file, without the byte order; `None` if NumPy itself does not have the type.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::F32.npy_code(), ElementType::Bf16.npy_code()), (Some("f4"), None));
    /// ```
    #[must_use]
    pub const fn npy_code(self) -> Option<&'static str> {
        self.row().npy
    }

    /// The name in the header of a `.safetensors` file; `None` if the format does not have the type in whole bytes.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!(ElementType::F8E4M3Fn.safetensors_name(), Some("F8_E4M3"));
    /// ```
    #[must_use]
    pub const fn safetensors_name(self) -> Option<&'static str> {
        self.row().safetensors
    }

    /// The number in PJRT's interface (`PJRT_Buffer_Type` in `pjrt_c_api.h`), which is not the one in XLA's schema; `None` if the
    /// interface does not have the type.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::Bf16.pjrt_number(), ElementType::Bf16.proto_number()), (Some(13), 16));
    /// ```
    #[must_use]
    pub const fn pjrt_number(self) -> Option<i32> {
        self.row().pjrt
    }
}
