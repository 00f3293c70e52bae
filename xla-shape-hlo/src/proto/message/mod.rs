//! The messages of XLA's schema (package `xla`), as far as modules need them; other fields are skipped.

/// A message, and the numbers of its fields: by them it is read where it stands, without a copy.
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
        #[expect(non_upper_case_globals, reason = "they are called as the fields are")]
        pub(crate) mod $numbers {
            $(pub(crate) const $field: u32 = crate::proto::message::number($tag);)*
        }
    };
}

/// The number of a field, written as `prost` wants it.
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
