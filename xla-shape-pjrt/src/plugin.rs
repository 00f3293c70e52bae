//! A plug-in: loaded, checked, started.

use crate::abi::{Api, PluginAttributesArgs, PluginInitializeArgs};
use crate::deadline::within;
use crate::error::{Error, LOADING, Result};
use crate::find;
use crate::property::{Properties, properties};
use crate::table::Functions;
use crate::version::Version;
use libloading::Library;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A PJRT plug-in, ready to be asked: the compiler of XLA for some kind of devices.
///
/// It stays loaded until the process ends; copies are the same plug-in, and may be used by several threads.
///
/// ```no_run
/// use xla_shape_pjrt::Plugin;
/// use xla_shape::ElementType;
///
/// let plugin = Plugin::find()?; // libtpu, as `pip install libtpu` brings it
/// let topology = plugin.topology(&"v5e:2x2".parse()?)?;
/// let layout = topology.default_layout(ElementType::F32, &[100, 200])?;
/// assert_eq!(layout.to_string(), "{0,1:T(8,128)}");
/// # Ok::<(), xla_shape_pjrt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plugin {
    inner: Arc<Inner>,
    /// How long it may take to make a topology.
    time_limit: Option<Duration>,
}

#[derive(Debug)]
struct Inner {
    functions: Functions,
    name: String,
    path: Option<PathBuf>,
}

/// What a plug-in may take to start, or to make a topology, if nobody says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a plug-in is loaded.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    devices: bool,
    environment: bool,
    time_limit: Option<Duration>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { devices: false, environment: true, time_limit: Some(PATIENCE) }
    }
}

impl LoadOptions {
    /// What [`Plugin::load`] does.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For a program that opens the devices of this machine (with [`Client`](crate::Client)), not only compiles: libtpu's lock
    /// keeps other processes away from them.
    #[must_use]
    pub const fn for_devices(self) -> Self {
        Self { devices: true, ..self }
    }

    /// Sets no environment variables.
    ///
    /// Otherwise the [variables](Self::variables) that libtpu needs are set before the plug-in starts, if this thread is the only
    /// one of the process: C code may read the environment in another thread at that moment. So a program with threads starts
    /// with the variables, or loads the plug-in first. Threads are counted on Linux, and elsewhere nothing is set.
    #[must_use]
    pub const fn leave_environment(self) -> Self {
        Self { environment: false, ..self }
    }

    /// The environment variables that libtpu needs and that are not set yet, such as for
    /// [`Command::envs`](std::process::Command::envs) of a process that loads it.
    ///
    /// These are `TPU_SKIP_MDS_QUERY=1`, without which libtpu waits ten minutes for a server that tells about TPUs;
    /// `ALLOW_MULTIPLE_LIBTPU_LOAD=1` where no devices are opened, without which only one process may compile at a time; and
    /// `TPU_MIN_LOG_LEVEL=3`, `TPU_STDERR_LOG_LEVEL=3` and, where no devices are opened, `TPU_ACCELERATOR_TYPE=v5litepod-1` and
    /// `TPU_WORKER_HOSTNAMES=localhost`, without which libtpu's notes come to standard error. (They do not say for which TPU is
    /// compiled.)
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let always = [("TPU_SKIP_MDS_QUERY", "1"), ("TPU_MIN_LOG_LEVEL", "3"), ("TPU_STDERR_LOG_LEVEL", "3")];
        // The last two would be asked of the machine's metadata server, and their absence complained about.
        let without_devices = [
            ("ALLOW_MULTIPLE_LIBTPU_LOAD", "1"),
            ("TPU_ACCELERATOR_TYPE", "v5litepod-1"),
            ("TPU_WORKER_HOSTNAMES", "localhost"),
        ];
        let without_devices = without_devices.into_iter().filter({
            let devices = self.devices;
            move |_| !devices
        });
        always.into_iter().chain(without_devices).filter(|(name, _)| env::var_os(name).is_none())
    }

    /// How long the plug-in may take to start, and later to make a [topology](Plugin::topology); a minute if this is not called, no limit if `None`.
    #[must_use]
    pub const fn time_limit(self, limit: Option<Duration>) -> Self {
        Self { time_limit: limit, ..self }
    }

    /// Finds a plug-in as [`Plugin::find`] does, and loads it.
    ///
    /// # Errors
    /// Same as [`Plugin::find`].
    pub fn find(&self) -> Result<Plugin> {
        self.load(find::plugin()?)
    }

    /// Loads a plug-in as [`Plugin::load`] does.
    ///
    /// # Errors
    /// Same as [`Plugin::load`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Plugin> {
        load(path.as_ref(), self)
    }
}

/// The plug-ins that are loaded: each is started once.
static LOADED: Mutex<BTreeMap<PathBuf, Plugin>> = Mutex::new(BTreeMap::new());

fn load(path: &Path, options: &LoadOptions) -> Result<Plugin> {
    let refused = |reason: String| Error::Load { path: path.to_owned(), reason };
    let path = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plugin) = loaded.get(&path) {
        return Ok(Plugin { time_limit: options.time_limit, ..plugin.clone() });
    }
    if is_only_thread() {
        for (name, value) in to_set(options) {
            // SAFETY: no other thread is there that could read the environment meanwhile, and only this one could start any.
            unsafe { env::set_var(name, value) };
        }
    }
    let plugin = within(options.time_limit, LOADING, {
        let path = path.clone();
        move || open(&path)
    })?;
    let plugin = Plugin { time_limit: options.time_limit, ..plugin };
    loaded.insert(path, plugin.clone());
    Ok(plugin)
}

fn open(path: &Path) -> Result<Plugin> {
    let refused = |error: libloading::Error| Error::Load { path: path.to_owned(), reason: error.to_string() };
    // SAFETY: loading runs the file's own code. Whoever names a file as a plug-in trusts it, as one trusts a program to run.
    let library = unsafe { Library::new(path) }.map_err(refused)?;
    // SAFETY: in a plug-in, the function of this name has this type; that the file is one is what its user says.
    let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const Api>(b"GetPjrtApi\0") };
    let entry = *entry.map_err(|_| Error::NotAPlugin {
        plugin: path.display().to_string(),
        reason: "it has no function GetPjrtApi".to_owned(),
    })?;
    // Its threads may run as long as the process does.
    std::mem::forget(library);
    // SAFETY: as above; the library is never unloaded.
    let api = unsafe { entry() };
    // SAFETY: this is what `GetPjrtApi` returned.
    unsafe { Plugin::start(api, path.display().to_string(), Some(path.to_owned())) }
}

/// The variables that are set before a plug-in starts.
fn to_set(options: &LoadOptions) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    options.environment.then(|| options.variables()).into_iter().flatten()
}

/// Whether no other thread of this process is known to be there, of Rust or not. Linux says so.
fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

impl Plugin {
    /// Finds a plug-in and loads it: the file that `PJRT_PLUGIN` or `TPU_LIBRARY_PATH` names, or else libtpu in the Python
    /// environment that is active (`VIRTUAL_ENV`, `CONDA_PREFIX`, or that of `python3`).
    ///
    /// # Errors
    /// If there is none, the variable names a file that is not there, or it cannot be [loaded](Self::load).
    pub fn find() -> Result<Self> {
        LoadOptions::new().find()
    }

    /// Loads a plug-in from a file, or gives the one that was loaded from it before.
    ///
    /// The file's code runs in this process: load only what you would run as a program. Where this is the only thread, environment
    /// variables are set that libtpu needs ([`LoadOptions::leave_environment`] says more, and prevents it); a program with threads
    /// starts with them.
    ///
    /// # Errors
    /// If the file is not there, is not a plug-in, has another major version of the interface or an older version than
    /// [`Version::OLDEST`], is loaded by another process and wants to be alone, or does not start within a minute.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        LoadOptions::new().load(path)
    }

    /// A plug-in that is linked to this program, by its table of functions; it is started.
    ///
    /// # Errors
    /// Same as [`load`](Self::load), as far as that is about the table.
    ///
    /// # Safety
    /// `api` is null, or what the plug-in's `GetPjrtApi` returned: a table that is as long as its first field says, whose
    /// extensions are too, which has the functions of the interface and lives until the process ends.
    pub unsafe fn from_api(name: &str, api: *const Api) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::start(api, name.to_owned(), None) }
    }

    /// # Safety
    /// Like [`from_api`](Self::from_api).
    unsafe fn start(api: *const Api, name: String, path: Option<PathBuf>) -> Result<Self> {
        // SAFETY: the caller's promise.
        let functions = unsafe { Functions::new(api, &name) }?;
        if functions.has(&Api::PJRT_Plugin_Initialize) {
            // SAFETY: the call takes nothing.
            unsafe { functions.call(&Api::PJRT_Plugin_Initialize, PluginInitializeArgs::default()) }?;
        }
        Ok(Self { inner: Arc::new(Inner { functions, name, path }), time_limit: Some(PATIENCE) })
    }

    /// How long the plug-in may take to make a topology.
    pub(crate) const fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.inner.functions
    }

    /// The file, or the name that was given to [`from_api`](Self::from_api).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The file that it was loaded from.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// The plug-in's version of the interface.
    #[must_use]
    pub fn version(&self) -> Version {
        self.inner.functions.version()
    }

    /// What the plug-in says of itself, such as `xla_version` and `stablehlo_current_version`.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn attributes(&self) -> Result<Properties> {
        let call = &Api::PJRT_Plugin_Attributes;
        // SAFETY: the call takes nothing.
        let args = unsafe { self.functions().call(call, PluginAttributesArgs::default()) }?;
        // SAFETY: the attributes live as long as the process.
        unsafe { properties(call.name, args.attributes, args.num_attributes) }
    }
}

#[cfg(test)]
mod tests {
    use super::{LoadOptions, to_set};

    #[test]
    fn options_say_which_variables_are_set() {
        let names = |options: LoadOptions| to_set(&options).map(|(name, _)| name).collect::<Vec<_>>();
        let usual = names(LoadOptions::new());
        assert_eq!(usual, LoadOptions::new().variables().map(|(name, _)| name).collect::<Vec<_>>());
        // Whoever opens devices keeps libtpu's lock, and lets it ask where it runs.
        let for_compiling = ["ALLOW_MULTIPLE_LIBTPU_LOAD", "TPU_ACCELERATOR_TYPE", "TPU_WORKER_HOSTNAMES"];
        let expected = usual.iter().copied().filter(|name| !for_compiling.contains(name)).collect::<Vec<_>>();
        assert_eq!(names(LoadOptions::new().for_devices()), expected);
        assert_eq!(names(LoadOptions::new().leave_environment()), [""; 0]);
        assert_eq!(names(LoadOptions::new().for_devices().leave_environment()), [""; 0]);
    }
}
