//! The parsers of shardings in the texts of MLIR (Shardy) and JAX.

use super::lexer::TokenKind;
use super::parse::{AXIS, DEVICE, Parser, Result, Spans, invalid, named};
use crate::shard::devices::Devices;
use crate::shard::error::ShardingError;
use crate::shard::mesh::{Axis, AxisRef, DimensionSharding, Mesh, OtherAxes};
use crate::shard::sharding::Sharding;
use crate::sorting::sort_by_key;
use crate::text::{Expected, ParseError, Span};
use alloc::vec::Vec;

impl Mesh {
    /// Reads a mesh in MLIR's text: `#sdy.mesh<["x"=2, "y"=4]>`. `#sdy.` is optional, and `device_ids=[1, 0, …]` can
    /// follow the axes.
    ///
    /// ```
    /// use xla_shape_core::shard::{Mesh, Sharding};
    ///
    /// let mesh = Mesh::from_mlir(r#"#sdy.mesh<["x"=2, "y"=4]>"#)?;
    /// let sharding = mesh.sharding_from_mlir(r#"#sdy.sharding<@mesh, [{"x"}, {"y", ?}]>"#)?;
    /// assert_eq!(sharding.to_string(), "{mesh['x'=2,'y'=4], [{'x'}, {'y', ?}]}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a mesh.
    pub fn from_mlir(text: &str) -> Result<Self> {
        let mut parser = Parser::new(text, 0);
        parser.cursor.eat_if('#');
        if !matches!(parser.cursor.word(), Some("sdy.mesh" | "mesh")) {
            return Err(parser.cursor.unexpected(Expected::Value("a mesh, such as `#sdy.mesh<[\"x\"=2]>`")));
        }
        let mesh = parser.mlir_mesh()?;
        parser.finish()?;
        match mesh {
            MlirMesh::Axes(mesh) => Ok(mesh),
            MlirMesh::Device(device, span) => Err(invalid(ShardingError::MeshDevices { device }, span)),
        }
    }

    /// Reads a sharding in MLIR's text. If the text refers to a mesh by name, this mesh is used.
    ///
    /// ```
    /// let mesh = xla_shape_core::shard::Mesh::from_mlir(r#"mesh<["x"=2]>"#)?;
    /// let sharding = mesh.sharding_from_mlir(r#"#sdy.sharding<@mesh, [{"x"}]>"#)?;
    /// assert_eq!(sharding.to_string(), "{mesh['x'=2], [{'x'}]}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a sharding.
    pub fn sharding_from_mlir(&self, text: &str) -> Result<Sharding> {
        let mut parser = Parser::new(text, 0);
        let sharding = parser.shardy(Some(self))?;
        parser.finish()?;
        Ok(sharding)
    }

    /// The sharding of a JAX `PartitionSpec` on this mesh: `P('x', None, ('y', 'z'))`. Dimensions up to `rank` that it
    /// does not mention are not sharded.
    ///
    /// ```
    /// use xla_shape_core::shard::Mesh;
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
    /// let sharding = mesh.partition_spec("P(None, ('y', 'x'))", 3)?;
    /// assert_eq!(sharding.to_string(), "{mesh['x'=2,'y'=4], [{}, {'y', 'x'}, {}]}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a `PartitionSpec`, or names an axis that the mesh does not have.
    pub fn partition_spec(&self, text: &str, rank: usize) -> Result<Sharding> {
        let mut parser = Parser::new(text, 0);
        let sharding = parser.spec(self, rank)?;
        parser.finish()?;
        Ok(sharding)
    }
}

/// A mesh in MLIR's text.
enum MlirMesh {
    Axes(Mesh),
    /// No axes and one device ID: a single device.
    Device(i64, Span),
}

impl Parser<'_> {
    /// Reads `#sdy.sharding<mesh<["x"=2]>, [{"x"}]>`. If it only names its mesh, `known` is the mesh.
    pub(super) fn shardy(&mut self, known: Option<&Mesh>) -> Result<Sharding> {
        const WHAT: &str = "a sharding, such as `#sdy.sharding<mesh<[\"x\"=2]>, [{\"x\"}]>`";
        self.cursor.eat_if('#');
        if self.cursor.word() != Some("sdy.sharding") {
            return Err(self.cursor.unexpected(Expected::Value(WHAT)));
        }
        self.cursor.advance();
        self.cursor.eat('<')?;
        let mesh = if self.cursor.eat_if('@') {
            let span = self.cursor.token().span;
            let name = match self.cursor.word() {
                Some(name) => {
                    self.cursor.advance();
                    name.into()
                }
                None => self.cursor.string("the name of a mesh")?,
            };
            let unknown = || invalid(ShardingError::UnknownMesh { name: name.into() }, span);
            MlirMesh::Axes(known.cloned().ok_or_else(unknown)?)
        } else {
            if self.cursor.word() != Some("mesh") {
                return Err(self.cursor.unexpected(Expected::Value("`mesh<` and its axes, or `@` and its name")));
            }
            self.mlir_mesh()?
        };
        self.cursor.eat(',')?;
        let mesh = match mesh {
            MlirMesh::Axes(mesh) => mesh,
            MlirMesh::Device(device, _) => {
                // The one device has the whole array, so no dimension has axes: `[{}, {}]`.
                self.cursor.eat('[')?;
                while self.cursor.eat_if('{') {
                    self.cursor.eat('}')?;
                    if !self.cursor.eat_if(',') {
                        break;
                    }
                }
                self.cursor.eat(']')?;
                self.cursor.eat('>')?;
                return Ok(Sharding::single_device(device));
            }
        };
        let mut other = OtherAxes::default();
        let mut spans = Spans::default();
        // After a dimension may stand a priority such as `p1`, which only affects how shardings spread.
        let dimensions = self.dimensions(&mesh, &mut spans.dimensions, |parser| {
            let is_priority = |word: &str| {
                word.strip_prefix('p')
                    .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            };
            if parser.cursor.word().is_some_and(is_priority) {
                parser.cursor.advance();
            }
        })?;
        while self.cursor.eat_if(',') {
            let what = "`replicated=` or `unreduced=`";
            let (axes, places) = match self.cursor.attribute() {
                Some("replicated") => (&mut other.replicated, &mut spans.replicated),
                Some("unreduced") => (&mut other.unreduced, &mut spans.unreduced),
                Some("manual") => (&mut other.manual, &mut spans.manual),
                _ => return Err(self.cursor.unexpected(Expected::Value(what))),
            };
            self.cursor.advance();
            self.cursor.eat('{')?;
            self.axes(&mesh, axes, None, places)?;
        }
        self.cursor.eat_or('>', ',')?;
        named(mesh, dimensions, other, &spans, Vec::new())
    }

    /// Reads from `mesh<` or `sdy.mesh<` on.
    fn mlir_mesh(&mut self) -> Result<MlirMesh> {
        self.cursor.advance();
        let start = self.cursor.token().span.start;
        self.cursor.eat('<')?;
        let axes = self.mesh_axes()?;
        let mut devices = None;
        if self.cursor.eat_if(',') {
            if self.cursor.attribute() != Some("device_ids") {
                return Err(self.cursor.unexpected(Expected::Value("`device_ids=`")));
            }
            self.cursor.advance();
            self.cursor.eat('[')?;
            let mut list = Vec::new();
            loop {
                list.push(self.cursor.integer(DEVICE)?);
                if !self.cursor.eat_if(',') {
                    break;
                }
            }
            self.cursor.eat_or(']', ',')?;
            devices = Some(list);
        }
        self.cursor.eat('>')?;
        let span = Span { start, end: self.cursor.end() };
        if let ([], Some(&[device])) = (axes.as_slice(), devices.as_deref()) {
            return Ok(MlirMesh::Device(device, span));
        }
        Mesh::new(axes, devices.map(Devices::List)).map(MlirMesh::Axes).map_err(|error| invalid(error, span))
    }

    /// Reads a name in quotes, `=` or `:`, and a size.
    pub(super) fn axis(&mut self, axes: &mut Vec<Axis>, separator: char) -> Result<()> {
        let span = self.cursor.token().span;
        if axes.len() == crate::shard::MAX_AXES {
            let (limit, found) = (axes.len(), axes.len() + 1);
            return Err(invalid(ShardingError::TooManyAxes { limit, found }, span));
        }
        let name = self.cursor.string(AXIS)?;
        if axes.iter().any(|axis| *axis.name == *name) {
            return Err(invalid(ShardingError::AxisNamedTwice { name: name.into() }, span));
        }
        self.cursor.eat(separator)?;
        let span = self.cursor.token().span;
        let size = self.cursor.size("the size of the axis")?;
        if size == 0 {
            return Err(invalid(ShardingError::ZeroSize, span));
        }
        axes.push(Axis { name: name.into(), size });
        Ok(())
    }

    /// Reads `NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x', None))`.
    pub(super) fn jax(&mut self) -> Result<Sharding> {
        self.cursor.advance();
        self.cursor.eat('(')?;
        self.attribute("mesh")?;
        if !matches!(self.cursor.word(), Some("Mesh" | "AbstractMesh")) {
            return Err(self.cursor.unexpected(Expected::Value("`Mesh(` and its axes")));
        }
        self.cursor.advance();
        let start = self.cursor.token().span.start;
        self.cursor.eat('(')?;
        let mut axes = Vec::new();
        while !self.cursor.is(')') && self.cursor.attribute() != Some("axis_types") {
            self.axis(&mut axes, ':')?;
            if !self.cursor.eat_if(',') {
                break;
            }
        }
        if self.cursor.attribute() == Some("axis_types") {
            self.cursor.advance();
            self.skip_parentheses()?;
        }
        self.cursor.eat(')')?;
        let span = Span { start, end: self.cursor.end() };
        let mesh = Mesh::new(axes, None).map_err(|error| invalid(error, span))?;
        self.cursor.eat(',')?;
        self.attribute("spec")?;
        let sharding = self.spec(&mesh, 0)?;
        if self.cursor.eat_if(',') {
            self.attribute("memory_kind")?;
            self.cursor.advance();
        }
        self.cursor.eat(')')?;
        Ok(sharding)
    }

    fn attribute(&mut self, name: &'static str) -> Result<()> {
        if self.cursor.attribute() != Some(name) {
            return Err(self.cursor.unexpected(Expected::Value(match name {
                "mesh" => "`mesh=`",
                "spec" => "`spec=`",
                _ => "`memory_kind=`",
            })));
        }
        self.cursor.advance();
        Ok(())
    }

    /// Reads words and commas in parentheses.
    fn skip_parentheses(&mut self) -> Result<()> {
        self.cursor.eat('(')?;
        while self.cursor.word().is_some() || self.cursor.is(',') {
            self.cursor.advance();
        }
        self.cursor.eat(')')
    }

    /// Reads `P('x', None, ('y', 'z'))`.
    fn spec(&mut self, mesh: &Mesh, rank: usize) -> Result<Sharding> {
        if !matches!(self.cursor.word(), Some("P" | "PartitionSpec")) {
            return Err(self.cursor.unexpected(Expected::Value("`P(` or `PartitionSpec(`")));
        }
        self.cursor.advance();
        self.cursor.eat('(')?;
        let mut other = OtherAxes::default();
        let mut spans = Spans::default();
        let mut dimensions = Vec::new();
        while !self.cursor.is(')') {
            match (self.cursor.word(), self.cursor.attribute()) {
                (_, Some("unreduced")) => {
                    self.cursor.advance();
                    self.cursor.eat('{')?;
                    self.axes(mesh, &mut other.unreduced, None, &mut spans.unreduced)?;
                }
                (Some("None"), _) => {
                    self.cursor.advance();
                    dimensions.push(DimensionSharding::default());
                }
                (Some("UNCONSTRAINED" | "PartitionSpec.UNCONSTRAINED"), _) => {
                    self.cursor.advance();
                    dimensions.push(DimensionSharding { axes: Vec::new(), is_open: true });
                }
                _ if self.cursor.eat_if('(') => {
                    let mut axes = Vec::new();
                    while !self.cursor.is(')') {
                        self.spec_axis(mesh, &mut axes, &mut spans)?;
                        if !self.cursor.eat_if(',') {
                            break;
                        }
                    }
                    self.cursor.eat_or(')', ',')?;
                    dimensions.push(DimensionSharding { axes, is_open: false });
                }
                _ => {
                    let mut axes = Vec::new();
                    self.spec_axis(mesh, &mut axes, &mut spans)?;
                    dimensions.push(DimensionSharding { axes, is_open: false });
                }
            }
            if !self.cursor.eat_if(',') {
                break;
            }
        }
        self.cursor.eat_or(')', ',')?;
        // JAX prints a set, whose order is arbitrary.
        sort_by_key(&mut other.unreduced, |axis| axis.axis);
        let end = self.cursor.end();
        if dimensions.len() > rank && rank > 0 {
            let error = ShardingError::Rank { expected: rank, found: dimensions.len() };
            return Err(invalid(error, Span { start: end.saturating_sub(1), end }));
        }
        dimensions.resize(dimensions.len().max(rank), DimensionSharding::default());
        named(mesh.clone(), dimensions, other, &spans, Vec::new())
    }

    fn spec_axis(&mut self, mesh: &Mesh, axes: &mut Vec<AxisRef>, spans: &mut Spans) -> Result<()> {
        let span = self.cursor.token().span;
        let name = self.cursor.string("the name of an axis in quotes, `None` or a tuple of names")?;
        axes.push(AxisRef::whole(mesh.axis(&name).map_err(|error| invalid(error, span))?));
        spans.dimensions.push(span);
        Ok(())
    }

    /// Checks that no token remains.
    pub(super) fn finish(&self) -> Result<()> {
        match self.cursor.token().kind {
            TokenKind::End => Ok(()),
            _ => Err(self.cursor.unexpected(Expected::Value("the end of the sharding"))),
        }
    }
}

/// Reads a sharding in quotes from byte `start` on, and returns where it ends. Positions are those in the whole text.
pub(super) fn quoted(text: &str, start: usize) -> core::result::Result<(Sharding, usize), ParseError> {
    let (sharding, end) = Sharding::parse_at(text, start + 1)?;
    if text.get(end..).is_some_and(|rest| rest.starts_with('"')) {
        return Ok((sharding, end + 1));
    }
    let found = crate::text::Found::new(text.get(end..).unwrap_or(""));
    let kind = crate::text::ParseErrorKind::Unexpected { expected: Expected::Character('"'), found };
    Err(ParseError::new(kind, Span { start: end, end: text.len() }))
}
