//! A whole profile: its planes joined by module and device.

use super::device::{ProfiledDevice, device};
use super::error::ProfileError;
use super::events::{Event, add_asynchronous, add_line, busy_by_run};
use super::kept::{EventRow, Kept};
use super::line::{About, Clock, Kind, Raw, Stats, for_each, head, module_name, program_in, push, remembered};
use super::module::ProfiledModule;
use super::plane::{Plane, Result, each_in, field, text_in};
use super::reading::{EventOfTpu, Reading};
use super::times::{Doubts, Run};
use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::proto::wire::{Content, Fields};
use xla_shape_core::sorting::sort_by_key;

/// A profile: the modules that ran, the devices, and how long each instruction took.
///
/// ```
/// use xla_shape_hlo::profile::Profile;
///
/// // A space with one plane, which is called `/host:metadata` and is empty.
/// let space = [&[0x0a, 16, 0x12, 14], &b"/host:metadata"[..]].concat();
/// assert!(Profile::is_profile(&space) && Profile::read(&space)?.modules().is_empty());
/// assert!(!Profile::is_profile(b"HloModule m"));
/// # Ok::<(), xla_shape_hlo::profile::ProfileError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Profile {
    modules: Vec<ProfiledModule>,
    by_name: BTreeMap<String, u32>,
    devices: Vec<ProfiledDevice>,
    doubts: Doubts,
    kept: Kept,
}

/// Whether a message begins like the plane of a host or a device: with a number, and then a name such as `/device:TPU:0`.
fn has_name_of_plane(plane: &[u8]) -> bool {
    let start = plane.get(..64).unwrap_or(plane);
    start.windows(6).any(|bytes| bytes == b"/host:") || start.windows(8).any(|bytes| bytes == b"/device:")
}

/// The field of the planes in `XSpace`.
const PLANES: u8 = 0x0a;

impl Profile {
    /// Whether these bytes are a profile, or the beginning of one: a message whose first field is the plane of a host or a device.
    #[must_use]
    pub fn is_profile(bytes: &[u8]) -> bool {
        let Some((&PLANES, mut rest)) = bytes.split_first() else { return false };
        let length = xla_shape_core::proto::wire::varint(&mut rest);
        let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        has_name_of_plane(rest.get(..length).unwrap_or(rest))
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// If the bytes end inside of a plane, or a plane with modules or times is not a valid message.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut profile = Self::default();
        profile.add(bytes)?;
        Ok(profile)
    }

    /// Adds the profile of another host of the same run.
    ///
    /// # Errors
    /// As [`read`](Self::read). After an error, the planes before it have been added.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let mut fields = Fields::new(bytes);
        let mut before = 0_usize;
        while let Some(found) = fields.next() {
            let at = before as u64;
            let found = found.map_err(|_| ProfileError::truncated(at))?;
            before = bytes.len().saturating_sub(fields.rest().len());
            if let (1, Content::Bytes(plane)) = (found.number, found.content) {
                self.add_plane(plane).map_err(|error| error.at(at))?;
            }
        }
        Ok(())
    }

    /// Adds a plane of this profile, or of the profile of another host of the same run.
    ///
    /// ```
    /// use xla_shape_hlo::profile::Profile;
    ///
    /// let mut profile = Profile::default();
    /// profile.add_plane(&[&[0x12, 13], &b"/device:TPU:0"[..]].concat())?;
    /// profile.add_plane(&[&[0x12, 13], &b"/device:TPU:1"[..]].concat())?;
    /// assert_eq!(profile.devices().len(), 2);
    /// # Ok::<(), xla_shape_hlo::profile::ProfileError>(())
    /// ```
    ///
    /// # Errors
    /// If a plane with modules or times is not a valid message.
    pub fn add_plane(&mut self, plane: &[u8]) -> Result<()> {
        // Planes of other kinds are not read.
        if !has_name_of_plane(plane) {
            return Ok(());
        }
        let mut plane = Plane::read(plane)?;
        let is_device = ["/device:TPU:", "/device:GPU:", "/host:CPU"].iter().any(|kind| plane.name.starts_with(kind));
        // Each host numbers its own devices, and each has a clock of its own.
        let of_other_host = is_device.then(|| self.name_on_other_host(plane.name)).flatten();
        plane.unique_name = of_other_host.map_or(Cow::Borrowed(plane.name), Cow::Owned);
        let added = match plane.name {
            "/host:metadata" => self.add_modules(&plane),
            _ if is_device => self.add_device(&plane),
            _ => Ok(()),
        };
        self.kept.leave_out();
        added.map_err(|error| error.of_plane(plane.name))
    }

    /// The modules, in the order of the profile.
    #[must_use]
    pub fn modules(&self) -> &[ProfiledModule] {
        &self.modules
    }

    /// The devices.
    #[must_use]
    pub fn devices(&self) -> &[ProfiledDevice] {
        &self.devices
    }

    /// An empty profile that will keep single events, for a second pass: add the same files to it again. `runs` are runs of one module of
    /// this profile. The new profile keeps the `most` longest events of these runs; if `runs` is empty, of the whole module.
    ///
    /// ```
    /// use xla_shape_hlo::profile::{EventRow, KeptEvent, Profile};
    ///
    /// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/v6e.xplane.pb"));
    /// let profile = Profile::read(bytes)?;
    /// let module = &profile.modules()[0];
    /// let mut again = profile.keeping(module, &module.runs()[1..2], 1000);
    /// again.add(bytes)?;
    /// let row: &EventRow = &again.events()[0];
    /// assert_eq!((row.device, row.line.as_str()), (0, "XLA Ops"));
    /// let event: KeptEvent = row.events[0];
    /// assert_eq!((event.instruction, event.duration), (0, 75_785_000));
    /// assert_eq!((row.events.len(), again.events_left_out()), (1, 0));
    /// # Ok::<(), xla_shape_hlo::profile::ProfileError>(())
    /// ```
    #[must_use]
    pub fn keeping(&self, module: &ProfiledModule, runs: &[Run], most: usize) -> Self {
        let plane = |run: &Run| self.devices.get(run.device).map_or("", ProfiledDevice::plane);
        let start = |run: &Run| runs.iter().filter(|other| plane(other) == plane(run)).map(|run| run.start).min();
        let runs = runs.iter().map(|run| (*run, start(run).unwrap_or(run.start))).collect();
        Self { kept: Kept::new(&module.name, runs, most), ..Self::default() }
    }

    /// The events that are kept, by device and line.
    #[must_use]
    pub fn events(&self) -> &[EventRow] {
        self.kept.rows()
    }

    /// How many events of the runs are not kept, because there were too many longer ones.
    #[must_use]
    pub const fn events_left_out(&self) -> u64 {
        self.kept.left_out()
    }

    /// What is not counted, and what may be counted wrongly.
    #[must_use]
    pub const fn doubts(&self) -> Doubts {
        self.doubts
    }

    /// A new name for a device's plane if an earlier plane has the same name, because it comes from another host.
    fn name_on_other_host(&self, name: &str) -> Option<String> {
        let is_taken = |name: &str| self.devices.iter().any(|device| device.plane() == name);
        let mut host = 1_usize;
        let mut found = None;
        while is_taken(found.as_deref().unwrap_or(name)) {
            host += 1;
            found = Some(format!("{name} of host {host}"));
        }
        found
    }

    fn module(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        let number = self.modules.len() as u32;
        self.modules.push(ProfiledModule { name: name.to_owned(), ..ProfiledModule::default() });
        self.by_name.insert(name.to_owned(), number);
        number
    }

    fn module_mut(&mut self, number: u32) -> Option<&mut ProfiledModule> {
        self.modules.get_mut(number as usize)
    }

    /// Adds the modules of this plane. Each of its events describes a module or a kernel; a module's event has a stat with its message.
    fn add_modules(&mut self, plane: &Plane<'_>) -> Result<()> {
        // The name of the stat depends on the release.
        let messages = ["Hlo Proto", "hlo_proto"].map(|name| plane.number_of(name));
        for &event in plane.events.values() {
            for stat in each_in(event, field::METADATA_STATS) {
                if let Some((id, super::plane::Value::Bytes(message))) = plane.stat(stat?)?
                    && messages.contains(&Some(id))
                {
                    let number = self.module(text_in(event, field::METADATA_NAME)?);
                    if let Some(module) = self.module_mut(number) {
                        module.message = Some(message.to_owned());
                    }
                }
            }
        }
        Ok(())
    }

    fn add_device(&mut self, plane: &Plane<'_>) -> Result<()> {
        let stats = Stats::of(plane);
        let mut lines = Vec::new();
        for &line in &plane.lines {
            let (name, begin) = head(line)?;
            lines.extend(Kind::of(plane.name, name).map(|kind| (kind, line, begin, name)));
        }
        // The runs of programs are read before the instructions in them.
        sort_by_key(&mut lines, |(kind, ..)| *kind != Kind::Programs);
        let first = lines.first().map_or(0, |(_, _, begin, _)| *begin);
        if plane.name.starts_with("/device:") {
            self.devices.push(device(plane)?);
        }
        let mut reading = Reading {
            plane,
            stats: &stats,
            runs: Vec::new(),
            busy: Vec::new(),
            spans: Vec::new(),
            known: BTreeMap::new(),
            of_cpu: BTreeMap::new(),
            kernels: BTreeMap::new(),
        };
        for (kind, line, begin, name) in lines {
            self.kept.begin_line(name, kind == Kind::Asynchronous);
            let clock = Clock { line: begin, plane: first };
            match kind {
                Kind::Programs => self.add_programs(&mut reading, line, clock)?,
                Kind::Instructions => self.add_instructions(&mut reading, line, clock, false)?,
                Kind::Asynchronous => self.add_instructions(&mut reading, line, clock, true)?,
                Kind::Mixed => self.add_mixed(&mut reading, line, clock)?,
            }
        }
        // The kernels of one instruction follow each other.
        let mut first = (0, 0, 0);
        for (&(module, instruction, _), &count) in &reading.kernels {
            if (first.0, first.1) != (module, instruction) || first.2 == 0 {
                first = (module, instruction, count);
                continue;
            }
            let times = self.module_mut(module).and_then(|module| module.instructions.get_mut(instruction as u32));
            if let Some(times) = times {
                times.note_kernel(first.2, count);
            }
        }
        let Reading { mut runs, mut busy, .. } = reading;
        busy_by_run(&mut busy, |run, time| {
            if let Some((_, run)) = runs.get_mut(run as usize) {
                run.busy = time;
            }
        });
        for (module, run) in runs {
            if let Some(module) = self.module_mut(module) {
                module.runs.push(run);
            }
        }
        Ok(())
    }

    /// The runs of programs on a TPU.
    fn add_programs<'p>(&mut self, reading: &mut Reading<'_, 'p>, line: &'p [u8], clock: Clock) -> Result<()> {
        let device = self.devices.len().saturating_sub(1);
        let (plane, stats, mut doubts) = (reading.plane, reading.stats, self.doubts);
        let mut names = BTreeMap::new();
        for_each(plane, stats, line, clock, &mut doubts, |raw| {
            let module =
                remembered(
                    &mut names,
                    raw.metadata,
                    || Ok(self.module(About::read(plane, stats, raw.metadata)?.name)),
                )?;
            let Raw { start, duration, .. } = raw;
            reading.spans.push((start, start.saturating_add_unsigned(duration), reading.runs.len() as u32));
            reading.runs.push((module, Run { device, start, duration, busy: 0 }));
            Ok(())
        })?;
        self.doubts = doubts;
        reading.spans.sort_unstable();
        Ok(())
    }

    /// The instructions of a TPU.
    fn add_instructions<'p>(
        &mut self,
        reading: &mut Reading<'_, 'p>,
        line: &'p [u8],
        clock: Clock,
        is_asynchronous: bool,
    ) -> Result<()> {
        let (plane, stats, mut doubts) = (reading.plane, reading.stats, self.doubts);
        let mut events = Vec::new();
        let mut programs = BTreeMap::new();
        for module in &self.modules {
            programs.extend(program_in(&module.name).zip(self.by_name.get(&module.name).copied()));
        }
        for_each(plane, stats, line, clock, &mut doubts, |raw| {
            let run = reading.run_at(raw.start);
            let module = run.and_then(|run| reading.runs.get(run as usize)).map(|(module, _)| *module);
            let known =
                remembered(&mut reading.known, EventOfTpu { is_asynchronous, metadata: raw.metadata, module }, || {
                    let about = About::read(plane, stats, raw.metadata)?;
                    // The message about the event names its program. In older profiles it does not; the program is then that of the run around the
                    // event.
                    let of_program = about.program.and_then(|program| programs.get(&program).copied());
                    let Some(number) = of_program.or(module) else { return Ok(None) };
                    let Some(module) = self.module_mut(number) else { return Ok(None) };
                    let times = if is_asynchronous { &mut module.asynchronous } else { &mut module.instructions };
                    let instruction = times.number(about.name);
                    if let Some(times) = times.get_mut(instruction) {
                        times.flops = about.flops;
                    }
                    Ok(Some((number, instruction)))
                })?;
            #[expect(clippy::arithmetic_side_effects, reason = "each event counts once")]
            let Some((of, instruction)) = known else {
                self.doubts.unassigned += 1;
                return Ok(());
            };
            let run = run.filter(|_| module == Some(of));
            let Raw { start, duration, flops, .. } = raw;
            if is_asynchronous {
                let event = Event { start, duration, module: of, instruction, run };
                let device = self.devices.len().saturating_sub(1);
                let Some(module) = self.modules.get_mut(of as usize) else { return Ok(()) };
                self.kept.add(&event, device, &module.name);
                return module
                    .asynchronous
                    .get_mut(instruction)
                    .map_or(Ok(()), |times| add_asynchronous(times, duration));
            }
            if let Some(times) = self.module_mut(of).and_then(|module| module.instructions.get_mut(instruction)) {
                times.flops = times.flops.or(flops);
            }
            push(&mut events, Event { start, duration, module: of, instruction, run })
        })?;
        doubts.unassigned = self.doubts.unassigned;
        self.add_events(&mut events, doubts, reading)
    }

    /// The instructions among the events of a thread of a CPU, or of a stream of a GPU.
    fn add_mixed<'p>(&mut self, reading: &mut Reading<'_, 'p>, line: &'p [u8], clock: Clock) -> Result<()> {
        let (plane, stats, mut doubts) = (reading.plane, reading.stats, self.doubts);
        let is_cpu = plane.name.starts_with("/host:");
        let of_gpu = self.devices.len().saturating_sub(1);
        let mut events = Vec::new();
        let mut names = BTreeMap::new();
        for_each(plane, stats, line, clock, &mut doubts, |raw| {
            let Some(name) = raw.instruction else { return Ok(()) };
            let known = remembered(&mut names, (name, raw.module, raw.program), || {
                let Some(of) = raw.module else { return Ok(None) };
                let number = self.module(&module_name(of, raw.program));
                Ok(self.module_mut(number).map(|module| (number, module.instructions.number(name))))
            })?;
            #[expect(clippy::arithmetic_side_effects, reason = "each event counts once")]
            let Some((module, instruction)) = known else {
                self.doubts.unassigned += 1;
                return Ok(());
            };
            if !is_cpu {
                let count = reading.kernels.entry((module, instruction.into(), raw.metadata)).or_default();
                *count = count.saturating_add(1);
            }
            let Raw { start, duration, .. } = raw;
            let run = raw.run.map(|run| {
                let end = start.saturating_add_unsigned(duration);
                let key = (module, run, raw.device);
                let number = *reading.of_cpu.entry(key).or_insert_with(|| {
                    let device = if is_cpu { self.device_of_cpu(&plane.unique_name, raw.device) } else { of_gpu };
                    reading.runs.push((module, Run { device, start, duration, busy: 0 }));
                    reading.runs.len().saturating_sub(1) as u32
                });
                if let Some((_, run)) = reading.runs.get_mut(number as usize) {
                    let last = run.start.saturating_add_unsigned(run.duration).max(end);
                    run.start = run.start.min(start);
                    run.duration = last.abs_diff(run.start);
                }
                number
            });
            push(&mut events, Event { start, duration, module, instruction, run })
        })?;
        doubts.unassigned = self.doubts.unassigned;
        self.add_events(&mut events, doubts, reading)
    }

    /// The number of a device of this host's CPU.
    fn device_of_cpu(&mut self, plane: &str, ordinal: u64) -> usize {
        let name = format!("{plane}, device {ordinal}");
        self.devices.iter().position(|device| device.name == name).unwrap_or_else(|| {
            self.devices.push(ProfiledDevice { name, ..ProfiledDevice::default() });
            self.devices.len().saturating_sub(1)
        })
    }

    fn add_events(&mut self, events: &mut [Event], mut doubts: Doubts, reading: &mut Reading<'_, '_>) -> Result<()> {
        let last = self.devices.len().saturating_sub(1);
        let runs = &reading.runs;
        add_line(events, &mut doubts, &mut reading.busy, |event, own| {
            let Some(module) = self.modules.get_mut(event.module as usize) else { return Ok(()) };
            let run = event.run.and_then(|run| runs.get(run as usize));
            self.kept.add(event, run.map_or(last, |(_, run)| run.device), &module.name);
            let times = module.instructions.get_mut(event.instruction);
            times.map_or(Ok(()), |times| times.add(event.duration, own))
        })?;
        self.doubts = doubts;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;
    use crate::Module;
    use crate::profile::{Doubts, ProfileErrorKind};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn number(field: u8, number: u64) -> Vec<u8> {
        let mut bytes = Vec::from([field << 3]);
        prost::encoding::encode_varint(number, &mut bytes);
        bytes
    }

    fn part(field: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from([field << 3 | 2]);
        prost::encoding::encode_varint(content.len() as u64, &mut bytes);
        [bytes, content.to_vec()].concat()
    }

    fn entry(field: u8, key: u64, value: &[u8]) -> Vec<u8> {
        part(field, &[number(1, key), part(2, value)].concat())
    }

    fn stat_name(key: u64, name: &str) -> Vec<u8> {
        entry(5, key, &part(2, name.as_bytes()))
    }

    fn event_name(key: u64, name: &str, stats: &[u8]) -> Vec<u8> {
        entry(4, key, &[&part(2, name.as_bytes()), stats].concat())
    }

    fn line(name: &str, nanoseconds: u64, events: &[[u64; 3]]) -> Vec<u8> {
        let events = events.iter().map(|&[metadata, offset, duration]| {
            part(4, &[number(1, metadata), number(2, offset), number(3, duration)].concat())
        });
        part(3, &[part(2, name.as_bytes()), number(3, nanoseconds), events.collect::<Vec<_>>().concat()].concat())
    }

    /// Two runs of `jit_f(3)` with a loop of two turns, and one of `jit_g(4)`, of which an instruction names the program.
    fn tpu() -> Vec<u8> {
        let parts = [
            part(2, b"/device:TPU:0"),
            stat_name(1, "program_id"),
            stat_name(2, "device_type_string"),
            stat_name(3, "peak_hbm_bw_gigabytes_per_second"),
            part(6, &[number(1, 2), part(5, b"TPU v6 Lite")].concat()),
            part(6, &[&number(1, 3)[..], &[0x11], &1637.5_f64.to_le_bytes()].concat()),
            event_name(1, "jit_f(3)", &[]),
            event_name(2, "%while.1 = s32[] while(s32[] %c)", &[]),
            event_name(3, "%copy.2 = f32[8] copy(f32[8] %p)", &[]),
            event_name(4, "jit_g(4)", &[]),
            event_name(5, "%copy.2 = f32[8] copy(f32[8] %p)", &part(5, &[number(1, 1), number(3, 4)].concat())),
            // The instructions stand before the runs, and begin 1 ns later.
            line(
                "XLA Ops",
                1,
                &[[2, 0, 90], [3, 10, 20], [3, 40, 30], [2, 1000, 80], [3, 1010, 20], [3, 9000, 7], [5, 5000, 40]],
            ),
            line("XLA Modules", 0, &[[1, 1000, 100], [1, 2000, 90], [4, 6000, 50]]),
            line("Async XLA Ops", 0, &[[3, 1000, 500]]),
            line("Steps", 0, &[[1, 0, 7000]]),
        ];
        parts.concat()
    }

    #[test]
    fn instructions_belong_to_the_program_that_runs() {
        let profile = Profile::read(&part(1, &tpu())).unwrap();
        let device = &profile.devices()[0];
        assert_eq!((device.kind.as_deref(), device.bytes_per_second), (Some("TPU v6 Lite"), Some(1_637_500_000_000)));
        let [f, g] = profile.modules() else { panic!("two modules") };
        let times = |module: &super::ProfiledModule| {
            let of = module.instructions().map(|(name, times)| (name.to_string(), times.count, times.total, times.own));
            of.collect::<Vec<_>>()
        };
        assert_eq!(times(f), [("while.1".into(), 2, 170, 100), ("copy.2".into(), 3, 70, 70)]);
        assert_eq!(times(g), [("copy.2".into(), 1, 40, 40)]);
        let runs = |module: &super::ProfiledModule| {
            module.runs().iter().map(|run| (run.start, run.duration, run.busy)).collect::<Vec<_>>()
        };
        assert_eq!((runs(f), runs(g)), (Vec::from([(1000, 100, 90), (2000, 90, 80)]), Vec::from([(6000, 50, 40)])));
        let (name, copy) = f.asynchronous().next().unwrap();
        assert_eq!((name, copy.total), ("copy.2", 500));
        // One event does not name its program, and no program runs at its time. It is not counted.
        assert_eq!(profile.doubts(), Doubts { unassigned: 1, ..Doubts::default() });
    }

    #[test]
    fn instructions_of_a_cpu_are_named_by_their_stats() {
        let names = ["hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "dot.1", "jit_f"];
        let names = names.iter().zip(1..).map(|(name, key)| stat_name(key, name)).collect::<Vec<_>>().concat();
        let event = |offset, duration, run, device| {
            let stats = [
                part(4, &[number(1, 1), number(7, 6)].concat()),
                part(4, &[number(1, 2), number(7, 7)].concat()),
                part(4, &[number(1, 3), number(4, 9)].concat()),
                part(4, &[number(1, 4), number(4, run)].concat()),
                part(4, &[number(1, 5), number(4, device)].concat()),
            ];
            part(4, &[number(1, 1), number(2, offset), number(3, duration), stats.concat()].concat())
        };
        let other = part(4, &[number(1, 1), number(3, 1000)].concat());
        let backwards = part(4, &[number(1, 1), number(3, u64::MAX)].concat());
        let first = [event(0, 10, 1, 0), event(100, 30, 2, 0), event(0, 8, 1, 1), other, backwards].concat();
        let plane =
            [part(2, b"/host:CPU"), names, part(3, &first), part(3, &[number(3, 0), event(5, 20, 1, 0)].concat())];
        let profile = Profile::read(&part(1, &plane.concat())).unwrap();
        let [module] = profile.modules() else { panic!("one module") };
        assert_eq!((module.name(), module.picoseconds()), ("jit_f(9)", 25 + 30 + 8));
        let runs = module.runs().iter().map(|run| (run.device, run.duration, run.busy)).collect::<Vec<_>>();
        assert_eq!(runs, [(0, 25, 25), (0, 30, 30), (1, 8, 8)]);
        let (name, dot) = module.instructions().next().unwrap();
        assert_eq!((name, dot.count, dot.shortest, dot.longest, dot.mean()), ("dot.1", 4, 8, 30, 17));
        assert_eq!(profile.devices()[1].name, "/host:CPU, device 1");
        assert_eq!(profile.doubts(), Doubts { impossible: 1, ..Doubts::default() });
        // Another host has other devices, even if their names are the same.
        let mut both = profile.clone();
        both.add_plane(&plane.concat()).unwrap();
        assert_eq!(both.devices()[2].name, "/host:CPU of host 2, device 0");
        let devices = both.modules()[0].runs().iter().map(|run| run.device).collect::<Vec<_>>();
        assert_eq!(devices, [0, 0, 1, 2, 2, 3]);
    }

    #[test]
    fn kernels_of_a_gpu_are_named_by_annotations() {
        let names =
            ["hlo_op", "hlo_module", "program_id", "fusion.1", "jit_f", "12", "memory_bandwidth", "gpu_device_name"];
        let names = names.iter().zip(1..).map(|(name, key)| stat_name(key, name)).collect::<Vec<_>>().concat();
        let kernel = |name, offset, duration| {
            let stats = [1_u64, 2, 3].map(|key| part(4, &[number(1, key), number(7, key.saturating_add(3))].concat()));
            part(4, &[number(1, name), number(2, offset), number(3, duration), stats.concat()].concat())
        };
        let stream = |name: &str, events: &[u8]| part(3, &[&part(2, name.as_bytes()), events].concat());
        let plane = [
            part(2, b"/device:GPU:0"),
            names,
            part(6, &[number(1, 7), number(3, 4_800_000_000_000)].concat()),
            part(6, &[number(1, 8), part(5, b"NVIDIA H200")].concat()),
            stream("Stream #13(Compute)", &[kernel(1, 0, 5), kernel(1, 5, 7)].concat()),
            stream("Stream #14(MemcpyD2D)", &[kernel(2, 3, 4), kernel(2, 7, 2)].concat()),
            // Other tools add this line, which repeats the same kernels.
            stream("XLA Ops", &kernel(1, 0, 12)),
        ];
        let profile = Profile::read(&part(1, &plane.concat())).unwrap();
        let [module] = profile.modules() else { panic!("one module") };
        let (name, times) = module.instructions().next().unwrap();
        assert_eq!((module.name(), name, times.count, times.own), ("jit_f(12)", "fusion.1", 4, 18));
        // Two kernels are one execution.
        assert_eq!((times.executions(), times.mean_of_executions()), (Some(2), Some(9)));
        assert!(module.runs().is_empty());
        let device = &profile.devices()[0];
        assert_eq!((device.kind.as_deref(), device.bytes_per_second), (Some("NVIDIA H200"), Some(4_800_000_000_000)));
    }

    #[test]
    fn the_modules_of_a_profile_are_found_by_their_stat() {
        let text = "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }";
        let message = Module::parse(text).unwrap().to_proto().unwrap();
        let stat = |name: u64, content: &[u8]| part(5, &[number(1, name), part(6, content)].concat());
        let metadata = [
            part(2, b"/host:metadata"),
            stat_name(7, "Hlo Proto"),
            stat_name(6, "llo_proto"),
            event_name(1, "jit_f(3)", &stat(7, &part(1, &message))),
            event_name(2, "jit_f(3)::fusion", &stat(6, b"\x0a\x01k")),
        ];
        let space = [part(1, &tpu()), part(1, &metadata.concat()), part(4, b"host")].concat();
        let profile = Profile::read(&space).unwrap();
        let found = profile.modules().iter().filter_map(|module| Some((module.name(), module.message()?)));
        let [(name, message)] = found.collect::<Vec<_>>()[..] else { panic!("{profile:?}") };
        assert_eq!((name, Module::from_proto(message).unwrap().name()), ("jit_f(3)", Some("m")));
        assert!(!Profile::is_profile(&part(1, &Module::parse(text).unwrap().to_proto().unwrap())));
    }

    #[test]
    fn a_profile_that_is_cut_off_or_damaged_is_an_error_that_says_where() {
        let whole = [part(1, &tpu()), part(1, &tpu())].concat();
        let second = (whole.len() / 2) as u64;
        for end in 1..whole.len() {
            let (read, is_between) = (Profile::read(&whole[..end]), end as u64 == second);
            let error = read.err().map(|error| (error.kind().clone(), error.byte()));
            let expected = (ProfileErrorKind::Truncated, if end as u64 > second { second } else { 0 });
            assert_eq!(error, (!is_between).then_some(expected), "{end}");
        }
        let plane = |rest: &[u8]| part(1, &[&part(2, b"/device:TPU:0"), rest].concat());
        let message = |rest: &[u8]| Profile::read(&plane(rest)).unwrap_err().to_string();
        assert!(message(&[0x1a, 9, 0]).starts_with("the profile's plane \"/device:TPU:0\" at byte 0: "));
        assert!(message(&part(3, &part(2, b"\xff"))).ends_with("expected names in UTF-8, found other bytes"));
        let long = [
            event_name(1, "a(1)", &[]),
            line("XLA Modules", 0, &[[1, 0, 9]]),
            line("XLA Ops", 0, &[[1, 0, 1 << 62]; 4]),
        ];
        assert!(message(&long.concat()).contains("at most 213 days together"));
        // A name of a megabyte is valid, and an event whose name is missing counts under the empty name.
        let name = "n".repeat(1 << 20);
        let long = [
            event_name(1, &name, &[]),
            line("XLA Modules", 0, &[[1, 0, 9]]),
            line("XLA Ops", 0, &[[1, 0, 5], [8, 5, 1]]),
        ];
        let profile = Profile::read(&plane(&long.concat())).unwrap();
        let names =
            profile.modules()[0].instructions().map(|(name, times)| (name.len(), times.own)).collect::<Vec<_>>();
        assert_eq!(names, [(1 << 20, 5), (0, 1)]);
        assert!(Profile::read(&[]).unwrap().modules().is_empty());
    }
}
