//! Attributes: `key=value` after an instruction's operands, a computation's closing brace or a module's name.
//!
//! An attribute keeps its value as text; [`Value`] parses it on request, as `HloParserImpl::ParseAttributeHelper` in
//! `xla/hlo/parser/hlo_parser.cc` does.

mod alias;
mod axes;
mod groups;
mod labels;
pub(crate) mod origin;
mod window;

pub use alias::Alias;
pub use axes::CollectiveAxes;
pub use groups::ReplicaGroups;
pub use labels::{DimLabels, Labels};

use crate::cursor::Cursor;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use xla_shape_core::Shape;
use xla_shape_core::infer::{PaddingDimension, SliceDimension, WindowDimension};
use xla_shape_core::shard::Sharding;
use xla_shape_core::text::{self, Expected, ParseError, Span, unescaped};
use xla_shape_core::{ProgramParameter, ProgramShape};

type Result<T> = core::result::Result<T, ParseError>;

/// An attribute of an instruction, a computation or a module: a name and a value.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    name: &'a str,
    value: Value<'a>,
}

impl<'a> Attribute<'a> {
    pub(crate) const fn new(name: &'a str, value: Value<'a>) -> Self {
        Self { name, value }
    }

    /// The name, such as `dimensions`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3,2] transpose(x), dimensions={1,0}")?;
    /// let attribute = module.instruction("y").unwrap().attributes().next().unwrap();
    /// assert_eq!((attribute.name(), attribute.value().text()), ("dimensions", "{1,0}"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn name(self) -> &'a str {
        self.name
    }

    /// The value.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[8] get-tuple-element(x), index=2")?;
    /// let attribute = module.instruction("y").unwrap().attributes().next().unwrap();
    /// assert_eq!(attribute.value().number()?, 2);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn value(self) -> Value<'a> {
        self.value
    }
}

/// The text of an attribute's value, with a method for each kind of value.
///
/// The spans of errors refer to the text of the module.
///
/// | attribute | method |
/// |---|---|
/// | `calls`, `to_apply`, `condition`, `body`, `kind`, `direction` | [`name`](Self::name) |
/// | `control-predecessors`, `branch_computations`, `called_computations`, `operand_precision` | [`names`](Self::names) |
/// | `dimensions`, `lhs_contracting_dims`, `dynamic_slice_sizes`, `slice_sizes`, … | [`numbers`](Self::numbers) |
/// | `index`, `iota_dimension`, `channel_id`, `feature_group_count` | [`number`](Self::number) |
/// | `is_scheduled`, `is_stable`, `use_global_device_ids` | [`boolean`](Self::boolean) |
/// | `metadata`, `frontend_attributes` | [`field`](Self::field), [`fields`](Self::fields) |
/// | `backend_config`, a field of `frontend_attributes` | [`unquoted`](Self::unquoted), [`bytes`](Self::bytes) |
/// | `custom_call_target`, `execution_thread`, `op_name` in `metadata` | [`string`](Self::string) |
/// | `window`, `padding`, `slice`, `dim_labels` | methods of these names |
/// | `sharding`, `replica_groups`, `source_target_pairs` | [`sharding`](Self::sharding), [`replica_groups`](Self::replica_groups) |
/// | `operand_layout_constraints`, `entry_computation_layout` | [`shapes`](Self::shapes), [`program_shape`](Self::program_shape) |
/// | `input_output_alias`, `output_to_operand_aliasing` | [`aliases`](Self::aliases) |
/// | any list | [`items`](Self::items) |
///
/// ```
/// use xla_shape_hlo::Module;
///
/// let text = "y = f32[4,3] transpose(x), dimensions={1,0}, metadata={op_name=\"jit(f)/t\" source_line=7}";
/// let module = Module::parse(text)?;
/// let transpose = module.instructions().next().unwrap();
/// assert_eq!(transpose.attribute("dimensions").unwrap().numbers()?, [1, 0]);
/// let metadata = transpose.attribute("metadata").unwrap();
/// assert_eq!(metadata.field("op_name")?.unwrap().string()?, "jit(f)/t");
/// assert_eq!(metadata.field("source_line")?.unwrap().number()?, 7);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// The text of the module, or the text of a generated value.
    source: &'a str,
    /// Where the value is in `source`.
    span: Span,
    /// For a generated value, the part of the module's text that implies it.
    place: Option<Span>,
}

impl<'a> Value<'a> {
    pub(crate) const fn new(source: &'a str, span: Span) -> Self {
        Self { source, span, place: None }
    }

    /// A value that the module's text implies at `place` but does not contain.
    pub(crate) const fn generated(source: &'a str, place: Span) -> Self {
        Self { source, span: Span { start: 0, end: source.len() }, place: Some(place) }
    }

    /// A part of this value.
    const fn part(self, start: usize, end: usize) -> Self {
        Self { span: Span { start, end }, ..self }
    }

    /// The value as written, such as `{0,2,1}`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3,2] transpose(x), dimensions={ 1, 0 }")?;
    /// assert_eq!(module.instruction("y").unwrap().attribute("dimensions").unwrap().text(), "{ 1, 0 }");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn text(self) -> &'a str {
        self.source.get(self.span.start..self.span.end).unwrap_or("")
    }

    /// Where the value is in the text of the module.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3] get-tuple-element(x), index=2")?;
    /// let span = module.instruction("y").unwrap().attribute("index").unwrap().span();
    /// assert_eq!(&module.text()[span.start..span.end], "2");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn span(self) -> Span {
        match self.place {
            Some(place) => place,
            None => self.span,
        }
    }

    /// A cursor at the beginning of the value; the text ends where the value ends.
    pub(crate) fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.source.get(..self.span.end).unwrap_or(""), self.span.start)
    }

    /// The error that the value is not `what`.
    pub(crate) fn is_not(self, what: &'static str) -> ParseError {
        let found = text::Found::new(self.text());
        ParseError::new(text::ParseErrorKind::Unexpected { expected: Expected::Value(what), found }, self.span())
    }

    /// Checks that the value ends at its closing brace.
    fn ends(self, cursor: &Cursor<'_>) -> Result<()> {
        if cursor.peek().is_some() { Err(self.is_not("a value in one pair of braces")) } else { Ok(()) }
    }

    /// Reads `true` or `false`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3] sort(x), dimensions={0}, is_stable=true")?;
    /// assert!(module.instruction("y").unwrap().attribute("is_stable").unwrap().boolean()?);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is neither.
    pub fn boolean(self) -> Result<bool> {
        match self.text() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.is_not("`true` or `false`")),
        }
    }

    /// Reads a number, such as `3`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3] get-tuple-element(x), index=2")?;
    /// assert_eq!(module.instruction("y").unwrap().attribute("index").unwrap().number()?, 2);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not an unsigned integer, or does not fit.
    pub fn number(self) -> Result<usize> {
        decimal(self.text()).ok_or_else(|| self.is_not("a number"))
    }

    /// Reads a signed integer.
    pub(crate) fn integer(self) -> Result<i64> {
        match self.text().parse() {
            // `parse` also accepts a plus sign.
            Ok(number) if !self.text().starts_with('+') => Ok(number),
            _ => Err(self.is_not("a number")),
        }
    }

    /// Reads a floating-point number.
    pub(crate) fn float(self) -> Result<f64> {
        // XLA's lexer requires a digit before the decimal point.
        let is_number = self.text().trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        self.text().parse().ok().filter(|_| is_number).ok_or_else(|| self.is_not("a number"))
    }

    /// Reads a list of numbers, such as `{0,2,1}`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3,2] transpose(x), dimensions={1,0}")?;
    /// assert_eq!(module.instruction("y").unwrap().attribute("dimensions").unwrap().numbers()?, [1, 0]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list of unsigned integers, or one does not fit.
    pub fn numbers(self) -> Result<Vec<usize>> {
        self.items()?.into_iter().map(Self::number).collect()
    }

    /// Reads the name of a computation or an instruction, or a word. Returns it without the leading `%`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[8] fusion(x), kind=kLoop, calls=%fused")?;
    /// let fusion = module.instruction("y").unwrap();
    /// assert_eq!((fusion.attribute("kind").unwrap().name()?, fusion.attribute("calls").unwrap().name()?), ("kLoop", "fused"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a name.
    pub fn name(self) -> Result<&'a str> {
        let mut cursor = self.cursor();
        match cursor.name().1 {
            name if !name.is_empty() && cursor.peek().is_none() => Ok(name),
            _ => Err(self.is_not("a name")),
        }
    }

    /// Reads a list of names, such as `{%a, %b}`, or a single name.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[] conditional(i, a, b), branch_computations={%f, %g}")?;
    /// assert_eq!(module.instruction("y").unwrap().attribute("branch_computations").unwrap().names()?, ["f", "g"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list of names.
    pub fn names(self) -> Result<Vec<&'a str>> {
        if self.text().starts_with('{') {
            self.items()?.into_iter().map(Self::name).collect()
        } else {
            Ok([self.name()?].into())
        }
    }

    /// Reads a quoted string and replaces its escapes. XLA writes every byte outside ASCII as an octal escape, such as `\303`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"y = f32[] custom-call(), custom_call_target="caf\303\251""#)?;
    /// assert_eq!(module.instruction("y").unwrap().attribute("custom_call_target").unwrap().string()?, "café");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a string, or its [`bytes`](Self::bytes) are not UTF-8.
    pub fn string(self) -> Result<Cow<'a, str>> {
        let inside = self.quoted()?;
        if !inside.contains('\\') {
            return Ok(Cow::Borrowed(inside));
        }
        String::from_utf8(unescaped(inside)).map(Cow::Owned).map_err(|_| self.is_not("a UTF-8 string"))
    }

    /// Reads a quoted string of any bytes, such as a serialized protobuf message.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse(r#"c = f32[] custom-call(), custom_call_target="f", backend_config="\010\377a""#)?;
    /// let config = module.instructions().next().unwrap().attribute("backend_config").unwrap();
    /// assert_eq!(*config.bytes()?, [0o10, 0o377, b'a']);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a string.
    pub fn bytes(self) -> Result<Cow<'a, [u8]>> {
        let inside = self.quoted()?;
        Ok(if inside.contains('\\') { Cow::Owned(unescaped(inside)) } else { Cow::Borrowed(inside.as_bytes()) })
    }

    /// The text between the quotes.
    fn quoted(self) -> Result<&'a str> {
        within_quotes(self.text()).ok_or_else(|| self.is_not("a string"))
    }

    /// Reads a value that XLA does not interpret, such as `backend_config` or a field of `frontend_attributes`: the contents of a
    /// quoted string, or the text itself if it has no quotes, such as JSON in braces.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse(r#"
    /// a = f32[] custom-call(), custom_call_target="f", backend_config={"n":[1,2]}
    /// b = f32[] custom-call(), custom_call_target="f", backend_config="{\"n\":[1,2]}"
    /// "#)?;
    /// for call in module.instructions() {
    ///     assert_eq!(call.attribute("backend_config").unwrap().unquoted()?, r#"{"n":[1,2]}"#);
    /// }
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If it is a quoted string that is not UTF-8. Use [`bytes`](Self::bytes) for it.
    pub fn unquoted(self) -> Result<Cow<'a, str>> {
        if self.text().starts_with(['"', '\'']) { self.string() } else { Ok(Cow::Borrowed(self.text())) }
    }

    /// Reads a list in braces, and returns its items, which commas separate.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[8] all-reduce(x), replica_groups={{0,1},{2,3}}")?;
    /// let groups = module.instruction("y").unwrap().attribute("replica_groups").unwrap().items()?;
    /// assert_eq!((groups.len(), groups[1].text()), (2, "{2,3}"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list.
    pub fn items(self) -> Result<Vec<Self>> {
        let mut cursor = self.cursor();
        let mut items = Vec::new();
        cursor.expect(b'{')?;
        cursor.skip_space()?;
        let mut is_open = cursor.peek() != Some(b'}');
        while is_open {
            let start = cursor.position;
            let end = cursor.value()?;
            items.push(self.part(start, end));
            cursor.skip_space()?;
            is_open = cursor.eat(b',');
            cursor.skip_space()?;
        }
        cursor.expect(b'}')?;
        self.ends(&cursor)?;
        Ok(items)
    }

    /// Reads `{key=value key=value}`, separated by spaces or commas, as in `metadata`, `window` and `frontend_attributes`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"y = f32[8] negate(x), metadata={op_name="jit(f)/neg" source_line=7}"#)?;
    /// let fields = module.instruction("y").unwrap().attribute("metadata").unwrap().fields()?;
    /// assert_eq!((fields[0].0, fields[1].1.text()), ("op_name", "7"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list of fields in braces.
    pub fn fields(self) -> Result<Vec<(&'a str, Self)>> {
        let mut cursor = self.cursor();
        let mut fields = Vec::new();
        cursor.expect(b'{')?;
        cursor.skip_space()?;
        while cursor.peek() != Some(b'}') {
            if cursor.eat(b',') {
                cursor.skip_space()?;
            }
            let (_, key) = cursor.name();
            if key.is_empty() {
                return Err(cursor.unexpected(Expected::HloAttribute));
            }
            cursor.skip_space()?;
            cursor.expect(b'=')?;
            cursor.skip_space()?;
            let start = cursor.position;
            let end = cursor.value()?;
            fields.push((key, self.part(start, end)));
            cursor.skip_space()?;
        }
        cursor.expect(b'}')?;
        self.ends(&cursor)?;
        Ok(fields)
    }

    /// Reads one of the [`fields`](Self::fields); `None` if there is no field with this name.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"y = f32[8] negate(x), metadata={op_name="jit(f)/neg" source_line=7}"#)?;
    /// let metadata = module.instruction("y").unwrap().attribute("metadata").unwrap();
    /// assert_eq!(metadata.field("source_line")?.unwrap().number()?, 7);
    /// assert!(metadata.field("source_file")?.is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list of fields in braces.
    pub fn field(self, name: &str) -> Result<Option<Self>> {
        Ok(self.fields()?.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value))
    }

    /// Reads a window: `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("y = f32[4] reduce-window(x, zero), window={size=3x3 stride=2x2 pad=1_1x0_2}")?;
    /// let value = module.instructions().next().unwrap().attribute("window").unwrap();
    /// let window = value.window()?;
    /// assert_eq!((window[0].size, window[1].stride, window[1].padding_high), (3, 2, 2));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a window.
    pub fn window(self) -> Result<Vec<WindowDimension>> {
        window::window(self)
    }

    /// Reads padding: `low_high` or `low_high_interior` for each dimension, separated by `x`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("y = f32[5,4] pad(x, zero), padding=0_3x1_0_2")?;
    /// let value = module.instructions().next().unwrap().attribute("padding").unwrap();
    /// let padding = value.padding()?;
    /// assert_eq!((padding[0].high, padding[1].low, padding[1].interior), (3, 1, 2));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not padding.
    pub fn padding(self) -> Result<Vec<PaddingDimension>> {
        window::padding(self)
    }

    /// Reads a slice: `{[start:limit], [start:limit:stride]}`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("y = f32[4,2] slice(x), slice={[0:8:2], [1:3]}")?;
    /// let value = module.instructions().next().unwrap().attribute("slice").unwrap();
    /// let slice = value.slice()?;
    /// assert_eq!((slice[0].limit, slice[0].stride, slice[1].start), (8, 2, 1));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a slice.
    pub fn slice(self) -> Result<Vec<SliceDimension>> {
        window::slice(self)
    }

    /// Reads the dimension labels of a convolution, such as `b01f_01io->b01f`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("y = f32[1,2,2,8] convolution(x, w), dim_labels=b01f_01io->b01f")?;
    /// let value = module.instructions().next().unwrap().attribute("dim_labels").unwrap();
    /// let labels = value.dim_labels()?;
    /// assert_eq!((labels.input.first, labels.input.second, labels.kernel.spatial), (0, 3, vec![0, 1]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not dimension labels.
    pub fn dim_labels(self) -> Result<DimLabels> {
        window::dim_labels(self)
    }

    /// Reads replica groups: `{{0,1},{2,3}}`, `[2,2]<=[4]` or `mesh['x'=2,'y'=2] {'x'}`.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, ReplicaGroups};
    ///
    /// let module = Module::parse("y = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}")?;
    /// let value = module.instructions().next().unwrap().attribute("replica_groups").unwrap();
    /// assert_eq!(value.replica_groups()?, ReplicaGroups::Lists(vec![vec![0, 1], vec![2, 3]]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not replica groups.
    pub fn replica_groups(self) -> Result<ReplicaGroups<'a>> {
        window::replica_groups(self)
    }

    /// Reads `mesh['x'=2,'y'=4] {'x','y':(1)2}`. Returns it as the sharding of a single dimension along these axes of the mesh: the devices of
    /// one group hold the parts of one array.
    pub(crate) fn mesh_groups(self) -> Result<Sharding> {
        let wrong = || self.is_not("groups along axes of a mesh: `mesh['x'=2,'y'=2] {'x'}`");
        let (mesh, axes) = self.text().rsplit_once('{').ok_or_else(wrong)?;
        let sharding = alloc::format!("{{{}, [{{{axes}]}}", mesh.trim_ascii_end());
        sharding.parse().map_err(|_| wrong())
    }

    /// Reads a sharding, such as `{devices=[2,1]<=[2]}`.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("x = f32[4] parameter(0), sharding={maximal device=3}")?;
    /// let value = module.instructions().next().unwrap().attribute("sharding").unwrap();
    /// assert_eq!(value.sharding()?, Sharding::maximal(3));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a sharding.
    pub fn sharding(self) -> Result<Sharding> {
        let text = self.source.get(..self.span.end).unwrap_or("");
        let (sharding, end) = Sharding::parse_at(text, self.span.start)?;
        self.ends(&Cursor::new(text, end))?;
        Ok(sharding)
    }

    /// Reads an attribute such as `input_output_alias`, which says which results share buffers with parameters: `{ {0}: (1, {}, may-alias) }`, or
    /// shorter, `{ {0}: 1 }`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("y = f32[4] custom-call(a, b), output_to_operand_aliasing={{}: (1, {})}")?;
    /// let value = module.instructions().next().unwrap().attribute("output_to_operand_aliasing").unwrap();
    /// let alias = &value.aliases()?[0];
    /// assert_eq!((alias.parameter, alias.must), (1, false));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list of aliases.
    pub fn aliases(self) -> Result<Vec<Alias>> {
        self.alias_entries()
    }

    /// Reads a list of shapes in braces, as in `operand_layout_constraints`.
    ///
    /// ```
    /// let text = r#"y = f32[] custom-call(a, b), custom_call_target="f", operand_layout_constraints={f32[2,3]{0,1}, s32[]}"#;
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let shapes = module.instruction("y").unwrap().attribute("operand_layout_constraints").unwrap().shapes()?;
    /// assert_eq!(shapes[0].to_string(), "f32[2,3]{0,1}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list of shapes.
    pub fn shapes(self) -> Result<Vec<Shape>> {
        self.items()?.into_iter().map(Self::shape).collect()
    }

    /// Reads a shape.
    pub(crate) fn shape(self) -> Result<Shape> {
        let mut parser = text::Parser::at(self.cursor().text(), self.span.start);
        let shape = parser.shape()?;
        parser.finish().map(|()| shape)
    }

    /// Reads an attribute such as `entry_computation_layout`, which has the parameter and result shapes of a program: `{(shape, shape)->shape}`. The
    /// returned parameters have no names.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("\
    /// HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[6]{0}}
    /// ENTRY e {
    ///   x = f32[2,3]{0,1} parameter(0)
    ///   ROOT y = f32[6]{0} bitcast(x)
    /// }")?;
    /// let program = module.attribute("entry_computation_layout").unwrap().program_shape()?;
    /// assert_eq!(program.parameters[0].shape.to_string(), "f32[2,3]{0,1}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not such a program shape.
    pub fn program_shape(self) -> Result<ProgramShape> {
        let mut cursor = self.cursor();
        cursor.expect(b'{')?;
        cursor.skip_space()?;
        cursor.expect(b'(')?;
        cursor.skip_space()?;
        let mut parameters = Vec::new();
        // XLA accepts a comma after the last parameter.
        while !cursor.eat(b')') {
            parameters.push(ProgramParameter { name: String::new(), shape: shape(&mut cursor)? });
            cursor.skip_space()?;
            if cursor.peek() != Some(b')') {
                cursor.expect(b',')?;
                cursor.skip_space()?;
            }
        }
        cursor.skip_space()?;
        cursor.expect(b'-')?;
        cursor.expect(b'>')?;
        let result = shape(&mut cursor)?;
        cursor.skip_space()?;
        cursor.expect(b'}')?;
        self.ends(&cursor)?;
        Ok(ProgramShape { parameters, result })
    }
}

/// Reads a shape at the cursor.
fn shape(cursor: &mut Cursor<'_>) -> Result<Shape> {
    let mut parser = text::Parser::at(cursor.text(), cursor.position);
    let shape = parser.shape()?;
    cursor.position = parser.position();
    Ok(shape)
}

/// The text between double or single quotes.
pub(crate) fn within_quotes(text: &str) -> Option<&str> {
    let within = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    within('"').or_else(|| within('\''))
}

/// Parses digits as a number; `None` if there is another character or it does not fit.
pub(crate) fn decimal<N: FromStr>(text: &str) -> Option<N> {
    // `parse` also accepts a sign.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}
