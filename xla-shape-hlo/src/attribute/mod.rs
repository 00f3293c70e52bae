//! Attributes: what stands after an instruction's operands, a computation's end or a module's name.
//!
//! An attribute keeps its value as it is written. [`Value`] reads the usual kinds of value on request.

mod alias;
pub(crate) mod origin;
mod window;

pub use alias::Alias;

use crate::text::cursor::Cursor;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use xla_shape_core::Shape;
use xla_shape_core::infer::{PaddingDimension, SliceDimension, WindowDimension};
use xla_shape_core::shard::{Devices, Iota, Sharding, ShardingError, replica_groups};
use xla_shape_core::text::{self, Expected, ParseError, Span, unescaped};
use xla_shape_core::{ProgramParameter, ProgramShape};

type Result<T> = core::result::Result<T, ParseError>;

/// An attribute: a name and a value.
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
    #[must_use]
    pub const fn name(self) -> &'a str {
        self.name
    }

    /// The value.
    #[must_use]
    pub const fn value(self) -> Value<'a> {
        self.value
    }
}

/// The value of an attribute, as it is written, and what can be read from it.
///
/// The positions of errors are those in the text of the module.
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
    /// The text of the module, or a value that the module made itself.
    source: &'a str,
    /// Where the value stands in the source.
    span: Span,
    /// What a made value stands for in the text of the module.
    place: Option<Span>,
}

impl<'a> Value<'a> {
    pub(crate) const fn new(source: &'a str, span: Span) -> Self {
        Self { source, span, place: None }
    }

    /// A value that the text does not spell out, made for this part of it.
    pub(crate) const fn made(source: &'a str, place: Span) -> Self {
        Self { source, span: Span { start: 0, end: source.len() }, place: Some(place) }
    }

    /// A part of this value.
    const fn part(self, start: usize, end: usize) -> Self {
        Self { span: Span { start, end }, ..self }
    }

    /// The value as it is written, such as `{0,2,1}`.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.source.get(self.span.start..self.span.end).unwrap_or("")
    }

    /// Where the value stands.
    #[must_use]
    pub const fn span(self) -> Span {
        match self.place {
            Some(place) => place,
            None => self.span,
        }
    }

    /// A cursor that sees the value and nothing after it.
    pub(crate) fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.source.get(..self.span.end).unwrap_or(""), self.span.start)
    }

    /// The error that the value is not what it should be.
    pub(crate) fn is_not(self, what: &'static str) -> ParseError {
        let found = text::Found::new(self.text());
        ParseError::new(text::ParseErrorKind::Unexpected { expected: Expected::Value(what), found }, self.span())
    }

    /// Checks that nothing of the value stands after its closing brace.
    fn ends(self, cursor: &Cursor<'_>) -> Result<()> {
        if cursor.peek().is_some() { Err(self.is_not("one pair of braces around all")) } else { Ok(()) }
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn boolean(self) -> Result<bool> {
        match self.text() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.is_not("`true` or `false`")),
        }
    }

    /// Reads a number, such as `3`.
    ///
    /// # Errors
    /// If the value is not a number, or too large.
    pub fn number(self) -> Result<usize> {
        decimal(self.text()).ok_or_else(|| self.is_not("a number"))
    }

    /// Reads a list of numbers, such as `{0,2,1}`.
    ///
    /// # Errors
    /// If the value is not a list of numbers, or a number is too large.
    pub fn numbers(self) -> Result<Vec<usize>> {
        self.items()?.into_iter().map(Self::number).collect()
    }

    /// Reads the name of a computation or an instruction, with or without `%`, and gives it without.
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

    /// Reads a list of names, such as `{%a, %b}`, or a single one.
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

    /// Reads a string in quotes, and replaces escapes: XLA writes every byte beyond ASCII as `\303`.
    ///
    /// # Errors
    /// If the value is not a string, or its [`bytes`](Self::bytes) are not UTF-8.
    pub fn string(self) -> Result<Cow<'a, str>> {
        let inside = self.quoted()?;
        if !inside.contains('\\') {
            return Ok(Cow::Borrowed(inside));
        }
        String::from_utf8(unescaped(inside)).map(Cow::Owned).map_err(|_| self.is_not("a string of UTF-8"))
    }

    /// Reads a string in quotes that may hold any bytes, such as a serialized message.
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

    /// What stands between quotes.
    fn quoted(self) -> Result<&'a str> {
        within_quotes(self.text()).ok_or_else(|| self.is_not("a string"))
    }

    /// Reads what XLA only hands on, such as `backend_config` and the fields of `frontend_attributes`: the text of a
    /// string, or what stands there without quotes, such as JSON in braces.
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
    /// If it is a string that is not UTF-8; then there are its [`bytes`](Self::bytes).
    pub fn unquoted(self) -> Result<Cow<'a, str>> {
        if self.text().starts_with(['"', '\'']) { self.string() } else { Ok(Cow::Borrowed(self.text())) }
    }

    /// Reads a list in braces, and gives its items: what stands between its commas.
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

    /// Reads `{key=value key=value}`, also with commas, as `metadata`, `window` and `frontend_attributes` have it.
    ///
    /// # Errors
    /// If the value is not an object of fields.
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

    /// Reads one of the [`fields`](Self::fields).
    ///
    /// # Errors
    /// If the value has no fields.
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

    /// Reads padding: `low_high` or `low_high_interior` for each dimension, with `x` between them.
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

    /// Reads what the dimensions of a convolution mean, such as `b01f_01io->b01f`.
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
    /// If the value is not the labels of dimensions.
    pub fn dim_labels(self) -> Result<DimLabels> {
        window::dim_labels(self)
    }

    /// Reads groups of replicas.
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

    /// Reads `mesh['x'=2,'y'=4] {'x','y':(1)2}`: the sharding of one dimension that its axes, written alike, would be.
    pub(crate) fn mesh_groups(self) -> Result<Sharding> {
        let wrong = || self.is_not("groups along axes of a mesh: `mesh['x'=2,'y'=2] {'x'}`");
        let (mesh, axes) = self.text().rsplit_once('{').ok_or_else(wrong)?;
        let sharding = alloc::format!("{{{}, [{{{axes}]}}", mesh.trim_ascii_end());
        sharding.parse().map_err(|_| wrong())
    }

    /// Reads how a value is divided among devices, such as `{devices=[2,1]<=[2]}`.
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

    /// Reads a list of shapes in braces, such as `operand_layout_constraints`.
    ///
    /// # Errors
    /// If the value is not a list of shapes.
    pub fn shapes(self) -> Result<Vec<Shape>> {
        let items = self.items()?;
        let shape = |item: Self| {
            let mut parser = text::Parser::at(item.cursor().text(), item.span.start);
            let shape = parser.shape()?;
            parser.finish().map(|()| shape)
        };
        items.into_iter().map(shape).collect()
    }

    /// Reads the shapes of a program, such as `entry_computation_layout`: `{(shape, shape)->shape}`. Its parameters
    /// have no names.
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
    /// If there are none.
    pub fn program_shape(self) -> Result<ProgramShape> {
        let mut cursor = self.cursor();
        cursor.expect(b'{')?;
        cursor.skip_space()?;
        cursor.expect(b'(')?;
        cursor.skip_space()?;
        let mut parameters = Vec::new();
        // XLA reads a comma behind the last one, too.
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

/// What stands between quotes, double or single ones.
pub(crate) fn within_quotes(text: &str) -> Option<&str> {
    let within = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    within('"').or_else(|| within('\''))
}

/// The number that these digits are, if they are digits and it fits.
pub(crate) fn decimal<N: FromStr>(text: &str) -> Option<N> {
    // `parse` would also take a sign.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// What the dimensions of a convolution mean: `dim_labels`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DimLabels {
    /// Batch `b`, feature `f` and spatial dimensions of the input.
    pub input: Labels,
    /// Input features `i`, output features `o` and spatial dimensions of the kernel.
    pub kernel: Labels,
    /// Batch `b`, feature `f` and spatial dimensions of the output.
    pub output: Labels,
}

/// The meaning of the dimensions of one array of a convolution, as dimension numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Labels {
    /// Batch, or input features of a kernel.
    pub first: usize,
    /// Features, or output features of a kernel.
    pub second: usize,
    /// The spatial dimensions.
    pub spatial: Vec<usize>,
}

/// Which replicas work together: `replica_groups`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReplicaGroups<'a> {
    /// `{{0,1},{2,3}}`: each group in full; none stands for one group of all.
    Lists(Vec<Vec<usize>>),
    /// `[groups,size]<=[dimensions]T(permutation)`: the numbers 0, 1, … as an array of `dimensions`, transposed, and
    /// then cut into groups.
    Iota {
        /// The shape of the result: the number of groups, then the size of each.
        shape: Vec<usize>,
        /// The dimensions of the array that the numbers fill.
        dimensions: Vec<usize>,
        /// Its transposition, if there is one.
        permutation: Option<Vec<usize>>,
    },
    /// `mesh['x'=2,'y'=2] {'x'}`: groups along axes of a mesh, as they are written.
    Mesh(&'a str),
}

impl ReplicaGroups<'_> {
    /// The groups, each in full; `None` for groups along the axes of a mesh.
    ///
    /// ```
    /// use xla_shape_hlo::ReplicaGroups;
    ///
    /// let groups = ReplicaGroups::Iota { shape: vec![2, 2], dimensions: vec![2, 2], permutation: Some(vec![1, 0]) };
    /// assert_eq!(groups.expand()?, Some(vec![vec![0, 2], vec![1, 3]]));
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If the numbers are no such array, or are too many to list.
    pub fn expand(&self) -> core::result::Result<Option<Vec<Vec<usize>>>, ShardingError> {
        let wide = |sizes: &[usize]| sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
        match self {
            Self::Lists(lists) => Ok(Some(lists.clone())),
            Self::Iota { shape, dimensions, permutation } => {
                let in_order = (0..dimensions.len()).collect::<Vec<_>>();
                let iota = Iota::new(&wide(dimensions), permutation.as_deref().unwrap_or(&in_order))?;
                let expected = shape.len();
                let &[groups, size] = shape.as_slice() else {
                    return Err(ShardingError::Rank { expected: 2, found: expected });
                };
                let groups = replica_groups(groups as u64, size as u64, &Devices::Iota(iota))?;
                let numbers = |group: Vec<i64>| group.into_iter().filter_map(|device| usize::try_from(device).ok());
                Ok(Some(groups.into_iter().map(|group| numbers(group).collect()).collect()))
            }
            Self::Mesh(_) => Ok(None),
        }
    }
}
