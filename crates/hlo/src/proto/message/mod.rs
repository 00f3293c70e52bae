//! The protobuf messages of XLA that modules need (`xla/service/hlo.proto`, `xla/xla_data.proto`). Other fields are skipped.

/// Declares a message and constants for its field numbers, with which it can be read without decoding.
macro_rules! message {
    (
        $name:ident, $numbers:ident
        $($tag:tt ($($kind:tt)*) $field:ident: $type:ty,)*
    ) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(crate) struct $name {
            $(#[prost($($kind)*, tag = $tag)] pub(crate) $field: $type,)*
        }

        /// The numbers of the fields.
        #[expect(non_upper_case_globals, reason = "the constants have the names of the fields")]
        pub(crate) mod $numbers {
            $(pub(crate) const $field: u32 = crate::proto::message::number($tag);)*
        }
    };
}

/// Parses a field number, which is a string in `prost`'s attributes.
const fn number(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => 0,
    }
}

mod dimensions;
mod instruction;
mod literal;
mod module;
mod sharding;

pub(crate) use dimensions::*;
pub(crate) use instruction::*;
pub(crate) use literal::*;
pub(crate) use module::*;
pub(crate) use sharding::*;
