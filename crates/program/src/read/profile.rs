//! A program from a profile: which module it is, and how long its instructions took.

use super::{Contents, ReadError};
use std::cmp::Reverse;
#[cfg(feature = "files")]
use std::collections::BTreeMap;
use std::sync::Arc;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::Module;
use xla_shape_hlo::dump::BufferAssignment;
#[cfg(feature = "files")]
use xla_shape_hlo::profile::Run;
use xla_shape_hlo::profile::{Profile, ProfiledModule};

/// A profile, and which of its modules a program is.
#[derive(Clone, Debug)]
pub(crate) struct Profiled {
    pub(crate) profile: Arc<Profile>,
    module: usize,
}

impl Profiled {
    pub(crate) fn module(&self) -> Option<&ProfiledModule> {
        self.profile.modules().get(self.module)
    }
}

/// The module of a run that took the most time, from the profiles of its hosts. `name` is for errors.
pub(crate) fn program_of_hosts(name: &str, hosts: &[&[u8]]) -> Result<Contents, ReadError> {
    let mut profile = Profile::default();
    for host in hosts {
        profile.add(host).map_err(|error| ReadError::Profile { name: name.to_owned(), error })?;
    }
    program_of(name, Arc::new(profile), None)
}

/// The module of a profile that took the most time, or the one with this name. `name` is the file's name for errors.
pub(crate) fn program_of(name: &str, profile: Arc<Profile>, wanted: Option<&str>) -> Result<Contents, ReadError> {
    let number = match wanted {
        Some(wanted) => named(name, &profile, wanted)?,
        None => longest(&profile).ok_or_else(|| ReadError::Form {
            name: name.to_owned(),
            what: "this is a profile, and no module is in it. `xla-shape hlo` reads the *.hlo_proto.pb beside it; \
                   jax.profiler.trace writes a profile with the modules that ran while it was open",
        })?,
    };
    let found = &profile.modules()[number];
    let of_module = |error| ReadError::Message { name: format!("{name}: the module {}", found.name()), error };
    let message = found.message().ok_or_else(|| ReadError::NoModule {
        name: name.to_owned(),
        wanted: found.name().to_owned(),
        modules: names(&profile),
    })?;
    let module = Module::from_proto(message).map_err(of_module)?;
    let others = profile.modules().iter().enumerate().filter(|(other, _)| *other != number);
    let devices = found.runs().iter().filter_map(|run| profile.devices().get(run.device)).chain(profile.devices());
    Ok(Contents {
        assignment: BufferAssignment::from_proto(message).ok().flatten(),
        device: devices.filter_map(|device| device.kind.clone()).next(),
        others: others.map(|(_, other)| other.name().to_owned()).collect(),
        profile: Some(Profiled { profile: Arc::clone(&profile), module: number }),
        ..Contents::from(module)
    })
}

/// Among the modules with a message, the one that took the most time; of equal ones, the one with the longest message.
fn longest(profile: &Profile) -> Option<usize> {
    let all = profile.modules().iter().enumerate();
    let with_message = all.filter_map(|(number, module)| Some((number, module, module.message()?.len())));
    let best = with_message.max_by_key(|(number, module, length)| (module.picoseconds(), *length, Reverse(*number)));
    best.map(|(number, ..)| number)
}

/// The module with this name, with or without the number of its program.
fn named(name: &str, profile: &Profile, wanted: &str) -> Result<usize, ReadError> {
    let is_wanted = |module: &ProfiledModule| {
        let rest = module.name().strip_prefix(wanted);
        rest.is_some_and(|rest| rest.starts_with('(') && rest.ends_with(')'))
    };
    let exact = profile.modules().iter().position(|module| module.name() == wanted);
    let found = profile.modules().iter().enumerate().filter(|(_, module)| is_wanted(module));
    match (exact, found.map(|(number, _)| number).collect::<Vec<_>>().as_slice()) {
        (Some(number), _) | (None, &[number]) => Ok(number),
        (None, several) => {
            let several = several.iter().map(|number| profile.modules()[*number].name().to_owned());
            let several = several.collect::<Vec<_>>();
            let modules = if several.is_empty() { names(profile) } else { several };
            Err(ReadError::NoModule { name: name.to_owned(), wanted: wanted.to_owned(), modules })
        }
    }
}

/// One run for each device: on the first device, the run with the median time; on every other device, the run with the same number.
#[cfg(feature = "files")]
pub(crate) fn median_runs(runs: &[Run]) -> Vec<Run> {
    let mut by_device = BTreeMap::<usize, Vec<Run>>::new();
    for run in runs {
        by_device.entry(run.device).or_default().push(*run);
    }
    for runs in by_device.values_mut() {
        sort_by_key(runs, |run| run.start);
    }
    let Some(first) = by_device.values().next() else { return Vec::new() };
    let mut numbers = (0..first.len()).collect::<Vec<_>>();
    sort_by_key(&mut numbers, |number| first[*number].duration);
    let median = numbers[numbers.len() / 2];
    by_device.values().filter_map(|runs| runs.get(median).or(runs.last()).copied()).collect()
}

/// The names of the modules, those that took the most time first.
fn names(profile: &Profile) -> Vec<String> {
    let mut modules = profile.modules().iter().filter(|module| module.message().is_some()).collect::<Vec<_>>();
    sort_by_key(&mut modules, |module| Reverse(module.picoseconds()));
    modules.iter().map(|module| module.name().to_owned()).collect()
}
