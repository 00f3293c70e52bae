//! The modules in a profile: an `XSpace` (`tsl/profiler/protobuf/xplane.proto`), as JAX's and TensorFlow's profilers write it.

use super::content::fields;
use super::wire::Record;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The modules that a profile holds, and the device on which they ran. The times of its events are not read.
///
/// ```
/// use xla_shape_hlo::proto::Profile;
///
/// // A space with one plane, which is called `/host:metadata` and is empty.
/// let space = [&[0x0a, 16, 0x12, 14], &b"/host:metadata"[..]].concat();
/// assert!(Profile::read(&space).unwrap().modules.is_empty());
/// assert!(Profile::read(b"HloModule m").is_none());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile<'p> {
    /// The name of each module, with the number of its program, and its message: an `HloProto`.
    pub modules: Vec<(&'p str, &'p [u8])>,
    /// What the profile calls the device, such as `TPU v6 Lite`; `None` if it does not say.
    pub device: Option<&'p str>,
}

/// The field numbers of `XSpace`, `XPlane`, the entries of its maps, `XEventMetadata`, `XStatMetadata` and `XStat`.
mod field {
    pub(super) const PLANES: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const EVENTS: u32 = 4;
    pub(super) const STAT_NAMES: u32 = 5;
    pub(super) const STATS: u32 = 6;
    pub(super) const VALUE: u32 = 2;
    pub(super) const ID: u32 = 1;
    pub(super) const STATS_OF_EVENT: u32 = 5;
    pub(super) const TEXT: u32 = 5;
    pub(super) const BYTES: u32 = 6;
}

/// Whether a message begins as the plane of a host or a device does: its name follows its number.
fn has_name_of_plane(plane: &[u8]) -> bool {
    let start = plane.get(..64).unwrap_or(plane);
    start.windows(6).any(|bytes| bytes == b"/host:") || start.windows(8).any(|bytes| bytes == b"/device:")
}

impl<'p> Profile<'p> {
    /// The profile in these bytes; `None` if they are not one. A part of it that cannot be read is left out.
    #[must_use]
    pub fn read(bytes: &'p [u8]) -> Option<Self> {
        let planes = fields(bytes)?.into_iter().filter(|(number, _)| *number == field::PLANES);
        // Other messages are not taken apart: that would take memory for each of their fields.
        let planes = planes.filter(|(_, plane)| has_name_of_plane(plane));
        let planes = planes.filter_map(|(_, plane)| Record::parse(plane).ok());
        let named = planes.filter_map(|plane| Some((plane.text(field::NAME).ok()?, plane))).collect::<Vec<_>>();
        named.iter().find(|(name, _)| name.starts_with("/host:") || name.starts_with("/device:"))?;
        let mut profile = Self { modules: Vec::new(), device: None };
        for (name, plane) in &named {
            if *name == "/host:metadata" {
                profile.add_modules(plane);
            } else if name.starts_with("/device:") && profile.device.is_none() {
                profile.device = device(plane);
            }
        }
        Some(profile)
    }

    /// Each event of this plane is about a module or a kernel; those of modules have a stat with the message.
    fn add_modules(&mut self, plane: &Record<'p>) {
        let names = stat_names(plane);
        for event in plane.each(field::EVENTS).filter_map(value_of_entry) {
            let Ok(name) = event.text(field::NAME) else { continue };
            let stats = event.each(field::STATS_OF_EVENT).filter_map(|stat| Record::parse(stat).ok());
            let message = stats.filter(|stat| {
                let name = names.get(&stat.number(field::ID));
                // Releases write the name in both ways.
                name.is_some_and(|name| matches!(*name, "Hlo Proto" | "hlo_proto"))
            });
            self.modules.extend(message.filter_map(|stat| Some((name, stat.bytes(field::BYTES)?))));
        }
    }
}

/// What a plane calls its device.
fn device<'p>(plane: &Record<'p>) -> Option<&'p str> {
    let names = stat_names(plane);
    let stats = plane.each(field::STATS).filter_map(|stat| Record::parse(stat).ok());
    let mut kinds = stats.filter(|stat| names.get(&stat.number(field::ID)) == Some(&"device_type_string"));
    kinds.find_map(|stat| stat.text(field::TEXT).ok().filter(|kind| !kind.is_empty()))
}

/// The names of a plane's stats, by number.
fn stat_names<'p>(plane: &Record<'p>) -> BTreeMap<i64, &'p str> {
    let named = plane.each(field::STAT_NAMES).filter_map(value_of_entry);
    named.filter_map(|stat| Some((stat.number(field::ID), stat.text(field::NAME).ok()?))).collect()
}

/// The value of an entry of a map.
fn value_of_entry(entry: &[u8]) -> Option<Record<'_>> {
    Record::parse(Record::parse(entry).ok()?.bytes(field::VALUE)?).ok()
}

#[cfg(test)]
mod tests {
    use super::Profile;
    use crate::Module;
    use alloc::vec::Vec;

    fn part(number: u8, content: &[u8]) -> Vec<u8> {
        let mut length = Vec::new();
        prost::encoding::encode_varint(content.len() as u64, &mut length);
        [&[number << 3 | 2], &length[..], content].concat()
    }

    #[test]
    fn the_modules_of_a_profile_are_found_by_their_stat() {
        let module =
            Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }").unwrap().to_proto().unwrap();
        let stat = |name: u8, content: Vec<u8>| [&[0x08, name], &content[..]].concat();
        let stat_name = |number: u8, name: &[u8]| {
            part(5, &[&[0x08, number], &part(2, &[&[0x08, number], &part(2, name)[..]].concat())[..]].concat())
        };
        let event = |name: &[u8], stat: Vec<u8>| {
            part(4, &[&[0x08, 1], &part(2, &[part(2, name), part(5, &stat)].concat())[..]].concat())
        };
        let metadata = [
            part(2, b"/host:metadata"),
            stat_name(7, b"Hlo Proto"),
            stat_name(6, b"llo_proto"),
            event(b"jit_f(3)", stat(7, part(6, &part(1, &module)))),
            event(b"jit_f(3)::fusion", stat(6, part(6, b"\x0a\x01k"))),
        ];
        let device = [
            part(2, b"/device:TPU:0"),
            stat_name(4, b"device_type_string"),
            part(6, &stat(4, part(5, b"TPU v6 Lite"))),
        ];
        let space = [part(1, &metadata.concat()), part(1, &device.concat()), part(4, b"host")].concat();
        let profile = Profile::read(&space).unwrap();
        assert_eq!(profile.device, Some("TPU v6 Lite"));
        let [(name, message)] = profile.modules[..] else { panic!("{profile:?}") };
        assert_eq!((name, Module::from_proto(message).unwrap().name()), ("jit_f(3)", Some("m")));
        // Bytes that end inside of a plane are no profile, and a module is none.
        assert!(Profile::read(&space[..space.len() - 8]).is_none());
        assert!(Profile::read(&module).is_none() && Profile::read(&part(1, &module)).is_none());
    }
}
