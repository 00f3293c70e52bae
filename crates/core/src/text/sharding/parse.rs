//! The parser of shardings in XLA's text. XLA's is `HloParserImpl::ParseSharding` (`xla/hlo/parser/hlo_parser.cc`).

use super::lexer::{Cursor, TokenKind};
use crate::shard::devices::{Devices, Iota, TileAssignment};
use crate::shard::error::ShardingError;
use crate::shard::mesh::{Axis, AxisRef, DimensionSharding, Mesh, NamedSharding, OtherAxes, SubAxis};
use crate::shard::metadata::OpMetadata;
use crate::shard::sharding::{ShardGroup, Sharding, ShardingKind};
use crate::shard::tiled::{Reduction, Subgroup};
use crate::text::{Expected, Found, ParseError, ParseErrorKind, Span};
use alloc::string::String;
use alloc::vec::Vec;

pub(super) type Result<T> = core::result::Result<T, ParseError>;

pub(super) fn invalid(error: ShardingError, span: Span) -> ParseError {
    ParseError::new(ParseErrorKind::Sharding(error), span)
}

const SHARDING: &str = "a sharding, such as `{replicated}` or `{devices=[2,1]<=[2]}`";
const IN_SHARDING: &str =
    "`replicated`, `maximal`, `manual`, `unreduced`, `unknown`, `devices=`, `last_tile_dims=`, `shard_as`, … or `}`";
pub(super) const DEVICE: &str = "the number of a device";
pub(super) const AXIS: &str = "the name of an axis in quotes";

impl Sharding {
    /// Reads a sharding in XLA's text that begins at byte `position`, and returns it with the byte where it ends. Text
    /// after it is not read.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (sharding, end) = Sharding::parse_at("sharding={replicated}, metadata={}", 9)?;
    /// assert_eq!((sharding.to_string().as_str(), end), ("{replicated}", 21));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the text at `position` is not a sharding. Positions of errors are those in the whole text.
    pub fn parse_at(text: &str, position: usize) -> Result<(Self, usize)> {
        let mut parser = Parser::new(text, position);
        let sharding = parser.sharding()?;
        Ok((sharding, parser.cursor.end()))
    }
}

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
}

/// The parts of a sharding without names, as they are read.
#[derive(Default)]
struct ShardingParts {
    words: Vec<&'static str>,
    devices: Vec<i64>,
    tiles: Vec<u64>,
    iota: Vec<u64>,
    permutation: Vec<usize>,
    replicates_last: bool,
    subgroups: Vec<Subgroup>,
    group: Option<ShardGroup>,
    is_required: bool,
    metadata: Vec<OpMetadata>,
    /// The positions of the devices, the tiles, the iota and the subgroups, for errors.
    devices_span: Option<Span>,
    tiles_span: Option<Span>,
    iota_span: Option<Span>,
    subgroups_span: Option<Span>,
}

/// Extends a span to `end`; if there is none, it begins at `start`.
fn widen(span: &mut Option<Span>, start: usize, end: usize) {
    let start = span.map_or(start, |span| span.start);
    *span = Some(Span { start, end });
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, position: usize) -> Self {
        Self { cursor: Cursor::new(text, position) }
    }

    fn sharding(&mut self) -> Result<Sharding> {
        if !self.cursor.is('{') {
            return Err(self.cursor.unexpected(Expected::Value(SHARDING)));
        }
        let start = self.cursor.token().span.start;
        self.cursor.advance();
        // A second brace begins the elements of a tuple, as in `{{replicated}, {manual}}`, and `{}` is the empty tuple.
        if !self.cursor.is('{') && !self.cursor.is('}') {
            return self.single(start);
        }
        let mut elements = Vec::new();
        if !self.cursor.is('}') {
            loop {
                let start = self.cursor.token().span.start;
                self.cursor.eat('{')?;
                if self.cursor.is('{') {
                    return Err(invalid(ShardingError::NestedTuple, self.cursor.token().span));
                }
                elements.push(self.single(start)?);
                if !self.cursor.eat_if(',') {
                    break;
                }
            }
        }
        self.cursor.eat_or('}', ',')?;
        Ok(Sharding::from_kind(ShardingKind::Tuple(elements), Vec::new()))
    }

    /// Reads a sharding that is not a tuple, after its opening brace, which is at `start`.
    fn single(&mut self, start: usize) -> Result<Sharding> {
        match self.cursor.word() {
            Some("mesh") => self.named(),
            Some("single_device" | "maximal_mesh") => self.single_device(),
            _ => self.unnamed(start),
        }
    }

    /// Reads numbers and commas.
    fn sizes(&mut self, what: &'static str, sizes: &mut Vec<u64>) -> Result<()> {
        loop {
            let span = self.cursor.token().span;
            let size = self.cursor.size(what)?;
            if size == 0 {
                return Err(invalid(ShardingError::ZeroSize, span));
            }
            sizes.push(size);
            if !self.cursor.eat_if(',') {
                return Ok(());
            }
        }
    }

    /// Reads `T(…)` after the dimensions of an iota; one dimension needs none.
    fn permutation(&mut self, iota: &[u64], permutation: &mut Vec<usize>) -> Result<()> {
        if iota.len() == 1 {
            permutation.push(0);
            return Ok(());
        }
        if self.cursor.word() != Some("T") {
            return Err(self.cursor.unexpected(Expected::Value("`T(` and a transposition of several dimensions")));
        }
        self.cursor.advance();
        self.cursor.eat('(')?;
        let mut seen = alloc::vec![false; iota.len()];
        loop {
            let span = self.cursor.token().span;
            let dimension = self.cursor.size("a dimension of the iota")?;
            // One error for a dimension that is too large, and for one that is named twice.
            let error = invalid(ShardingError::Permutation { dimension, rank: iota.len() }, span);
            let Ok(dimension) = usize::try_from(dimension) else { return Err(error) };
            match seen.get_mut(dimension) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(error),
            }
            permutation.push(dimension);
            if !self.cursor.eat_if(',') {
                break;
            }
        }
        if permutation.len() != iota.len() {
            let error = ShardingError::PermutationLength { expected: iota.len(), found: permutation.len() };
            return Err(invalid(error, self.cursor.token().span));
        }
        self.cursor.eat(')')
    }

    /// Reads `[2,2]<=[4]` or `[2,2]0,1,2,3`.
    fn tile_assignment(&mut self, parts: &mut ShardingParts) -> Result<()> {
        let start = self.cursor.token().span.start;
        self.cursor.eat('[')?;
        self.sizes("the number of tiles", &mut parts.tiles)?;
        self.cursor.eat_or(']', ',')?;
        widen(&mut parts.tiles_span, start, self.cursor.end());
        if self.cursor.token().kind == TokenKind::LessEqual {
            self.cursor.advance();
            let start = self.cursor.token().span.start;
            self.cursor.eat('[')?;
            self.sizes("the size of an iota", &mut parts.iota)?;
            self.cursor.eat_or(']', ',')?;
            self.permutation(&parts.iota, &mut parts.permutation)?;
            widen(&mut parts.iota_span, start, self.cursor.end());
            return Ok(());
        }
        let start = self.cursor.token().span.start;
        let what = "`<=` and an iota, or the number of a device";
        parts.devices.push(self.cursor.integer(what)?);
        while self.cursor.eat_if(',') {
            parts.devices.push(self.cursor.integer(DEVICE)?);
        }
        widen(&mut parts.devices_span, start, self.cursor.end());
        Ok(())
    }

    /// Reads `{manual, replicated}`.
    fn subgroups(&mut self, subgroups: &mut Vec<Subgroup>) -> Result<()> {
        self.cursor.eat('{')?;
        if self.cursor.eat_if('}') {
            return Ok(());
        }
        loop {
            let all = [Subgroup::Maximal, Subgroup::Manual, Subgroup::Unreduced, Subgroup::Replicated];
            let found = all.into_iter().find(|subgroup| self.cursor.word() == Some(subgroup.name()));
            let what = "a kind of subgroup: `replicated`, `manual`, `unreduced` or `maximal`";
            subgroups.push(found.ok_or_else(|| self.cursor.unexpected(Expected::Value(what)))?);
            self.cursor.advance();
            if !self.cursor.eat_if(',') {
                return self.cursor.eat_or('}', ',');
            }
        }
    }

    fn unnamed(&mut self, start: usize) -> Result<Sharding> {
        // Words and attributes may come in any order, with or without commas, and more than once: only all of them together say which
        // sharding it is, and whether it is valid. So they are collected first.
        let mut parts = ShardingParts::default();
        while !self.cursor.is('}') {
            let error = self.cursor.unexpected(Expected::Value(IN_SHARDING));
            let token = self.cursor.token();
            let known = ["replicated", "maximal", "manual", "unknown", "unreduced"];
            if let Some(word) = self.cursor.word() {
                if let Some(kind) = known.into_iter().find(|&kind| kind == word) {
                    self.cursor.advance();
                    parts.words.push(kind);
                } else if word == "last_tile_dim_replicate" {
                    self.cursor.advance();
                    parts.replicates_last = true;
                    widen(&mut parts.subgroups_span, token.span.start, token.span.end);
                } else if matches!(word, "shard_as" | "shard_like") {
                    self.cursor.advance();
                    // If a text has both, XLA uses the last number and `shard_as`.
                    parts.is_required |= word == "shard_as";
                    let id = self.cursor.integer("the number of a shard group")?;
                    parts.group = Some(ShardGroup { id, is_required: parts.is_required });
                } else {
                    return Err(error);
                }
                continue;
            }
            let Some(name) = self.cursor.attribute() else { return Err(error) };
            match name {
                "device" => {
                    self.cursor.advance();
                    let span = self.cursor.token().span;
                    parts.devices = [self.cursor.integer(DEVICE)?].into();
                    parts.devices_span = Some(span);
                }
                "devices" => {
                    self.cursor.advance();
                    self.tile_assignment(&mut parts)?;
                }
                "metadata" => self.metadata(&mut parts.metadata)?,
                "last_tile_dims" => {
                    self.cursor.advance();
                    self.subgroups(&mut parts.subgroups)?;
                    widen(&mut parts.subgroups_span, token.span.start, self.cursor.end());
                }
                _ => return Err(error),
            }
        }
        self.cursor.advance();
        parts.sharding(Span { start, end: self.cursor.end() })
    }

    /// Reads `metadata={…}`: one entry, or several entries in braces.
    fn metadata(&mut self, metadata: &mut Vec<OpMetadata>) -> Result<()> {
        self.cursor.advance();
        self.cursor.eat('{')?;
        if !self.cursor.is('{') {
            metadata.push(self.one_metadata()?);
            return Ok(());
        }
        loop {
            self.cursor.eat('{')?;
            metadata.push(self.one_metadata()?);
            if !self.cursor.eat_if(',') {
                return self.cursor.eat_or('}', ',');
            }
        }
    }

    /// Reads one entry up to its closing brace.
    fn one_metadata(&mut self) -> Result<OpMetadata> {
        let mut metadata = OpMetadata::default();
        let mut seen = Vec::<&str>::new();
        if self.cursor.eat_if('}') {
            return Ok(metadata);
        }
        loop {
            self.cursor.eat_if(',');
            // The error is made before the name is read, so that it points to the name. A name that was used before is the same error.
            let what = "a new attribute of metadata, such as `op_name=`";
            let error = self.cursor.unexpected(Expected::Value(what));
            let name = self.cursor.attribute().filter(|name| !seen.contains(name));
            let Some(name) = name else { return Err(error) };
            seen.push(name);
            let text = match name {
                "op_type" => Some(&mut metadata.op_type),
                "op_name" => Some(&mut metadata.op_name),
                "source_file" => Some(&mut metadata.source_file),
                "deduplicated_name" => Some(&mut metadata.deduplicated_name),
                "scheduling_name" => Some(&mut metadata.scheduling_name),
                "metadata_payload" => Some(metadata.payload.insert(String::new())),
                _ => None,
            };
            if let Some(text) = text {
                self.cursor.advance();
                *text = self.cursor.string("a string")?;
            } else {
                let number = match name {
                    "source_line" => Some(&mut metadata.source_line),
                    "source_end_line" => Some(&mut metadata.source_end_line),
                    "source_column" => Some(&mut metadata.source_column),
                    "source_end_column" => Some(&mut metadata.source_end_column),
                    "stack_frame_id" => Some(&mut metadata.stack_frame_id),
                    "profile_type" => None,
                    _ => return Err(error),
                };
                self.cursor.advance();
                match number {
                    Some(number) => *number = self.small_integer()?,
                    None => self.profile_types(&mut metadata.profile_type)?,
                }
            }
            if self.cursor.eat_if('}') {
                return Ok(metadata);
            }
        }
    }

    /// Reads an integer of 32 bits.
    fn small_integer(&mut self) -> Result<i32> {
        let span = self.cursor.token().span;
        let value = self.cursor.integer("a number")?;
        i32::try_from(value).map_err(|_| {
            let expected = Expected::Value("a number of 32 bits");
            ParseError::new(ParseErrorKind::Unexpected { expected, found: Found::new(self.cursor.text(span)) }, span)
        })
    }

    /// Reads `{1,2}`.
    fn profile_types(&mut self, types: &mut Vec<i32>) -> Result<()> {
        self.cursor.eat('{')?;
        if self.cursor.eat_if('}') {
            return Ok(());
        }
        loop {
            let error = self.cursor.unexpected(Expected::Value("a kind of profile: a number from 0 to 3"));
            let kind = self.small_integer()?;
            if !(0..=3).contains(&kind) {
                return Err(error);
            }
            types.push(kind);
            if !self.cursor.eat_if(',') {
                return self.cursor.eat_or('}', ',');
            }
        }
    }

    /// Reads `single_device[device_id=3]`, or its older form `maximal_mesh[…]`.
    fn single_device(&mut self) -> Result<Sharding> {
        self.cursor.advance();
        self.cursor.eat('[')?;
        if self.cursor.attribute() != Some("device_id") {
            return Err(self.cursor.unexpected(Expected::Value("`device_id=`")));
        }
        self.cursor.advance();
        let device = self.cursor.integer(DEVICE)?;
        self.cursor.eat(']')?;
        let metadata = self.named_metadata()?;
        Ok(Sharding::from_kind(ShardingKind::SingleDevice { device }, metadata))
    }

    /// Reads the end of a named sharding: optional `, metadata={…}`, and the closing brace.
    fn named_metadata(&mut self) -> Result<Vec<OpMetadata>> {
        let mut metadata = Vec::new();
        while self.cursor.eat_if(',') {
            if self.cursor.attribute() != Some("metadata") {
                return Err(self.cursor.unexpected(Expected::Value("`metadata=`")));
            }
            self.metadata(&mut metadata)?;
        }
        self.cursor.eat_or('}', ',')?;
        Ok(metadata)
    }

    /// Reads `['a'=2,'b'=4]`.
    pub(super) fn mesh_axes(&mut self) -> Result<Vec<Axis>> {
        self.cursor.eat('[')?;
        let mut axes = Vec::new();
        if !self.cursor.is(']') {
            loop {
                self.axis(&mut axes, '=')?;
                if !self.cursor.eat_if(',') {
                    break;
                }
            }
        }
        self.cursor.eat_or(']', ',')?;
        Ok(axes)
    }

    /// Reads `mesh['a'=2,'b'=4], device_ids=(…),`.
    fn mesh(&mut self) -> Result<Mesh> {
        self.cursor.advance();
        let start = self.cursor.token().span.start;
        let axes = self.mesh_axes()?;
        let mut span = Span { start, end: self.cursor.end() };
        // XLA also accepts a mesh without a comma after it.
        let has_comma = self.cursor.eat_if(',');
        let mut devices = None;
        if has_comma && self.cursor.attribute() == Some("device_ids") && !axes.is_empty() {
            self.cursor.advance();
            let start = self.cursor.token().span.start;
            self.cursor.eat('(')?;
            devices = Some(self.device_ids()?);
            self.cursor.eat_or(')', ',')?;
            span = Span { start, end: self.cursor.end() };
            self.cursor.eat_if(',');
        }
        Mesh::new(axes, devices).map_err(|error| invalid(error, span))
    }

    /// Reads `0,2,1,3` or `[2,2]T(1,0)`.
    fn device_ids(&mut self) -> Result<Devices> {
        if self.cursor.is(')') {
            return Ok(Devices::List(Vec::new()));
        }
        let start = self.cursor.token().span.start;
        if self.cursor.eat_if('[') {
            let (mut iota, mut permutation) = (Vec::new(), Vec::new());
            self.sizes("the size of an iota", &mut iota)?;
            self.cursor.eat_or(']', ',')?;
            self.permutation(&iota, &mut permutation)?;
            let span = Span { start, end: self.cursor.end() };
            return Ok(Devices::Iota(Iota::new(&iota, &permutation).map_err(|error| invalid(error, span))?));
        }
        let mut list = Vec::new();
        loop {
            list.push(self.cursor.integer(DEVICE)?);
            if !self.cursor.eat_if(',') {
                return Ok(Devices::List(list));
            }
        }
    }

    fn named(&mut self) -> Result<Sharding> {
        let mesh = self.mesh()?;
        let mut other = OtherAxes::default();
        let mut spans = Spans::default();
        let span = self.cursor.token().span;
        let word = self.cursor.word().or_else(|| self.cursor.attribute());
        if let Some(word) = word {
            let is_whole = self.whole(&mesh, word, &mut other, &mut spans.unreduced)?;
            if !is_whole {
                return Err(self.cursor.unexpected(Expected::Character('[')));
            }
            if mesh.axes().is_empty() && word == "manual" {
                return Err(invalid(ShardingError::NoAxes { kind: "manual" }, span));
            }
            let metadata = self.named_metadata()?;
            return named(mesh, Vec::new(), other, &spans, metadata);
        }
        let dimensions = self.dimensions(&mesh, &mut spans.dimensions, |_| ())?;
        let mut metadata = Vec::new();
        while self.cursor.eat_if(',') {
            let what = "`replicated=`, `unreduced=`, `manual=` or `metadata=`";
            let error = self.cursor.unexpected(Expected::Value(what));
            let (axes, places) = match self.cursor.attribute() {
                Some("replicated") => (&mut other.replicated, &mut spans.replicated),
                Some("unreduced") => (&mut other.unreduced, &mut spans.unreduced),
                Some("manual") => (&mut other.manual, &mut spans.manual),
                Some("metadata") => {
                    self.metadata(&mut metadata)?;
                    continue;
                }
                _ => return Err(error),
            };
            let is_unreduced = self.cursor.attribute() == Some("unreduced");
            self.cursor.advance();
            // `unreduced=max{'a'}`: the reduction stands between `=` and the axes.
            if is_unreduced && self.cursor.word().is_some() {
                other.reduction = self.reduction()?;
            }
            self.cursor.eat('{')?;
            self.axes(&mesh, axes, None, places)?;
        }
        self.cursor.eat_or('}', ',')?;
        named(mesh, dimensions, other, &spans, metadata)
    }

    /// Reads `sum`, `max` or `min`.
    fn reduction(&mut self) -> Result<Reduction> {
        let all = [Reduction::Sum, Reduction::Max, Reduction::Min];
        let found = all.into_iter().find(|reduction| self.cursor.word() == Some(reduction.name()));
        let found = found.ok_or_else(|| self.cursor.unexpected(Expected::Value("`sum`, `max` or `min`")))?;
        self.cursor.advance();
        Ok(found)
    }

    /// Reads a word that replaces the list of dimensions: `replicated`, `manual`, `unreduced`, `unreduced=max` or
    /// `unreduced{'x'}`. Returns whether it was one of these.
    fn whole(&mut self, mesh: &Mesh, word: &str, other: &mut OtherAxes, spans: &mut Vec<Span>) -> Result<bool> {
        let all = || (0..mesh.axes().len()).map(AxisRef::whole).collect::<Vec<_>>();
        let is_attribute = self.cursor.attribute().is_some();
        match word {
            "replicated" if !is_attribute => self.cursor.advance(),
            "manual" if !is_attribute => {
                self.cursor.advance();
                other.manual = all();
            }
            "unreduced" => {
                self.cursor.advance();
                if is_attribute {
                    other.reduction = self.reduction()?;
                }
                if self.cursor.eat_if('{') {
                    self.axes(mesh, &mut other.unreduced, None, spans)?;
                } else {
                    other.unreduced = all();
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads `[{'a','b'}, {?}]`; `after` reads what may stand after a dimension.
    pub(super) fn dimensions(
        &mut self,
        mesh: &Mesh,
        spans: &mut Vec<Span>,
        after: impl Fn(&mut Self),
    ) -> Result<Vec<DimensionSharding>> {
        self.cursor.eat('[')?;
        let mut dimensions = Vec::new();
        if !self.cursor.is(']') {
            loop {
                self.cursor.eat('{')?;
                let mut dimension = DimensionSharding::default();
                self.axes(mesh, &mut dimension.axes, Some(&mut dimension.is_open), spans)?;
                dimensions.push(dimension);
                after(self);
                if !self.cursor.eat_if(',') {
                    break;
                }
            }
        }
        self.cursor.eat_or(']', ',')?;
        Ok(dimensions)
    }

    /// Reads axes up to the closing brace; `?` is allowed only if `is_open` is given.
    pub(super) fn axes(
        &mut self,
        mesh: &Mesh,
        axes: &mut Vec<AxisRef>,
        mut is_open: Option<&mut bool>,
        spans: &mut Vec<Span>,
    ) -> Result<()> {
        if self.cursor.eat_if('}') {
            return Ok(());
        }
        loop {
            let start = self.cursor.token().span;
            match &mut is_open {
                Some(is_open) if self.cursor.is('?') => {
                    self.cursor.advance();
                    **is_open = true;
                }
                // `?` says that more axes may be added at the end, so nothing comes after it.
                Some(is_open) if **is_open => return Err(invalid(ShardingError::AfterOpen, start)),
                _ => {
                    let name = self.cursor.string(AXIS)?;
                    let axis = mesh.axis(&name).map_err(|error| invalid(error, start))?;
                    let part = if self.cursor.eat_if(':') { Some(self.sub_axis()?) } else { None };
                    axes.push(AxisRef { axis, part });
                    spans.push(Span { start: start.start, end: self.cursor.end() });
                }
            }
            if !self.cursor.eat_if(',') {
                return self.cursor.eat_or('}', ',');
            }
        }
    }

    /// Reads `(2)4`.
    fn sub_axis(&mut self) -> Result<SubAxis> {
        self.cursor.eat('(')?;
        let pre_size = self.cursor.size("the size before the part of the axis")?;
        self.cursor.eat(')')?;
        Ok(SubAxis { pre_size, size: self.cursor.size("the size of the part of the axis")? })
    }
}

/// The positions of the axes of a named sharding, in the order in which they are checked.
#[derive(Default)]
pub(super) struct Spans {
    pub(super) dimensions: Vec<Span>,
    pub(super) replicated: Vec<Span>,
    pub(super) unreduced: Vec<Span>,
    pub(super) manual: Vec<Span>,
}

pub(super) fn named(
    mesh: Mesh,
    dimensions: Vec<DimensionSharding>,
    other: OtherAxes,
    spans: &Spans,
    metadata: Vec<OpMetadata>,
) -> Result<Sharding> {
    let named = NamedSharding::checked(mesh, dimensions, other).map_err(|(error, place)| {
        let Spans { dimensions, replicated, unreduced, manual } = spans;
        let span = [dimensions, replicated, unreduced, manual].into_iter().flatten().nth(place);
        invalid(error, span.copied().unwrap_or(Span { start: 0, end: 0 }))
    })?;
    Ok(Sharding::from_kind(ShardingKind::Named(named), metadata))
}

impl ShardingParts {
    /// The sharding with these parts. If there are several words, the first one in the list below decides, as in XLA.
    /// `span` is the whole sharding.
    fn sharding(self, span: Span) -> Result<Sharding> {
        let devices_span = self.devices_span.unwrap_or(span);
        let is = |kind: &&str| self.words.contains(kind);
        let word = ["replicated", "maximal", "manual", "unknown", "unreduced"].into_iter().find(is);
        let kind = match word {
            Some("maximal") => match self.devices.as_slice() {
                &[device] => ShardingKind::Maximal { device },
                list => return Err(invalid(ShardingError::MaximalDevice { found: list.len() }, devices_span)),
            },
            Some(kind) if !self.devices.is_empty() => {
                return Err(invalid(ShardingError::DevicesForbidden { kind }, devices_span));
            }
            Some("replicated") => ShardingKind::Replicated,
            Some("manual") => ShardingKind::Manual,
            Some("unknown") => ShardingKind::Unknown,
            Some(_) => ShardingKind::Unreduced,
            None => return self.tiled(span),
        };
        Ok(Sharding::from_kind(kind, self.metadata).with_shard_group(self.group))
    }

    fn tiled(self, span: Span) -> Result<Sharding> {
        let Some(tiles_span) = self.tiles_span else { return Err(invalid(ShardingError::NoKind, span)) };
        let subgroups_span = self.subgroups_span.unwrap_or(span);
        let mut subgroups = self.subgroups;
        if self.replicates_last {
            if !subgroups.is_empty() {
                return Err(invalid(ShardingError::ReplicateAndSubgroups, subgroups_span));
            }
            subgroups.push(Subgroup::Replicated);
        }
        let devices_span = self.devices_span.unwrap_or(span);
        let (devices, devices_span) = match self.iota_span {
            Some(iota_span) => {
                if !self.devices.is_empty() {
                    return Err(invalid(ShardingError::ListAndIota, devices_span));
                }
                let iota = Iota::new(&self.iota, &self.permutation).map_err(|error| invalid(error, iota_span))?;
                (Devices::Iota(iota), iota_span)
            }
            None if self.devices.len() <= 1 => return Err(invalid(ShardingError::OneDevice, devices_span)),
            None => (Devices::List(self.devices), devices_span),
        };
        let assignment = TileAssignment::new(self.tiles, devices).map_err(|error| {
            // The product of the tiles is the number of devices, so `TooManyDevices` is about the tiles. The other errors are about the devices.
            let is_tiles = matches!(error, ShardingError::TooManyDevices);
            invalid(error, if is_tiles { tiles_span } else { devices_span })
        })?;
        let sharding = Sharding::subgroups(assignment, &subgroups, Reduction::Sum, self.metadata);
        Ok(sharding.map_err(|error| invalid(error, subgroups_span))?.with_shard_group(self.group))
    }
}
