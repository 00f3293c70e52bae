//! The events of one line: which instruction of which module each is about, and when it ran.

use super::error::{ProfileError, ProfileErrorKind};
use super::events::Event;
use super::plane::{Plane, Result, Value, bytes_in, each_in, field, text_in};
use super::times::Doubts;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::format;
use alloc::vec::Vec;
use xla_shape_core::proto::wire::{Content, Fields};

/// How many events of one line are read at most: in memory, they take 1.3 GB.
const MOST_EVENTS: usize = 1 << 25;

/// The picoseconds in a nanosecond.
const NANOSECOND: i128 = 1000;

/// What a line contains, as its name and its plane say (`xla/tsl/profiler/utils/xplane_schema.cc`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Runs of programs on a TPU.
    Programs,
    /// Instructions on a TPU, inside of the runs.
    Instructions,
    /// Asynchronous instructions on a TPU, such as copies and collectives, which run at the same time as the others.
    Asynchronous,
    /// Anything on a CPU or a GPU. Events of instructions have a stat that names the instruction.
    Mixed,
}

impl Kind {
    /// `None` if the line has no instructions, or only repeats those of other lines.
    pub(super) fn of(plane: &str, line: &str) -> Option<Self> {
        match line {
            "XLA Modules" if plane.starts_with("/device:TPU:") => Some(Self::Programs),
            "XLA Ops" if plane.starts_with("/device:TPU:") => Some(Self::Instructions),
            "Async XLA Ops" if plane.starts_with("/device:TPU:") => Some(Self::Asynchronous),
            _ if plane.starts_with("/device:TPU:") => None,
            // Lines that tools derive from the lines of streams.
            "XLA Modules" | "XLA Ops" | "Async XLA Ops" | "XLA TraceMe" | "Steps" | "Source code" => None,
            _ if line.starts_with("Framework ") || line.starts_with("TensorFlow ") => None,
            _ if plane.starts_with("/device:GPU:") || plane.starts_with("/host:CPU") => Some(Self::Mixed),
            _ => None,
        }
    }
}

/// The numbers of the stats that matter, in one plane.
pub(super) struct Stats {
    device_offset: Option<u64>,
    device_duration: Option<u64>,
    instruction: Option<u64>,
    module: Option<u64>,
    program: Option<u64>,
    run: Option<u64>,
    device: Option<u64>,
    flops: Option<u64>,
}

impl Stats {
    pub(super) fn of(plane: &Plane<'_>) -> Self {
        let number = |name| plane.number_of(name);
        Self {
            device_offset: number("device_offset_ps"),
            device_duration: number("device_duration_ps"),
            instruction: number("hlo_op"),
            module: number("hlo_module"),
            program: number("program_id"),
            run: number("run_id"),
            device: number("device_ordinal"),
            flops: number("flops"),
        }
    }
}

/// One event as it is written.
#[derive(Default)]
pub(super) struct Raw<'p> {
    pub(super) metadata: u64,
    pub(super) start: i64,
    pub(super) duration: u64,
    /// What the stats say.
    pub(super) instruction: Option<&'p str>,
    pub(super) module: Option<&'p str>,
    pub(super) program: Option<u64>,
    pub(super) run: Option<u64>,
    pub(super) device: u64,
    pub(super) flops: Option<u64>,
}

/// The times from which a line's offsets are computed: the beginning of the line, and the beginning of the plane's first line, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub(super) line: i64,
    pub(super) plane: i64,
}

/// The name of a line and its beginning in nanoseconds.
pub(super) fn head(line: &[u8]) -> Result<(&str, i64)> {
    let mut begin = 0;
    for found in Fields::new(line) {
        let found = found?;
        if let (field::LINE_NANOSECONDS, Content::Number(number)) = (found.number, found.content) {
            begin = number as i64;
        }
    }
    Ok((text_in(line, field::LINE_NAME)?, begin))
}

/// Calls `take` with each event of a line that has possible times.
pub(super) fn for_each<'p>(
    plane: &Plane<'p>,
    stats: &Stats,
    line: &'p [u8],
    clock: Clock,
    doubts: &mut Doubts,
    mut take: impl FnMut(Raw<'p>) -> Result<()>,
) -> Result<()> {
    #[expect(clippy::arithmetic_side_effects, reason = "each event counts once")]
    for message in each_in(line, field::LINE_EVENTS) {
        match event(plane, stats, message?, clock)? {
            Some(event) => take(event)?,
            None => doubts.impossible += 1,
        }
    }
    Ok(())
}

/// `None` if the times are impossible.
fn event<'p>(plane: &Plane<'p>, stats: &Stats, message: &'p [u8], clock: Clock) -> Result<Option<Raw<'p>>> {
    let mut raw = Raw::default();
    let (mut offset, mut duration) = (0_i64, 0_i64);
    let (mut device_offset, mut device_duration) = (None, None);
    for found in Fields::new(message) {
        let found = found?;
        match (found.number, found.content) {
            (field::EVENT_METADATA, Content::Number(number)) => raw.metadata = number,
            (field::EVENT_OFFSET, Content::Number(number)) => offset = number as i64,
            (field::EVENT_DURATION, Content::Number(number)) => duration = number as i64,
            (field::EVENT_STATS, Content::Bytes(bytes)) => {
                let Some((id, value)) = plane.stat(bytes)? else { continue };
                let id = Some(id);
                // If the plane does not name a stat, the stat is not one of these.
                if id == stats.device_offset {
                    device_offset = value.number().map(|number| number as i64);
                } else if id == stats.device_duration {
                    device_duration = value.number().map(|number| number as i64);
                } else if id == stats.instruction {
                    raw.instruction = value.text();
                } else if id == stats.module {
                    raw.module = value.text();
                } else if id == stats.program {
                    // In a profile of a GPU, the number is written as text.
                    raw.program = value.number().or_else(|| value.text()?.parse().ok());
                } else if id == stats.run {
                    raw.run = value.number();
                } else if id == stats.device {
                    raw.device = value.number().unwrap_or(0);
                } else if id == stats.flops {
                    raw.flops = value.number();
                }
            }
            _ => {}
        }
    }
    // If there are times by the device's own clock, they are used: they are finer, and all lines of the plane have the same clock.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the sum of three numbers of 64 bits, two of them times a thousand, fits in an `i128`"
    )]
    let start = match (device_offset, device_duration) {
        (Some(own_offset), Some(own_duration)) => {
            duration = own_duration;
            i128::from(own_offset)
        }
        _ => (i128::from(clock.line) - i128::from(clock.plane)) * NANOSECOND + i128::from(offset),
    };
    #[expect(clippy::arithmetic_side_effects, reason = "one number of 64 bits more fits, too")]
    let end = start + i128::from(duration);
    let (Ok(start), Ok(_), Ok(duration)) = (i64::try_from(start), i64::try_from(end), u64::try_from(duration)) else {
        return Ok(None);
    };
    Ok(Some(Raw { start, duration, ..raw }))
}

/// The instruction that an event of a TPU is about, and its program, as the message about the event names them.
pub(super) struct About<'p> {
    pub(super) name: &'p str,
    pub(super) program: Option<u64>,
    pub(super) flops: Option<u64>,
}

impl<'p> About<'p> {
    pub(super) fn read(plane: &Plane<'p>, stats: &Stats, metadata: u64) -> Result<Self> {
        let Some(&message) = plane.events.get(&metadata) else {
            return Ok(Self { name: "", program: None, flops: None });
        };
        let mut about = Self { name: name(message)?, program: None, flops: None };
        for bytes in each_in(message, field::METADATA_STATS) {
            let Some((id, value)) = plane.stat(bytes?)? else { continue };
            if Some(id) == stats.program {
                about.program = value.number();
            } else if Some(id) == stats.flops {
                about.flops = value.number();
            }
        }
        Ok(about)
    }
}

/// The short name of an event, such as `fusion.3` for `%fusion.3 = f32[8] fusion(…)`.
fn name(message: &[u8]) -> Result<&str> {
    let display = bytes_in(message, field::METADATA_DISPLAY_NAME)?.unwrap_or_default();
    if !display.is_empty() {
        return text_in(message, field::METADATA_DISPLAY_NAME);
    }
    let name = text_in(message, field::METADATA_NAME)?;
    let name = name.split_once(" = ").map_or(name, |(name, _)| name);
    Ok(name.strip_prefix('%').unwrap_or(name))
}

/// The name that a profile gives a module. It ends with the number of the module's program, which distinguishes modules of the same name.
pub(super) fn module_name<'p>(name: &'p str, program: Option<u64>) -> Cow<'p, str> {
    program.map_or(Cow::Borrowed(name), |program| Cow::Owned(format!("{name}({program})")))
}

/// The number of the program in a module's name, as in `jit_f(6)`.
pub(super) fn program_in(name: &str) -> Option<u64> {
    name.strip_suffix(')')?.rsplit_once('(')?.1.parse().ok()
}

/// Adds an event, unless there are too many.
pub(super) fn push(events: &mut Vec<Event>, event: Event) -> Result<()> {
    if events.len() >= MOST_EVENTS {
        return Err(ProfileError::new(ProfileErrorKind::TooManyEvents { most: MOST_EVENTS }));
    }
    events.push(event);
    Ok(())
}

/// Returns the value for a key. Calls `find` only if the map does not have the key yet, and remembers the result.
pub(super) fn remembered<K: Ord, V: Copy>(
    map: &mut BTreeMap<K, V>,
    key: K,
    find: impl FnOnce() -> Result<V>,
) -> Result<V> {
    match map.entry(key) {
        Entry::Occupied(found) => Ok(*found.get()),
        Entry::Vacant(place) => Ok(*place.insert(find()?)),
    }
}

/// A stat of the plane, such as the device's peak rate, multiplied by a factor.
pub(super) fn scaled(value: Option<Value<'_>>, factor: f64) -> Option<u64> {
    let scaled = value?.real()? * factor;
    (scaled >= 1.0 && scaled < u64::MAX as f64).then_some(scaled as u64)
}
