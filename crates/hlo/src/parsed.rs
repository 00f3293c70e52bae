//! Parsed attribute values, and how each kind of value is read from text (`HloParserImpl::ParseAttributeHelper` in
//! `xla/hlo/parser/hlo_parser.cc`).

use crate::attribute::origin::{Origin, origin};
use crate::attribute::{Alias, Attribute, DimLabels, ReplicaGroups, Value};
use crate::finding::Problem;
use crate::literal;
use crate::module::{Instruction, Module};
use crate::schema::attribute::{COMMON, Key, Kind, MODULE};
use crate::schema::opcode::Opcode;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::OnceCell;
use xla_shape_core::infer::{PaddingDimension, SliceDimension, WindowDimension};
use xla_shape_core::shard::Sharding;
use xla_shape_core::text::ParseError;
use xla_shape_core::{ProgramShape, Shape};

type Read<T> = Result<T, ParseError>;

/// A parsed value.
#[derive(Debug)]
pub(crate) enum Data<'a> {
    Flag(bool),
    Flags(Vec<bool>),
    Number(i64),
    Numbers(Vec<usize>),
    Integers(Vec<i64>),
    Nested(Vec<Vec<usize>>),
    Float(f64),
    Bytes(Cow<'a, [u8]>),
    /// The number of a word in its enum, and the word.
    Word(usize, &'static str),
    Words(Vec<usize>),
    Name(&'a str),
    Names(Vec<&'a str>),
    Window(Vec<WindowDimension>),
    Padding(Vec<PaddingDimension>),
    Slices(Vec<SliceDimension>),
    DimLabels(DimLabels),
    Groups(ReplicaGroups<'a>),
    Sharding(Box<Sharding>),
    Shapes(Vec<Shape>),
    Aliases(Vec<Alias>),
    Donors(Vec<(usize, Vec<usize>)>),
    Program(ProgramShape),
    /// The shardings of the entry and the exit of a domain.
    Domain(Box<[Sharding; 2]>),
    Origin(Origin),
    Accuracy(Accuracy),
    /// The index of the visualised statistic, and all statistics.
    Statistics(i64, Vec<(&'a str, f64)>),
    Fields(Vec<(&'a str, Value<'a>)>),
    /// A value that is not parsed further.
    Whole(Value<'a>),
}

/// The attribute `result_accuracy` (`HloParserImpl::ParseResultAccuracy`).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accuracy {
    Default,
    Highest,
    Tolerance { atol: f64, rtol: f64, ulps: i64 },
}

impl Kind {
    /// Parses a value of this kind.
    ///
    /// # Errors
    /// If the value is not of this kind.
    pub(crate) fn read(self, value: Value<'_>) -> Read<Data<'_>> {
        Ok(match self {
            Self::Flag => Data::Flag(value.boolean()?),
            Self::FlagOrFlags if !value.text().starts_with('{') => Data::Flag(value.boolean()?),
            Self::Flags | Self::FlagOrFlags => {
                Data::Flags(value.items()?.into_iter().map(Value::boolean).collect::<Read<_>>()?)
            }
            Self::Number | Self::Count | Self::Single => Data::Number(value.integer()?),
            Self::Number32 | Self::Optional32 => {
                let number = value.integer()?;
                i32::try_from(number).map_err(|_| value.is_not("a number"))?;
                Data::Number(number)
            }
            Self::Numbers => Data::Numbers(value.numbers()?),
            Self::Integers => Data::Integers(value.items()?.into_iter().map(Value::integer).collect::<Read<_>>()?),
            Self::Nested => Data::Nested(value.items()?.into_iter().map(Value::numbers).collect::<Read<_>>()?),
            Self::Float => Data::Float(value.float()?),
            Self::Text | Self::Bytes | Self::Payload | Self::Thread => Data::Bytes(value.bytes()?),
            Self::Config if value.text().starts_with('{') => Data::Bytes(Cow::Borrowed(value.text().as_bytes())),
            Self::Config => Data::Bytes(value.bytes()?),
            Self::Word(words) | Self::Spelled(words) | Self::Mode(words) | Self::Order(words) => {
                match words.number(value.text()).and_then(|number| Some((number, *words.words.get(number)?))) {
                    Some((number, word)) => Data::Word(number, word),
                    // Newer versions of XLA have more of these words.
                    None if words.may_grow => Data::Whole(value),
                    None => return Err(value.is_not(words.what)),
                }
            }
            Self::WordList(words) => {
                let number = |item: Value<'_>| words.number(item.text()).ok_or_else(|| item.is_not(words.what));
                Data::Words(value.items()?.into_iter().map(number).collect::<Read<_>>()?)
            }
            Self::AnyWord | Self::Computation(_) => Data::Name(value.name()?),
            Self::Computations | Self::Instructions => Data::Names(value.names()?),
            Self::Window => Data::Window(value.window()?),
            Self::Padding => Data::Padding(value.padding()?),
            Self::Slices => Data::Slices(value.slice()?),
            Self::DimLabels => Data::DimLabels(value.dim_labels()?),
            Self::Groups => {
                let groups = value.replica_groups()?;
                if let ReplicaGroups::Mesh(_) = groups {
                    value.mesh_groups()?;
                }
                Data::Groups(groups)
            }
            Self::Pairs => Data::Groups(value.replica_groups()?),
            Self::Sharding => Data::Sharding(Box::new(value.sharding()?)),
            Self::Shape => Data::Shapes([value.shape()?].into()),
            Self::Shapes => Data::Shapes(value.shapes()?),
            Self::Aliases => Data::Aliases(value.aliases()?),
            Self::Donors => Data::Donors(value.donors()?),
            Self::Program => Data::Program(value.program_shape()?),
            Self::Literal => {
                let found = literal::check_with_shape(value.text());
                found.map_err(|_| value.is_not("a literal with its shape, such as `s32[2]{0} {1, 2}`"))?;
                Data::Whole(value)
            }
            Self::Domain => {
                let of = |key| {
                    let missing = || value.is_not("a domain: `{kind=\"sharding\", entry={…}, exit={…}}`");
                    value.field(key)?.ok_or_else(missing)?.sharding()
                };
                Data::Domain(Box::new([of(Key::Entry.name())?, of(Key::Exit.name())?]))
            }
            Self::Origin => Data::Origin(origin(value)?),
            Self::Accuracy => Data::Accuracy(accuracy(value)?),
            Self::Statistics => statistics(value)?,
            Self::Metadata => Data::Fields(value.fields()?),
            Self::Frontend => {
                let fields = value.fields()?;
                let is_text = |field: &Value<'_>| !field.text().starts_with('{');
                let mut texts = fields.iter().map(|(_, field)| *field).filter(is_text);
                texts.try_for_each(|field| field.bytes().map(drop))?;
                Data::Fields(fields)
            }
            Self::Recovery | Self::Empty | Self::Unread => Data::Whole(value),
        })
    }
}

fn accuracy(value: Value<'_>) -> Read<Accuracy> {
    let what = "`{mode=default}`, `{mode=highest}` or `{tolerance={atol=…,rtol=…,ulps=…}}`";
    match value.fields()?.as_slice() {
        [("mode", mode)] if mode.text().eq_ignore_ascii_case("default") => Ok(Accuracy::Default),
        [("mode", mode)] if mode.text().eq_ignore_ascii_case("highest") => Ok(Accuracy::Highest),
        [("mode", mode)] => Err(mode.is_not("`default` or `highest`")),
        [("tolerance", tolerance)] => {
            let (mut atol, mut rtol, mut ulps) = (0.0, 0.0, 0.0);
            for (key, field) in tolerance.fields()? {
                match key {
                    "atol" => atol = at_least_zero(field, 0.0, true)?,
                    "rtol" => rtol = at_least_zero(field, 0.0, true)?,
                    // Decimals are ignored.
                    "ulps" => ulps = at_least_zero(field, 1.0, false)?,
                    _ => return Err(value.is_not(what)),
                }
            }
            Ok(Accuracy::Tolerance { atol, rtol, ulps: ulps as i64 })
        }
        _ => Err(value.is_not(what)),
    }
}

/// Reads a number of at least 0, or a negative one greater than `-by`.
fn at_least_zero(value: Value<'_>, by: f64, may_be_infinite: bool) -> Read<f64> {
    if may_be_infinite && value.text() == "inf" {
        return Ok(f64::INFINITY);
    }
    let number = value.float()?;
    if number >= 0.0 || number > -by { Ok(number) } else { Err(value.is_not("a number of at least 0")) }
}

fn statistics(value: Value<'_>) -> Read<Data<'_>> {
    let fields = value.fields()?;
    // The first field is the index, whatever its name.
    let Some(((_, index), rest)) = fields.split_first() else { return Ok(Data::Statistics(0, Vec::new())) };
    let is_nan = |text: &str| {
        let text = text.strip_prefix('-').unwrap_or(text);
        text == "nan" || text.starts_with("nan(")
    };
    let statistic =
        |&(name, field): &(_, Value<'_>)| Ok((name, if is_nan(field.text()) { f64::NAN } else { field.float()? }));
    Ok(Data::Statistics(index.integer()?, rest.iter().map(statistic).collect::<Read<_>>()?))
}

/// The row of an attribute name, and whether the opcode has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Row {
    /// The opcode has it, or any opcode may.
    Own(Key),
    /// Only other opcodes have it.
    Foreign(Key),
    /// No row has this name.
    Unknown,
}

impl Row {
    /// Finds the row of an attribute of an opcode. Asynchronous short forms also have the attributes of the wrapped operation.
    pub(crate) fn find(opcode: Opcode<'_>, name: &str) -> Self {
        let own = |opcode: Opcode<'_>| opcode.attributes().iter().map(|of| of.key).find(|key| key.name() == name);
        if let Some(key) = own(opcode).or_else(|| Key::among(COMMON, name)) {
            return Self::Own(key);
        }
        if let Some(stem) = opcode.stem() {
            // `all-gather-start` has the attributes of `all-gather`, and those of every `async-start`.
            let steps = [Opcode::from_text(stem), Opcode::AsyncStart];
            if let Some(key) = steps.into_iter().find_map(own) {
                return Self::Own(key);
            }
        }
        Key::among(Key::ALL, name).map_or(Self::Unknown, Self::Foreign)
    }

    pub(crate) const fn key(self) -> Option<Key> {
        match self {
            Self::Own(key) | Self::Foreign(key) => Some(key),
            Self::Unknown => None,
        }
    }
}

/// An attribute of an instruction: its row, and its value, which is parsed once, on first use.
pub(crate) struct ParsedAttribute<'m> {
    pub(crate) attribute: Attribute<'m>,
    pub(crate) row: Row,
    data: OnceCell<Read<Data<'m>>>,
}

impl<'m> ParsedAttribute<'m> {
    /// The parsed value, or the error.
    pub(crate) fn data(&self, key: Key) -> Result<&Data<'m>, ParseError> {
        self.data.get_or_init(|| key.kind().read(self.attribute.value())).as_ref().map_err(Clone::clone)
    }
}

/// The attributes of an instruction or a module.
pub(crate) struct ParsedAttributes<'m> {
    entries: Vec<ParsedAttribute<'m>>,
}

type Found<T> = Result<T, Problem>;

/// Accessors for the values of attributes, one for each type of value.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $variant:pat => $value:expr, $type:ty;)*) => {
        $($(#[$doc])*
        pub(crate) fn $name(&self, key: Key) -> Found<Option<$type>> {
            match self.data(key)? {
                None => Ok(None),
                Some($variant) => Ok(Some($value)),
                Some(_) => Err(self.value(key).map_or(Problem::NoInference, |value| value.is_not("a value of this attribute's kind").into())),
            }
        })*
    };
}

impl<'m> ParsedAttributes<'m> {
    pub(crate) fn new(instruction: Instruction<'m>) -> Self {
        let opcode = instruction.opcode();
        Self::with_rows(instruction.attributes(), |name| Row::find(opcode, name))
    }

    pub(crate) fn for_module(module: &'m Module) -> Self {
        Self::with_rows(module.attributes(), |name| Key::among(MODULE, name).map_or(Row::Unknown, Row::Own))
    }

    fn with_rows(attributes: impl Iterator<Item = Attribute<'m>>, row: impl Fn(&str) -> Row) -> Self {
        let entry =
            |attribute: Attribute<'m>| ParsedAttribute { attribute, row: row(attribute.name()), data: OnceCell::new() };
        Self { entries: attributes.map(entry).collect() }
    }

    pub(crate) fn entries(&self) -> &[ParsedAttribute<'m>] {
        &self.entries
    }

    /// The attribute with this key; the last one if it occurs twice.
    fn entry(&self, key: Key) -> Option<&ParsedAttribute<'m>> {
        self.entries.iter().rfind(|entry| entry.row.key() == Some(key))
    }

    pub(crate) fn has(&self, key: Key) -> bool {
        self.entry(key).is_some()
    }

    /// The attribute's value as text.
    pub(crate) fn value(&self, key: Key) -> Option<Value<'m>> {
        self.entry(key).map(|entry| entry.attribute.value())
    }

    pub(crate) fn text(&self, key: Key) -> &'m str {
        self.value(key).map_or("", Value::text)
    }

    pub(crate) fn data(&self, key: Key) -> Found<Option<&Data<'m>>> {
        Ok(self.entry(key).map(|entry| entry.data(key)).transpose()?)
    }

    kinds! {
        flag Data::Flag(flag) => *flag, bool;
        numbers Data::Numbers(numbers) => numbers, &[usize];
        word Data::Word(number, _) => *number, usize;
        name Data::Name(name) => name, &'m str;
        names Data::Names(names) => names, &[&'m str];
        window Data::Window(window) => window, &[WindowDimension];
        padding Data::Padding(padding) => padding, &[PaddingDimension];
        slices Data::Slices(slices) => slices, &[SliceDimension];
        dim_labels Data::DimLabels(labels) => labels, &DimLabels;
        groups Data::Groups(groups) => groups, &ReplicaGroups<'m>;
        sharding Data::Sharding(sharding) => sharding, &Sharding;
        shapes Data::Shapes(shapes) => shapes, &[Shape];
        aliases Data::Aliases(aliases) => aliases, &[Alias];
        donors Data::Donors(donors) => donors, &[(usize, Vec<usize>)];
        program Data::Program(program) => program, &ProgramShape;
    }

    /// A number that is not negative.
    pub(crate) fn number(&self, key: Key) -> Found<Option<usize>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match self.data(key)? {
            Some(&Data::Number(number)) => Ok(Some(usize::try_from(number).map_err(|_| value.is_not("a number"))?)),
            _ => Ok(Some(value.number()?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Row;
    use crate::schema::attribute::{COMMON, Key, MODULE};
    use crate::schema::opcode::Opcode;
    use alloc::vec::Vec;

    #[test]
    fn an_attribute_is_found_by_its_name() {
        for &opcode in Opcode::ALL {
            let own = opcode.attributes().iter().map(|of| of.key);
            let mut names = Vec::new();
            for key in own.chain(COMMON.iter().copied()) {
                assert_eq!(Row::find(opcode, key.name()), Row::Own(key), "{opcode}");
                names.push(key.name());
            }
            names.sort_unstable();
            // `parameter_replication` is in both lists: XLA's parser accepts it on any instruction.
            names.retain(|name| *name != Key::ParameterReplication.name());
            assert!(names.is_sorted_by(|a, b| a < b), "{opcode}: {names:?}");
        }
        for key in MODULE {
            assert_eq!(Key::among(MODULE, key.name()), Some(*key));
        }
    }

    #[test]
    fn asynchronous_forms_have_the_attributes_of_the_operation() {
        for (opcode, name, row) in [
            ("slice-start", "slice", Row::Own(Key::Slice)),
            ("gather-start", "index_vector_dim", Row::Own(Key::GatherIndexVectorDim)),
            ("scatter-update", "index_vector_dim", Row::Own(Key::ScatterIndexVectorDim)),
            ("fusion-done", "output_to_operand_aliasing", Row::Own(Key::OutputToOperandAliasing)),
            ("negate-start", "calls", Row::Own(Key::Calls)),
            ("negate", "calls", Row::Foreign(Key::Calls)),
            ("negate", "call", Row::Unknown),
        ] {
            assert_eq!(Row::find(Opcode::from_text(opcode), name), row, "{opcode}, {name}");
        }
    }
}
