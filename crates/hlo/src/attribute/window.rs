//! Attribute values: windows, padding, slices, convolution labels and replica groups (`HloParserImpl::ParseWindow`,
//! `ParsePaddingConfig`, `ParseSliceRanges`, `ParseConvolutionDimensionNumbers` and `ParseReplicaGroupsOnly` in
//! `xla/hlo/parser/hlo_parser.cc`).

use super::{DimLabels, Labels, ReplicaGroups, Value, decimal};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::infer::{PaddingDimension, SliceDimension, WindowDimension};
use xla_shape_core::text::ParseError;

type Result<T> = core::result::Result<T, ParseError>;

pub(crate) fn window(value: Value<'_>) -> Result<Vec<WindowDimension>> {
    let what = "a window: `{size=3x3 stride=2x2 pad=1_1x1_1}`";
    let mut window = Vec::new();
    for (key, field) in value.fields()? {
        let wrong = || field.is_not(what);
        let entries: Vec<_> = field.text().split('x').collect();
        // The first field says how many dimensions there are; all others must agree with it.
        if window.is_empty() {
            window = vec![WindowDimension::ONE; entries.len()];
        }
        if window.len() != entries.len() {
            return Err(wrong());
        }
        for (dimension, entry) in window.iter_mut().zip(entries) {
            match key {
                "size" => dimension.size = decimal(entry).ok_or_else(wrong)?,
                "stride" => dimension.stride = decimal(entry).ok_or_else(wrong)?,
                "lhs_dilate" => dimension.base_dilation = decimal(entry).ok_or_else(wrong)?,
                "rhs_dilate" => dimension.window_dilation = decimal(entry).ok_or_else(wrong)?,
                "rhs_reversal" => dimension.reversal = decimal::<u64>(entry).ok_or_else(wrong)? != 0,
                "pad" => {
                    let padding = padding_entry(entry).filter(|padding| padding.interior == 0).ok_or_else(wrong)?;
                    (dimension.padding_low, dimension.padding_high) = (padding.low, padding.high);
                }
                _ => return Err(wrong()),
            }
        }
    }
    Ok(window)
}

/// Reads `low_high` or `low_high_interior`.
fn padding_entry(text: &str) -> Option<PaddingDimension> {
    let mut numbers = text.split('_');
    let (low, high) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    let interior = numbers.next().map_or(Some(0), decimal)?;
    numbers.next().is_none().then_some(PaddingDimension { low, high, interior })
}

pub(crate) fn padding(value: Value<'_>) -> Result<Vec<PaddingDimension>> {
    if value.text().is_empty() {
        return Ok(Vec::new());
    }
    let padding: Option<Vec<_>> = value.text().split('x').map(padding_entry).collect();
    padding.ok_or_else(|| value.is_not("padding: `low_high` or `low_high_interior`, with `x` between dimensions"))
}

pub(crate) fn slice(value: Value<'_>) -> Result<Vec<SliceDimension>> {
    let entry = |text: &str| {
        let inside = text.strip_prefix('[')?.strip_suffix(']')?;
        let mut numbers = inside.split(':').map(|number| decimal(number.trim_ascii()));
        let (start, limit) = (numbers.next()??, numbers.next()??);
        let stride = numbers.next().unwrap_or(Some(1))?;
        numbers.next().is_none().then_some(SliceDimension { start, limit, stride })
    };
    let wrong = |item: Value<'_>| item.is_not("a slice: `[start:limit]` or `[start:limit:stride]`");
    value.items()?.into_iter().map(|item| entry(item.text()).ok_or_else(|| wrong(item))).collect()
}

pub(crate) fn dim_labels(value: Value<'_>) -> Result<DimLabels> {
    let labels = || {
        let (operands, output) = value.text().split_once("->")?;
        let (input, kernel) = operands.split_once('_')?;
        Some(DimLabels {
            input: array_labels(input, b'b', b'f')?,
            kernel: array_labels(kernel, b'i', b'o')?,
            output: array_labels(output, b'b', b'f')?,
        })
    };
    labels().ok_or_else(|| value.is_not("labels of a convolution, such as `b01f_01io->b01f`"))
}

/// The dimensions with the labels `first` and `second`, and those with the labels 0, 1, ….
fn array_labels(text: &str, first: u8, second: u8) -> Option<Labels> {
    let of = |label: u8| {
        let mut places = text.bytes().enumerate().filter(|(_, byte)| *byte == label).map(|(place, _)| place);
        let place = places.next()?;
        places.next().is_none().then_some(place)
    };
    // `?` marks a dimension without a label.
    let unlabelled = text.bytes().filter(|&byte| byte == b'?').count();
    let spatial = u8::try_from(text.len().checked_sub(2)?.checked_sub(unlabelled)?).ok()?;
    // Each label is one digit.
    if spatial > 10 {
        return None;
    }
    let spatial: Option<Vec<_>> = (b'0'..b'0'.checked_add(spatial)?).map(of).collect();
    Some(Labels { first: of(first)?, second: of(second)?, spatial: spatial? })
}

pub(crate) fn replica_groups(value: Value<'_>) -> Result<ReplicaGroups<'_>> {
    if value.text().starts_with("mesh") {
        return Ok(ReplicaGroups::Mesh(value.text()));
    }
    if value.text().starts_with('[') {
        return iota(value.text()).ok_or_else(|| value.is_not("groups: `[groups,size]<=[dimensions]`"));
    }
    Ok(ReplicaGroups::Lists(value.items()?.into_iter().map(Value::numbers).collect::<Result<_>>()?))
}

fn iota(text: &str) -> Option<ReplicaGroups<'_>> {
    let numbers = |text: &str| text.split(',').map(|number| decimal(number.trim_ascii())).collect::<Option<Vec<_>>>();
    let (shape, rest) = text.strip_prefix('[')?.split_once("]<=[")?;
    let (dimensions, transposition) = rest.split_once(']')?;
    let permutation = match transposition {
        "" => None,
        text => Some(numbers(text.strip_prefix("T(")?.strip_suffix(')')?)?),
    };
    Some(ReplicaGroups::Iota { shape: numbers(shape)?, dimensions: numbers(dimensions)?, permutation })
}
