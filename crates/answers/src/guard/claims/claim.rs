//! The kinds of claims: one table row for each kind, with the things that it selects and what it says about them.

use super::bound::{Bound, Bytes, Count};
use super::select::{Line, Path, Scope, Space};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;
use toml::Spanned;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ElementType, Layout};
use xla_shape_hlo::{Instruction, Opcode};

/// The role of a field in a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It chooses the things that the claim is about.
    Selects,
    /// It bounds the number of these things, or another total of all of them.
    Bounds(Bound),
    /// It bounds their bytes.
    BoundsBytes(Bound),
    /// It must hold for each of them.
    Says,
}

/// A field that a claim has.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The value, as in the file but without quotation marks.
    pub(super) text: String,
    pub(super) role: Role,
}

impl Role {
    /// The bounds of the field, if it has any.
    pub(super) const fn bound(self) -> Option<Bound> {
        match self {
            Self::Bounds(bound) | Self::BoundsBytes(bound) => Some(bound),
            Self::Selects | Self::Says => None,
        }
    }
}

macro_rules! role {
    (selects $value:expr) => {
        Role::Selects
    };
    (says $value:expr) => {
        Role::Says
    };
    (bounds $value:expr) => {
        Role::Bounds($value.0)
    };
    (weighs $value:expr) => {
        Role::BoundsBytes($value.0)
    };
}

macro_rules! claims {
    ($($(#[$about:meta])* $kind:ident $table:literal {
        $($(#[$means:meta])* $role:ident $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, PartialEq, Debug, Default, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $kind {
                $($(#[$means])* #[serde(default, deserialize_with = "value")] pub $field: Option<$type>,)*
            }
        )*

        /// A claim: what it is about, and what must hold. Everything that is given must hold.
        ///
        /// ```
        /// use xla_shape_answers::guard::claims::{
        ///     Arguments, Arrays, Claim, Claims, Collectives, Copies, CustomCalls, Fused, Instructions, Loops, Program, Results, Table,
        /// };
        ///
        /// let (none, one, small) = (Some("0".parse()?), Some("1".parse()?), Some("<=2GiB".parse()?));
        /// let claims: Claims = [
        ///     Claim::Program(Program { temporaries: small, ..Program::default() }),
        ///     Claim::Arrays(Arrays { size: Some(">=bf16[64,4096,4096]".parse()?), count: none, ..Arrays::default() }),
        ///     Claim::Instructions(Instructions { opcode: Some("dot".parse()?), count: one, ..Instructions::default() }),
        ///     Claim::CustomCalls(CustomCalls { name: Some("k".to_owned()), count: one, ..CustomCalls::default() }),
        ///     Claim::Copies(Copies { line: Some("model.py:40".parse()?), count: none, ..Copies::default() }),
        ///     Claim::Collectives(Collectives { bytes: small, ..Collectives::default() }),
        ///     Claim::Loops(Loops { trips: Some("12".parse()?), count: one, ..Loops::default() }),
        ///     Claim::Arguments(Arguments { name: Some("params/w".parse()?), aliased: Some(true), ..Arguments::default() }),
        ///     Claim::Results(Results { number: Some(0), layout: Some("{1,0}".parse()?), ..Results::default() }),
        ///     Claim::Fused(Fused { scope: Some("attention".parse()?), ..Fused::default() }),
        /// ]
        /// .into_iter()
        /// .collect();
        /// assert_eq!(Claims::parse(&claims.to_string())?, claims);
        /// assert_eq!(claims.iter().next().unwrap().1.table(), Table::Program);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, PartialEq, Debug)]
        #[non_exhaustive]
        pub enum Claim {
            $($(#[$about])* $kind($kind),)*
        }

        words! {
            /// What a claim is about: the name of its table in the file.
            #[derive(PartialOrd, Ord)]
            pub enum Table {
                $($(#[$about])* $kind = $table,)*
            }
        }

        impl Claim {
            /// Its table.
            #[must_use]
            pub const fn table(&self) -> Table {
                match self { $(Self::$kind(_) => Table::$kind,)* }
            }

            /// The fields that the claim has.
            pub(super) fn fields(&self) -> Vec<Field> {
                let mut fields = Vec::new();
                match self {
                    $(Self::$kind(claim) => {
                        $(if let Some(value) = &claim.$field {
                            let name = stringify!($field);
                            fields.push(Field { name, text: value.to_string(), role: role!($role value) });
                        })*
                    })*
                }
                fields
            }
        }

        /// The tables of a file.
        #[derive(Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[allow(non_snake_case, reason = "the fields are the kinds of claims")]
        pub(super) struct Tables {
            $(#[serde(rename = $table)] $kind: Vec<Spanned<$kind>>,)*
        }

        impl Tables {
            /// The claims, each with the place of its table in the text.
            pub(super) fn claims(self) -> Vec<(usize, Claim)> {
                let mut claims = Vec::new();
                $(claims.extend(self.$kind.into_iter().map(|one| (one.span().start, Claim::$kind(one.into_inner()))));)*
                sort_by_key(&mut claims, |(place, _)| *place);
                claims
            }
        }
    };
}

claims! {
    /// The program as a whole.
    Program "program" {
        /// The bytes of HBM that it takes.
        weighs memory: Bytes,
        /// The bytes of its arguments.
        weighs arguments: Bytes,
        /// The bytes of its results, with those in the memory of donated arguments.
        weighs outputs: Bytes,
        /// The bytes of the results in the memory of donated arguments.
        weighs aliased: Bytes,
        /// The bytes of all other values.
        weighs temporaries: Bytes,
        /// The cycles of one run, by the compiler's estimates.
        bounds cycles: Count,
        /// How many instructions only change a layout.
        bounds copies: Count,
        /// How many collectives there are.
        bounds collectives: Count,
        /// How many fusions there are.
        bounds fusions: Count,
    }
    /// Arrays that have a buffer: the arguments, and what instructions outside of fusions compute.
    Arrays "arrays" {
        /// The type of the elements.
        selects element_type: ElementType,
        /// The bytes of one array, with padding.
        selects size: Bytes,
        /// The memory space, such as HBM.
        selects memory: Space,
        /// A scope of the user's program.
        selects scope: Scope,
        /// A file of the user's program, or a line of it.
        selects line: Line,
        /// How many there are.
        bounds count: Count,
        /// Their bytes together, with padding, as if none shared memory with another.
        weighs bytes: Bytes,
    }
    /// Instructions, including those in fusions, loops and reductions. Each counts once.
    Instructions "instructions" {
        /// The operation. An asynchronous one counts where it starts.
        selects opcode: Operation,
        /// The type of the elements of an operand.
        selects operand: ElementType,
        /// The type of the elements of a result.
        selects result: ElementType,
        /// A scope of the user's program.
        selects scope: Scope,
        /// A file of the user's program, or a line of it.
        selects line: Line,
        /// How many there are.
        bounds count: Count,
    }
    /// Calls of other code, such as Pallas kernels.
    CustomCalls "custom_calls" {
        /// The target of the call; or the name of its kernel, which is the instruction's name without its number, or a scope.
        selects name: String,
        /// A scope of the user's program.
        selects scope: Scope,
        /// A file of the user's program, or a line of it.
        selects line: Line,
        /// How many there are.
        bounds count: Count,
    }
    /// Instructions that copy an array: to change its layout, or because the original is still needed. Copies to another memory
    /// space with the same layout do not count, because the compiler uses them to prefetch arrays.
    Copies "copies" {
        /// The bytes of the copy, with padding.
        selects size: Bytes,
        /// A scope of the user's program.
        selects scope: Scope,
        /// A file of the user's program, or a line of it.
        selects line: Line,
        /// How many there are.
        bounds count: Count,
        /// Their bytes together.
        weighs bytes: Bytes,
    }
    /// Operations in which devices take part together.
    Collectives "collectives" {
        /// The operation, such as all-gather; an asynchronous one has the same name.
        selects opcode: Operation,
        /// A scope of the user's program.
        selects scope: Scope,
        /// A file of the user's program, or a line of it.
        selects line: Line,
        /// How many there are; a collective in a loop counts once.
        bounds count: Count,
        /// The bytes of the results on one device in one run of the program: a collective in a loop counts as often as it runs.
        weighs bytes: Bytes,
    }
    /// Loops that the compiler did not unroll.
    Loops "loops" {
        /// How often the body runs each time.
        selects trips: Count,
        /// A scope of the user's program.
        selects scope: Scope,
        /// A file of the user's program, or a line of it.
        selects line: Line,
        /// How many there are.
        bounds count: Count,
    }
    /// The arguments of the program.
    Arguments "arguments" {
        /// The name, such as params/w or params['w'], or the first part of it.
        selects name: Path,
        /// The number of the parameter, from 0.
        selects number: Number,
        /// The type of the elements.
        says element_type: ElementType,
        /// The order of the dimensions, such as {1,0}; with tiles, the whole layout.
        says layout: Layout,
        /// The memory space.
        says memory: Space,
        /// Whether a result has its memory.
        says aliased: bool,
    }
    /// The results of the program.
    Results "results" {
        /// The number of the result, from 0.
        selects number: Number,
        /// The type of the elements.
        says element_type: ElementType,
        /// The order of the dimensions, such as {1,0}; with tiles, the whole layout.
        says layout: Layout,
        /// The memory space.
        says memory: Space,
        /// Whether it has the memory of an argument.
        says aliased: bool,
    }
    /// A scope whose instructions are all in fusions. Parameters, constants, tuples, their elements, bitcasts and copies that prefetch arrays
    /// may be outside.
    Fused "fused" {
        /// The scope of the user's program.
        selects scope: Scope,
        /// How many fusions there are; 1 if it is not given.
        bounds count: Count,
    }
}

/// The number of a parameter or of a result.
///
/// ```
/// use xla_shape_answers::guard::claims::{Claims, Number};
///
/// let number: Number = 2;
/// let text = format!("[[arguments]]\nnumber = {number}\naliased = true\n");
/// assert_eq!(Claims::parse(&text)?.to_string(), text);
/// # Ok::<(), xla_shape_answers::guard::claims::ClaimsError>(())
/// ```
pub type Number = u32;

/// An operation of XLA, named as in HLO text.
///
/// ```
/// use xla_shape_answers::guard::claims::Operation;
///
/// assert_eq!("dot".parse::<Operation>()?.to_string(), "dot");
/// assert_eq!("dott".parse::<Operation>().unwrap_err(), "expected an opcode of HLO, found `dott`; did you mean `dot`?");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation(pub Opcode<'static>);

impl Operation {
    /// If the opcode starts an operation asynchronously, that operation; otherwise the opcode itself.
    pub(super) const fn started(opcode: Opcode<'_>) -> Opcode<'_> {
        match opcode {
            Opcode::AllGatherStart => Opcode::AllGather,
            Opcode::AllReduceStart => Opcode::AllReduce,
            Opcode::CollectivePermuteStart => Opcode::CollectivePermute,
            Opcode::CopyStart => Opcode::Copy,
            other => other,
        }
    }

    /// The operation of an instruction. An asynchronous one counts where it starts.
    pub(super) fn of(instruction: Instruction<'_>) -> Opcode<'_> {
        match instruction.long_form() {
            Some((Opcode::AsyncStart, operation)) => operation,
            _ => Self::started(instruction.opcode()),
        }
    }
}

impl FromStr for Operation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Opcode::ALL.iter().find(|opcode| opcode.text() == text);
        found.copied().map(Self).ok_or_else(|| {
            let like = |opcode: &&Opcode<'_>| (strsim::jaro_winkler(text, opcode.text()) * 1e6) as u64;
            let nearest = Opcode::ALL.iter().max_by_key(like).filter(|opcode| like(opcode) > 800_000);
            let nearest = nearest.map_or(String::new(), |opcode| format!("; did you mean `{opcode}`?"));
            format!("expected an opcode of HLO, found `{text}`{nearest}")
        })
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads a value that may be a text, a number or a boolean, from its text.
fn value<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err: Display>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a number")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
            self.visit_str(&value.to_string())
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }

    deserializer.deserialize_any(Text(PhantomData)).map(Some)
}
