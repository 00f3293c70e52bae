//! Encodes an instruction's attributes as fields of its message.

use super::error::{HloProtoError, unrepresentable};
use super::literal::with_shape;
use super::message::{instruction_field as field, *};
use super::origin::original_value;
use crate::attribute::{Alias, DimLabels, ReplicaGroups, Value};
use crate::parsed::Accuracy;
use crate::parsed::Data;
use crate::schema::attribute::METADATA;
use crate::schema::{Key, Kind};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use xla_shape_core::infer::WindowDimension;
use xla_shape_core::proto::{OpShardingProto, ShapeProto};
use xla_shape_core::sorting::sort_by_key;

type Result<T> = core::result::Result<T, HloProtoError>;

/// A field: the numbers of the enclosing fields and its own, and where its content is.
struct Part {
    path: &'static [u32],
    wire_type: WireType,
    content: Range<usize>,
}

/// The fields of a message and of messages nested in it, in any order.
#[derive(Default)]
pub(crate) struct Fields {
    parts: Vec<Part>,
    contents: Vec<u8>,
}

impl Fields {
    /// Adds a field with the content that `write` appends.
    fn add(&mut self, path: &'static [u32], wire_type: WireType, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.contents.len();
        write(&mut self.contents);
        self.parts.push(Part { path, wire_type, content: start..self.contents.len() });
    }

    /// Adds a number, unless it is 0, the default.
    pub(crate) fn number(&mut self, path: &'static [u32], number: i64) {
        if number != 0 {
            self.any_number(path, number);
        }
    }

    fn any_number(&mut self, path: &'static [u32], number: i64) {
        self.add(path, WireType::Varint, |to| encode_varint(number as u64, to));
    }

    fn float(&mut self, path: &'static [u32], number: f32) {
        if number != 0.0 {
            self.add(path, WireType::ThirtyTwoBit, |to| to.extend_from_slice(&number.to_le_bytes()));
        }
    }

    /// Adds bytes, unless they are empty, the default.
    pub(crate) fn bytes(&mut self, path: &'static [u32], bytes: &[u8]) {
        if !bytes.is_empty() {
            self.any_bytes(path, bytes);
        }
    }

    pub(crate) fn any_bytes(&mut self, path: &'static [u32], bytes: &[u8]) {
        self.add(path, WireType::LengthDelimited, |to| to.extend_from_slice(bytes));
    }

    /// Adds a packed list of numbers, unless it is empty.
    pub(crate) fn list(&mut self, path: &'static [u32], numbers: impl IntoIterator<Item = i64>) {
        let mut numbers = numbers.into_iter().peekable();
        if numbers.peek().is_some() {
            self.add(path, WireType::LengthDelimited, |to| numbers.for_each(|number| encode_varint(number as u64, to)));
        }
    }

    pub(crate) fn message(&mut self, path: &'static [u32], message: &impl Message) {
        self.any_bytes(path, &message.encode_to_vec());
    }

    /// Adds a message for each row, with the row's numbers in the fields 1, 2, ….
    fn rows<const COUNT: usize>(&mut self, path: &'static [u32], rows: impl IntoIterator<Item = [i64; COUNT]>) {
        for row in rows {
            self.add(path, WireType::LengthDelimited, |to| {
                for (number, field) in row.into_iter().zip(1_u32..).filter(|(number, _)| *number != 0) {
                    encode_key(field, WireType::Varint, to);
                    encode_varint(number as u64, to);
                }
            });
        }
    }

    /// Whether there is a field with this path, or one nested in it.
    pub(crate) fn has(&self, path: &[u32]) -> bool {
        self.parts.iter().any(|part| part.path.starts_with(path))
    }

    /// Adds an empty message, unless there is one.
    pub(crate) fn ensure(&mut self, path: &'static [u32]) {
        if !self.has(path) {
            self.any_bytes(path, &[]);
        }
    }

    /// Encodes the message, with the fields sorted by number.
    pub(crate) fn encode(mut self) -> Vec<u8> {
        sort_by_key(&mut self.parts, |part| part.path);
        let mut bytes = Vec::with_capacity(self.contents.len() + self.parts.len() * 3);
        self.encode_parts(&self.parts, 0, &mut bytes);
        bytes
    }

    /// Encodes fields nested in `depth` messages.
    fn encode_parts(&self, parts: &[Part], depth: usize, to: &mut Vec<u8>) {
        let number = |part: &Part| part.path.get(depth).copied().unwrap_or(0);
        for parts in parts.chunk_by(|a, b| number(a) == number(b)) {
            // An empty message that `ensure` added sorts before its fields.
            let inside = parts.partition_point(|part| part.path.len() <= depth + 1);
            let (whole, parts) = parts.split_at_checked(inside).unwrap_or((parts, &[]));
            for part in whole.iter().filter(|part| parts.is_empty() || !part.content.is_empty()) {
                let content = self.contents.get(part.content.clone()).unwrap_or(&[]);
                encode_key(number(part), part.wire_type, to);
                if part.wire_type == WireType::LengthDelimited {
                    encode_varint(content.len() as u64, to);
                }
                to.extend_from_slice(content);
            }
            if let Some(first) = parts.first() {
                let mut inner = Vec::new();
                self.encode_parts(parts, depth + 1, &mut inner);
                encode_key(number(first), WireType::LengthDelimited, to);
                encode_varint(inner.len() as u64, to);
                to.extend_from_slice(&inner);
            }
        }
    }

    /// Sets the field of an attribute. References to computations and instructions are set elsewhere, by id.
    pub(crate) fn set(&mut self, key: Key, value: Value<'_>) -> Result<()> {
        self.set_field(key.name(), key.kind(), key.field(), value)
    }

    fn set_field(&mut self, name: &str, kind: Kind, path: &'static [u32], value: Value<'_>) -> Result<()> {
        let nowhere = || unrepresentable(&format!("the attribute `{name}`"));
        let around = path.split_last().map_or(path, |(_, around)| around);
        // If an attribute occurs twice, the last one counts.
        self.parts.retain(|part| part.path != path);
        match kind.read(value)? {
            // Messages have no field for these two: XLA ignores the attribute `mode` with a device mode, and an `Empty` attribute must have no
            // fields.
            Data::Word(..) if path.is_empty() && matches!(kind, Kind::Mode(_)) => {}
            Data::Whole(value) if matches!(kind, Kind::Empty) && value.fields()?.is_empty() => {}
            _ if path.is_empty() => return Err(nowhere()),
            Data::Flag(flag) => self.number(path, flag.into()),
            Data::Flags(flags) => {
                self.ensure(around);
                self.list(path, flags.into_iter().map(i64::from));
            }
            Data::Number(number) => match kind {
                Kind::Single => self.list(path, [number]),
                Kind::Optional32 => self.any_number(path, number),
                _ => self.number(path, number),
            },
            Data::Numbers(numbers) => self.list(path, ints(&numbers)),
            Data::Integers(numbers) => self.list(path, numbers),
            Data::Nested(numbers) => self.list(path, ints(&numbers.concat())),
            Data::Float(number) => self.float(path, number as f32),
            Data::Bytes(bytes) => match kind {
                Kind::Text | Kind::Thread => self.bytes(path, value.string()?.as_bytes()),
                Kind::Payload => self.message(path, &Payload { value: Some(bytes.into_owned()), id: None }),
                _ => self.bytes(path, &bytes),
            },
            Data::Word(number, word) => match kind {
                Kind::Spelled(_) | Kind::Order(_) => self.bytes(path, word.as_bytes()),
                Kind::Mode(_) => self.ensure(path),
                _ => self.number(path, number as i64),
            },
            Data::Words(numbers) => self.list(path, ints(&numbers)),
            Data::Name(name) if matches!(kind, Kind::AnyWord) => self.bytes(path, name.as_bytes()),
            Data::Name(_) | Data::Names(_) => {}
            Data::Window(window) => {
                self.ensure(around);
                self.rows(path, window.into_iter().map(window_row));
            }
            Data::Padding(padding) => {
                self.ensure(around);
                self.rows(path, padding.into_iter().map(|of| [of.low, of.high, of.interior as i64]));
            }
            Data::Slices(slices) => {
                self.rows(
                    path,
                    slices.into_iter().map(|of| [of.start, of.limit, of.stride].map(|number| number as i64)),
                );
            }
            Data::DimLabels(labels) => self.message(path, &labels_proto(&labels)),
            Data::Groups(ReplicaGroups::Lists(pairs)) if matches!(kind, Kind::Pairs) => {
                for pair in pairs {
                    let &[source, target] = pair.as_slice() else {
                        return Err(value.is_not("pairs: `{{source,target}}`").into());
                    };
                    self.rows(path, [[source as i64, target as i64]]);
                }
            }
            Data::Groups(groups) => self.groups(groups, value)?,
            Data::Sharding(sharding) => self.message(path, &OpShardingProto::from(&*sharding)),
            Data::Shapes(shapes) => {
                if matches!(kind, Kind::Shapes) {
                    self.number(Key::ConstrainLayout.field(), 1);
                }
                shapes.iter().for_each(|shape| self.message(path, &ShapeProto::from(shape)));
            }
            Data::Aliases(aliases) => aliases.iter().for_each(|alias| self.message(path, &alias_proto(alias))),
            Data::Domain(shardings) => {
                let [entry, exit] = &*shardings;
                // Entry and exit are swapped between message and text.
                self.message(path, &OpShardingProto::from(exit));
                self.message(&[field::DOMAIN_EXIT], &OpShardingProto::from(entry));
            }
            Data::Origin(origin) => self.message(path, &original_value(origin)),
            Data::Accuracy(accuracy) => self.message(path, &accuracy_proto(accuracy)),
            Data::Statistics(_, statistics) if statistics.is_empty() && value.fields()?.is_empty() => {}
            Data::Statistics(stat_index_to_visualize, statistics) => {
                let statistic = |(name, stat_val): (&str, f64)| Statistic { stat_name: name.to_owned(), stat_val };
                let statistics = statistics.into_iter().map(statistic).collect();
                self.message(path, &StatisticsViz { stat_index_to_visualize, statistics });
            }
            Data::Fields(fields) if matches!(kind, Kind::Metadata) => {
                let mut metadata = Self::default();
                for (name, field) in fields {
                    let row = METADATA.iter().find(|(known, ..)| *known == name);
                    let unknown = || unrepresentable(&format!("the field `{name}` of `metadata`"));
                    let (_, kind, path) = row.ok_or_else(unknown)?;
                    metadata.set_field(name, *kind, path, field)?;
                }
                self.any_bytes(path, &metadata.encode());
            }
            Data::Fields(fields) => self.message(path, &frontend_attributes(fields)?),
            Data::Whole(value) if matches!(kind, Kind::Literal) => self.message(path, &with_shape(value.text())?),
            Data::Whole(value) => match kind {
                Kind::Word(words) => return Err(value.is_not(words.what).into()),
                _ => return Err(nowhere()),
            },
            Data::Donors(_) | Data::Program(_) => return Err(nowhere()),
        }
        Ok(())
    }

    fn groups(&mut self, groups: ReplicaGroups<'_>, value: Value<'_>) -> Result<()> {
        match groups {
            ReplicaGroups::Lists(lists) => {
                let groups = lists.iter().map(|list| ReplicaGroup { replica_ids: ints(list).collect() });
                self.message(&[field::GROUPS], &CollectiveDeviceListProto { replica_groups: groups.collect() });
            }
            ReplicaGroups::Iota { shape, dimensions, permutation } => {
                let &[groups, size] = shape.as_slice() else {
                    return Err(value.is_not("groups: `[groups,size]<=[dimensions]`").into());
                };
                let permutation = permutation.unwrap_or_else(|| (0..dimensions.len()).collect());
                let iota = IotaReplicaGroupListProto {
                    num_replica_groups: groups as i64,
                    num_devices_per_group: size as i64,
                    iota_reshape_dims: ints(&dimensions).collect(),
                    iota_transpose_perm: permutation.into_iter().map(|entry| entry as i32).collect(),
                };
                self.message(&[field::IOTA_GROUPS], &iota);
            }
            ReplicaGroups::Mesh(_) => {
                let wrong = || value.is_not("groups along axes of a mesh: `mesh['x'=2,'y'=2] {'x'}`");
                let named = OpShardingProto::from(&value.mesh_groups()?).named_sharding.ok_or_else(wrong)?;
                let axes = named.dim_shardings.into_iter().next().map(|dimension| dimension.axes);
                let mesh = MeshAxesReplicaGroupListProto { mesh: named.mesh, axes: axes.ok_or_else(wrong)? };
                self.message(&[field::MESH_GROUPS], &mesh);
            }
        }
        Ok(())
    }
}

fn ints(list: &[usize]) -> impl Iterator<Item = i64> {
    list.iter().map(|&entry| entry as i64)
}

/// Encodes `frontend_attributes`.
pub(crate) fn frontend_attributes(fields: Vec<(&str, Value<'_>)>) -> Result<FrontendAttributes> {
    let entry = |(key, value): (&str, Value<'_>)| -> Result<_> {
        Ok(FrontendAttributesMapEntry { key: key.to_owned(), value: value.unquoted()?.into_owned() })
    };
    Ok(FrontendAttributes { map: fields.into_iter().map(entry).collect::<Result<_>>()? })
}

/// The fields of a `WindowDimension` message, in order.
const fn window_row(of: WindowDimension) -> [i64; 7] {
    let WindowDimension { size, stride, padding_low, padding_high, base_dilation, window_dilation, reversal } = of;
    let [size, stride] = [size as i64, stride as i64];
    [size, stride, padding_low, padding_high, window_dilation as i64, base_dilation as i64, reversal as i64]
}

fn labels_proto(labels: &DimLabels) -> ConvolutionDimensionNumbers {
    ConvolutionDimensionNumbers {
        input_batch_dimension: labels.input.first as i64,
        input_feature_dimension: labels.input.second as i64,
        input_spatial_dimensions: ints(&labels.input.spatial).collect(),
        kernel_input_feature_dimension: labels.kernel.first as i64,
        kernel_output_feature_dimension: labels.kernel.second as i64,
        kernel_spatial_dimensions: ints(&labels.kernel.spatial).collect(),
        output_batch_dimension: labels.output.first as i64,
        output_feature_dimension: labels.output.second as i64,
        output_spatial_dimensions: ints(&labels.output.spatial).collect(),
    }
}

fn alias_proto(alias: &Alias) -> OutputOperandAliasing {
    OutputOperandAliasing {
        output_shape_index: ints(&alias.result_index).collect(),
        operand_index: alias.parameter as i64,
        operand_shape_index: ints(&alias.parameter_index).collect(),
    }
}

fn accuracy_proto(accuracy: Accuracy) -> ResultAccuracy {
    match accuracy {
        Accuracy::Default => ResultAccuracy { mode: Some(0), tolerance: None },
        Accuracy::Highest => ResultAccuracy { mode: Some(1), tolerance: None },
        Accuracy::Tolerance { atol, rtol, ulps } => {
            ResultAccuracy { mode: None, tolerance: Some(ResultAccuracyTolerance { atol, rtol, ulps }) }
        }
    }
}
