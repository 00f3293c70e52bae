//! The attributes of layouts, and the table of those that are a number.
//!
//! To add a number, add a row and a variant of [`LayoutAttribute`]. Macros make everything else from the rows: the fields of
//! [`Layout`] and [`LayoutAttributes`], their accessors, limits, text, message, serialization and comparison, the type in `xla-shape` and what the
//! macros write. What an attribute does to the bytes of an array is its [`AttributeEffect`]. Code that depends
//! on this matches the effect, and does not compile when there is a new one.
//!
//! Only what C and Python have is written by hand: a field at the end of `XlaShapeArray` in `crates/c/src/array.rs`, a property of
//! layouts in `python/src/layout.rs`.

use super::validate::memory_space;
use super::{Layout, LayoutAttributes, SplitConfig};
use crate::layout::error::ValidationError;
use crate::layout::tile::Tile;
use crate::list::List;
use core::fmt;

/// An attribute of a layout. XLA's parser reads them in `ParseLayout` (`xla/hlo/parser/hlo_parser.cc`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum LayoutAttribute {
    /// `D(…)`: the levels of sparse dimensions; read and dropped.
    DimLevels,
    /// `T(…)…`: tiles.
    Tiles,
    /// `L(n)`: tail padding alignment, in elements.
    TailPaddingAlignment,
    /// `#(type)`: the type of a sparse array's indices.
    IndexPrimitiveType,
    /// `*(type)`: the type of a sparse array's pointers.
    PointerPrimitiveType,
    /// `E(n)`: bits of one element.
    ElementSizeInBits,
    /// `S(n)`: memory space.
    MemorySpace,
    /// `SC(…)…`: splits.
    SplitConfigs,
    /// `P(shape)`: the shape of a sparse array's data.
    PhysicalShape,
    /// `M(n)`: bytes before the data.
    DynamicShapeMetadataPrefixBytes,
}

/// Gives the rows of the attributes that are a number to a macro: `layout_numbers!(callback arguments)` expands to
/// `callback! { arguments rows }`. The rows are in the order of the text.
///
/// A row is `Variant "symbol" field type default (message) with_field ignore_field [parameter] "documentation" { cells }`:
///
/// - `Variant`: the variant of [`LayoutAttribute`](crate::validate::LayoutAttribute);
/// - `"symbol"`: the letters before the number in text;
/// - `field`, `type`: the field, named as in XLA, and its type;
/// - `default`: the number of a layout whose text does not have the attribute;
/// - `(message)`: the number of the field in `LayoutProto`;
/// - `with_field`, `ignore_field`: the methods that set it, and that leave it out of a comparison;
/// - `[parameter]`: the parameter of the type `xla_shape::types::Attributes`; `[]` if the attribute has a type of its own;
/// - `"documentation"`: what the number is, as documentation has it;
/// - `{ cells }`: the fields of `Row`, for this crate alone.
#[doc(hidden)]
#[macro_export]
macro_rules! layout_numbers {
    ($callback:ident $($arguments:tt)*) => {
        $callback! {
            $($arguments)*
            TailPaddingAlignment "L" tail_padding_alignment_in_elements u64 1 ("16")
            with_tail_padding_alignment_in_elements ignore_tail_padding_alignment_in_elements [TAIL_PADDING_ALIGNMENT]
            "the physical elements are rounded up to a multiple of this. At least 1, the default." {
                effect: AttributeEffect::End,
            }
            ElementSizeInBits "E" element_size_in_bits u64 0 ("7")
            with_element_size_in_bits ignore_element_size [ELEMENT_SIZE]
            "the bits that one element takes; 0, the default, means the element type's storage size." {
                effect: AttributeEffect::ElementBits,
            }
            MemorySpace "S" memory_space u8 0 ("8")
            with_memory_space ignore_memory_space []
            "the memory space, 0 to 127; 0 is the default memory. See [`memory_space`](crate::memory_space)." {
                effect: AttributeEffect::Place,
            }
            DynamicShapeMetadataPrefixBytes "M" dynamic_shape_metadata_prefix_bytes u64 0 ("15")
            with_dynamic_shape_metadata_prefix_bytes ignore_dynamic_shape_metadata_prefix_bytes [METADATA_PREFIX]
            "the bytes before the data that hold the sizes of bounded dimensions." {
                effect: AttributeEffect::Prefix,
            }
        }
    };
}

/// What is not part of the head of a row.
struct Row {
    effect: AttributeEffect,
}

/// What an attribute that is a number does to the bytes of an array.
///
/// ```
/// use xla_shape_core::validate::{AttributeEffect, LayoutAttribute};
///
/// assert_eq!(LayoutAttribute::MemorySpace.effect(), Some(AttributeEffect::Place));
/// assert_eq!(LayoutAttribute::Tiles.effect(), None, "not a number");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AttributeEffect {
    /// Nothing: a note for the compiler or the runtime.
    Nothing,
    /// Nothing; it says which memory holds the bytes.
    Place,
    /// An element takes this many bits.
    ElementBits,
    /// The number of positions is rounded up to a multiple of this.
    End,
    /// This many bytes are before the first element.
    Prefix,
}

macro_rules! numbers {
    ($($variant:ident $symbol:literal $field:ident $type:ident $default:literal ($tag:literal) $with:ident $ignore:ident
        [$($parameter:ident)?] $doc:literal { $($cells:tt)* })*) => {
        impl LayoutAttribute {
            /// Every attribute that is a number, in the order of the text.
            pub const NUMBERS: &'static [Self] = &[$(Self::$variant),*];

            const fn row(self) -> Option<&'static Row> {
                match self {
                    $(Self::$variant => Some(&const { Row { $($cells)* } }),)*
                    _ => None,
                }
            }

            /// The number of a layout whose text does not have the attribute; `None` if the attribute is not a number.
            ///
            /// ```
            /// use xla_shape_core::validate::LayoutAttribute;
            ///
            /// assert_eq!(LayoutAttribute::TailPaddingAlignment.default_number(), Some(1));
            /// assert_eq!(LayoutAttribute::Tiles.default_number(), None);
            /// ```
            #[must_use]
            pub const fn default_number(self) -> Option<u64> {
                match self {
                    $(Self::$variant => Some($default),)*
                    _ => None,
                }
            }

            /// The letters that introduce the attribute in text, such as `SC`.
            ///
            /// ```
            /// use xla_shape_core::validate::LayoutAttribute;
            ///
            /// assert_eq!(LayoutAttribute::SplitConfigs.symbol(), "SC");
            /// ```
            #[must_use]
            pub const fn symbol(self) -> &'static str {
                match self {
                    $(Self::$variant => $symbol,)*
                    Self::DimLevels => "D",
                    Self::Tiles => "T",
                    Self::IndexPrimitiveType => "#",
                    Self::PointerPrimitiveType => "*",
                    Self::SplitConfigs => "SC",
                    Self::PhysicalShape => "P",
                }
            }

            /// XLA's name of the field, such as `memory_space`.
            ///
            /// ```
            /// use xla_shape_core::validate::LayoutAttribute;
            ///
            /// assert_eq!(LayoutAttribute::MemorySpace.name(), "memory_space");
            /// ```
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($field),)*
                    Self::DimLevels => "dim_level_types",
                    Self::Tiles => "tiles",
                    Self::IndexPrimitiveType => "index_primitive_type",
                    Self::PointerPrimitiveType => "pointer_primitive_type",
                    Self::SplitConfigs => "split_configs",
                    Self::PhysicalShape => "physical_shape",
                }
            }
        }

        impl LayoutAttributes<'_> {
            /// The attributes of a layout whose text has none.
            pub const DEFAULT: Self = Self { $($field: $default,)* split_configs: &[] };
        }

        impl Layout {
            pub(crate) const fn unchecked(minor_to_major: List<usize, 4>) -> Self {
                Self { minor_to_major, tiles: List::EMPTY, $($field: $default,)* split_configs: List::EMPTY }
            }

            /// The parts together, without checks.
            pub(super) const fn of_static_parts(
                minor_to_major: &'static [usize],
                tiles: &'static [Tile],
                attributes: LayoutAttributes<'static>,
            ) -> Self {
                Self {
                    minor_to_major: List::Static(minor_to_major),
                    tiles: List::Static(tiles),
                    $($field: attributes.$field,)*
                    split_configs: List::Static(attributes.split_configs),
                }
            }

            /// All attributes: every part other than the order and the tiles.
            ///
            /// ```
            /// use xla_shape_core::{Layout, LayoutAttributes};
            ///
            /// let layout: Layout = "{1,0:T(8,128)S(1)}".parse()?;
            /// assert_eq!(layout.attributes(), LayoutAttributes { memory_space: 1, ..LayoutAttributes::DEFAULT });
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            #[inline]
            pub const fn attributes(&self) -> LayoutAttributes<'_> {
                LayoutAttributes { $($field: self.$field,)* split_configs: self.split_configs.as_slice() }
            }

            /// The number that an attribute has; `None` if the attribute is not a number.
            ///
            /// ```
            /// use xla_shape_core::{Layout, validate::LayoutAttribute};
            ///
            /// let layout: Layout = "{1,0:T(8,128)S(1)}".parse()?;
            /// assert_eq!(layout.number(LayoutAttribute::MemorySpace), Some(1));
            /// assert_eq!(layout.number(LayoutAttribute::Tiles), None);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub const fn number(&self, attribute: LayoutAttribute) -> Option<u64> {
                match attribute {
                    $(LayoutAttribute::$variant => Some(self.$field as u64),)*
                    _ => None,
                }
            }

            /// Sets an attribute that is a number; another attribute stays as it is. Checks only that the number fits into its field.
            pub(crate) const fn set_number(&mut self, attribute: LayoutAttribute, number: u64) -> Result<(), ValidationError> {
                match attribute {
                    $(LayoutAttribute::$variant => self.$field = numbers!(@narrow $type number),)*
                    _ => {}
                }
                Ok(())
            }

            /// The same layout with this number as an attribute; an attribute that is not a number stays as it is.
            ///
            /// ```
            /// use xla_shape_core::{Layout, validate::LayoutAttribute};
            ///
            /// let layout = Layout::descending(1).with_number(LayoutAttribute::ElementSizeInBits, 4)?;
            /// assert_eq!(layout.to_string(), "{0:E(4)}");
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// If the attribute cannot have this number.
            pub fn with_number(mut self, attribute: LayoutAttribute, number: u64) -> Result<Self, ValidationError> {
                self.set_number(attribute, number)?;
                self.validated()
            }

            $(
                #[doc = concat!("`", $symbol, "(n)`: ", $doc)]
                ///
                /// ```
                #[doc = concat!("let layout: xla_shape_core::Layout = \"{0:", $symbol, "(4)}\".parse()?;")]
                #[doc = concat!("assert_eq!(layout.", stringify!($field), "(), 4);")]
                /// # Ok::<(), Box<dyn core::error::Error>>(())
                /// ```
                #[must_use]
                #[inline]
                pub const fn $field(&self) -> $type {
                    self.$field
                }

                #[doc = concat!("The same layout with another `", $symbol, "(n)`: ", $doc)]
                ///
                /// ```
                /// use xla_shape_core::Layout;
                ///
                #[doc = concat!("let layout = Layout::descending(1).", stringify!($with), "(4)?;")]
                #[doc = concat!("assert_eq!(layout.to_string(), \"{0:", $symbol, "(4)}\");")]
                /// # Ok::<(), Box<dyn core::error::Error>>(())
                /// ```
                ///
                /// # Errors
                /// If the attribute cannot have this number.
                pub fn $with(mut self, number: $type) -> Result<Self, ValidationError> {
                    self.$field = number;
                    self.validated()
                }
            )*
        }
    };
    (@narrow u64 $number:ident) => { $number };
    (@narrow u8 $number:ident) => {
        match memory_space($number) {
            Ok(number) => number,
            Err(error) => return Err(error),
        }
    };
}

layout_numbers!(numbers);

impl LayoutAttribute {
    /// Every attribute of XLA's text, in the order in which they must appear.
    pub const ALL: [Self; 10] = [
        Self::DimLevels,
        Self::Tiles,
        Self::TailPaddingAlignment,
        Self::IndexPrimitiveType,
        Self::PointerPrimitiveType,
        Self::ElementSizeInBits,
        Self::MemorySpace,
        Self::SplitConfigs,
        Self::PhysicalShape,
        Self::DynamicShapeMetadataPrefixBytes,
    ];

    /// What the attribute does to the bytes of an array; `None` if it is not a number.
    #[must_use]
    pub const fn effect(self) -> Option<AttributeEffect> {
        match self.row() {
            Some(row) => Some(row.effect),
            None => None,
        }
    }
}

impl fmt::Display for LayoutAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl Default for LayoutAttributes<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Layout {
    /// `SC(…)`: the physical dimensions that are cut into pieces, and where.
    ///
    /// ```
    /// use xla_shape_core::{Layout, SplitConfig};
    ///
    /// let layout: Layout = "{1,0:SC(0:64)}".parse()?;
    /// assert_eq!(layout.split_configs(), [SplitConfig::new(0, &[64])]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn split_configs(&self) -> &[SplitConfig] {
        self.split_configs.as_slice()
    }

    /// The same layout with these splits.
    ///
    /// ```
    /// use xla_shape_core::{Layout, SplitConfig};
    ///
    /// let layout = Layout::descending(2).with_split_configs(&[SplitConfig::new(0, &[64])])?;
    /// assert_eq!(layout.to_string(), "{1,0:SC(0:64)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a split's dimension is out of range or named twice, or its indices are not above 0 and increasing.
    pub fn with_split_configs(mut self, split_configs: &[SplitConfig]) -> Result<Self, ValidationError> {
        self.split_configs = List::from_slice(split_configs);
        self.validated()
    }

    /// Whether an attribute that is a number has its default.
    #[must_use]
    pub(crate) const fn has_default(&self, attribute: LayoutAttribute) -> bool {
        match (self.number(attribute), attribute.default_number()) {
            (Some(number), Some(default)) => number == default,
            _ => true,
        }
    }

    /// Whether all attributes that are numbers are equal to those of another layout.
    pub(crate) const fn same_numbers(&self, other: &Self) -> bool {
        let mut rest = LayoutAttribute::NUMBERS;
        while let [attribute, others @ ..] = rest {
            if let (Some(one), Some(other)) = (self.number(*attribute), other.number(*attribute))
                && one != other
            {
                return false;
            }
            rest = others;
        }
        true
    }

    /// Whether all attributes are the default.
    ///
    /// ```
    /// let layout = |text: &str| text.parse::<xla_shape_core::Layout>().unwrap();
    /// assert!(layout("{1,0:T(8,128)}").has_default_attributes()); // tiles are not attributes
    /// assert!(!layout("{1,0:S(1)}").has_default_attributes());
    /// ```
    #[must_use]
    pub const fn has_default_attributes(&self) -> bool {
        let mut rest = LayoutAttribute::NUMBERS;
        while let [attribute, others @ ..] = rest {
            if !self.has_default(*attribute) {
                return false;
            }
            rest = others;
        }
        self.split_configs().is_empty()
    }

    /// Whether an array has no bytes except those of its positions: no attribute rounds their number up or puts bytes before them.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// let layouts: [Layout; 2] = ["{0:T(128)S(1)}".parse()?, "{0:M(8)}".parse()?];
    /// assert_eq!(layouts.map(|layout| layout.has_only_positions()), [true, false]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn has_only_positions(&self) -> bool {
        let mut rest = LayoutAttribute::NUMBERS;
        while let [attribute, others @ ..] = rest {
            // Every effect is named here, so that a new one does not compile until it is decided whether it adds bytes.
            match attribute.effect() {
                Some(AttributeEffect::End | AttributeEffect::Prefix) if !self.has_default(*attribute) => return false,
                Some(
                    AttributeEffect::Nothing
                    | AttributeEffect::Place
                    | AttributeEffect::ElementBits
                    | AttributeEffect::End
                    | AttributeEffect::Prefix,
                )
                | None => {}
            }
            rest = others;
        }
        true
    }
}

// Sizes and positions are computed from one attribute for each effect, so only the effect `Nothing` may have several.
const _: () = {
    let mut rest = LayoutAttribute::NUMBERS;
    while let [one, others @ ..] = rest {
        let mut more = others;
        while let [other, after @ ..] = more {
            if let (Some(a), Some(b)) = (one.effect(), other.effect()) {
                assert!(
                    a as u8 != b as u8 || matches!(a, AttributeEffect::Nothing),
                    "two attributes have the same effect"
                );
            }
            more = after;
        }
        rest = others;
    }
};
