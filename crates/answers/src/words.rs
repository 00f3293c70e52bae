//! Enums whose JSON is one of a few words.

/// Declares enums. Each variant has one text, which is both its JSON and its `Display`. The documentation of the type and of its variants becomes
/// part of the JSON Schema. A crate that uses this macro needs `serde` and `schemars`.
///
/// ```
/// xla_shape_answers::words! {
///     /// Where an array is.
///     pub enum Place {
///         /// In HBM.
///         Device = "device memory",
///     }
/// }
/// assert_eq!(Place::Device.to_string(), "device memory");
/// assert_eq!(xla_shape_answers::json_line(&Place::Device), "\"device memory\"\n");
/// ```
#[macro_export]
macro_rules! words {
    ($(
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$means:meta])* $variant:ident = $text:literal,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, schemars::JsonSchema)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$means])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// The text in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    )*};
}
