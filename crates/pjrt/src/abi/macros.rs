//! The macros that declare structs and tables of functions.

/// Declares argument structs: a size, a list of extensions, and fields.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident = $c_name:literal { $($field:ident: $kind:ty),* $(,)? })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Debug)]
            #[allow(missing_docs, reason = "the fields are the header's, which says what they are")]
            pub struct $name {
                pub struct_size: usize,
                pub extension_start: *mut ExtensionBase,
                $(pub $field: $kind,)*
            }

            impl $name {
                /// The size up to the end of the last field, without padding after it: `PJRT_STRUCT_SIZE` of the header.
                pub const SIZE: usize = {
                    let size = std::mem::offset_of!($name, extension_start) + size_of::<*mut ExtensionBase>();
                    // Each field sets the size to the offset of its end. The fields are in order, so the last one determines the result.
                    $(let size = { let _ = size; std::mem::offset_of!($name, $field) + size_of::<$kind>() };)*
                    size
                };
            }

            impl Default for $name {
                fn default() -> Self {
                    Self {
                        struct_size: Self::SIZE,
                        extension_start: std::ptr::null_mut(),
                        $($field: Default::default(),)*
                    }
                }
            }

            impl Arguments for $name {
                const SIZE: usize = Self::SIZE;

                fn set_struct_size(&mut self, size: usize) {
                    self.struct_size = size;
                }
            }
        )*

        /// The sizes and offsets of these structs, by the names of the header.
        #[cfg(test)]
        pub(super) fn declared() -> Vec<(String, usize)> {
            let mut rows = Vec::new();
            $(
                rows.push((format!("{} size", $c_name), $name::SIZE));
                rows.push((format!("{}.struct_size", $c_name), std::mem::offset_of!($name, struct_size)));
                rows.push((format!("{}.extension_start", $c_name), std::mem::offset_of!($name, extension_start)));
                $(rows.push((
                    format!("{}.{}", $c_name, stringify!($field).trim_start_matches("r#")),
                    std::mem::offset_of!($name, $field),
                ));)*
            )*
            rows
        }
    };
}

/// Declares a table of functions. Functions that this crate calls are written with their argument struct, in brackets if they return nothing. The
/// other functions are here only so that the offsets are right.
macro_rules! functions {
    ($(#[$meta:meta])* $table:ident { $($head:ident: $head_kind:ty,)* } $($name:ident $(($arguments:ty))? $([$void:ty])?;)*) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug)]
        #[allow(non_snake_case, missing_docs, reason = "the names are the header's, which says what they are")]
        pub struct $table {
            $(pub $head: $head_kind,)*
            $(pub $name: functions!(@kind $($arguments)? $([$void])?),)*
        }

        #[allow(non_upper_case_globals, reason = "the names are the header's")]
        impl $table {
            /// The size of the table, in bytes.
            pub const SIZE: usize = size_of::<Self>();

            /// The functions by their names in the header, each with its offset.
            pub const FUNCTIONS: &[(&'static str, usize)] =
                &[$((stringify!($name), std::mem::offset_of!($table, $name))),*];

            /// A table without functions.
            #[must_use]
            pub const fn empty($($head: $head_kind),*) -> Self {
                Self { $($head,)* $($name: None,)* }
            }

            $($(
                pub(crate) const $name: Function<$arguments> =
                    Function::new(stringify!($name), std::mem::offset_of!($table, $name));
            )?)*
            $($(
                pub(crate) const $name: Function<$void> =
                    Function::new(stringify!($name), std::mem::offset_of!($table, $name));
            )?)*
        }
    };
    (@kind) => { Option<unsafe extern "C" fn()> };
    (@kind [$arguments:ty]) => { Option<unsafe extern "C" fn(*mut $arguments)> };
    (@kind $arguments:ty) => { Option<unsafe extern "C" fn(*mut $arguments) -> *mut RawError> };
}

pub(super) use {functions, structs};
