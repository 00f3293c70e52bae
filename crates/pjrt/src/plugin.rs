//! Loading a plug-in, checking its table of functions, and starting it.

use crate::abi::{Api, PluginAttributesArgs, PluginInitializeArgs};
use crate::deadline::within;
use crate::error::{Error, LOADING, Result};
use crate::find::{self, Kind};
use crate::property::{Properties, properties};
use crate::table::Functions;
use crate::target::Target;
use crate::version::Version;
use libloading::Library;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A loaded PJRT plug-in: XLA's compiler and runtime for one kind of devices.
///
/// It stays loaded until the process ends. Clones share the same plug-in, and may be used from several threads.
///
/// ```no_run
/// use xla_shape_pjrt::Plugin;
/// use xla_shape::ElementType;
///
/// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
/// let plugin = unsafe { Plugin::find() }?;
/// let topology = plugin.topology(&"v5e:2x2".parse()?)?;
/// let layout = topology.default_layout(ElementType::F32, &[100, 200])?;
/// assert_eq!(layout.to_string(), "{0,1:T(8,128)}");
/// # Ok::<(), xla_shape_pjrt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plugin {
    inner: Arc<LoadedPlugin>,
    /// The time limit for making a topology.
    time_limit: Option<Duration>,
}

#[derive(Debug)]
struct LoadedPlugin {
    functions: Functions,
    name: String,
    path: Option<PathBuf>,
}

/// The default time limit for starting a plug-in, and for making a topology.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// Options for loading a plug-in.
///
/// ```no_run
/// use std::time::Duration;
/// use xla_shape_pjrt::LoadOptions;
///
/// let options = LoadOptions::new().for_devices().time_limit(Some(Duration::from_secs(300)));
/// // SAFETY: we trust the plug-in that is installed on this machine.
/// let plugin = unsafe { options.find() }?;
/// # Ok::<(), xla_shape_pjrt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoadOptions {
    devices: bool,
    environment: bool,
    time_limit: Option<Duration>,
    python: Option<PathBuf>,
    kind: Kind,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { devices: false, environment: true, time_limit: Some(DEFAULT_TIME_LIMIT), python: None, kind: Kind::Tpu }
    }
}

impl LoadOptions {
    /// The options of [`Plugin::load`]: the plug-in opens no devices, and the time limit is a minute.
    ///
    /// ```
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// let options = LoadOptions::new().time_limit(None);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads the plug-in for a program that not only compiles, but also opens the devices of this machine with [`Client`](crate::Client). libtpu then
    /// takes its lock, so that no other process uses the devices.
    ///
    /// ```
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// let mut variables = LoadOptions::new().for_devices().variables();
    /// assert!(variables.all(|(name, _)| name != "ALLOW_MULTIPLE_LIBTPU_LOAD"));
    /// ```
    #[must_use]
    pub fn for_devices(self) -> Self {
        Self { devices: true, ..self }
    }

    /// Does not set environment variables.
    ///
    /// By default, the [variables](Self::variables) that libtpu needs are set before the plug-in starts, but only if the process has a
    /// single thread: C code in another thread could read the environment at the same time, which is undefined behaviour. A program
    /// with several threads should be started with the variables, or load the plug-in before it starts threads. Only Linux reports the
    /// number of threads; on other systems, no variables are set.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// let options = LoadOptions::new().leave_environment();
    /// // SAFETY: we trust the plug-in that is installed on this machine.
    /// let plugin = unsafe { options.find() }?;
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    #[must_use]
    pub fn leave_environment(self) -> Self {
        Self { environment: false, ..self }
    }

    /// The environment variables that plug-ins need and that are not set yet. Pass them to
    /// [`Command::envs`](std::process::Command::envs) of a process that loads it.
    ///
    /// | variable | without it |
    /// |---|---|
    /// | `TPU_SKIP_MDS_QUERY=1` | libtpu waits ten minutes for Google Cloud's metadata server |
    /// | `ALLOW_MULTIPLE_LIBTPU_LOAD=1` (not [for devices](Self::for_devices)) | only one process may compile at a time |
    /// | `TPU_MIN_LOG_LEVEL=3`, `TPU_STDERR_LOG_LEVEL=3` | libtpu writes its log to standard error |
    /// | `TF_CPP_MIN_LOG_LEVEL=3` | the plug-in for GPUs writes its log to standard error |
    /// | `TPU_ACCELERATOR_TYPE=v5litepod-1`, `TPU_WORKER_HOSTNAMES=localhost` (not for devices) | libtpu complains on standard error that they are missing; they do not restrict the TPUs for which programs are compiled |
    ///
    /// ```no_run
    /// use std::process::Command;
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// Command::new("my-compiler").envs(LoadOptions::new().variables()).spawn()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let always = [
            ("TPU_SKIP_MDS_QUERY", "1"),
            ("TPU_MIN_LOG_LEVEL", "3"),
            ("TPU_STDERR_LOG_LEVEL", "3"),
            ("TF_CPP_MIN_LOG_LEVEL", "3"),
        ];
        // Without the last two, libtpu asks the metadata server for them, and logs an error if there is no server.
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

    /// The time limit for starting the plug-in, and later for making a [topology](Plugin::topology); `None` for no limit. The default
    /// is a minute.
    ///
    /// ```
    /// use std::time::Duration;
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// let options = LoadOptions::new().time_limit(Some(Duration::from_secs(300)));
    /// ```
    #[must_use]
    pub fn time_limit(self, limit: Option<Duration>) -> Self {
        Self { time_limit: limit, ..self }
    }

    /// The Python interpreter whose packages [`find`](Self::find) searches before the packages of active environments. If Python runs this program,
    /// give that interpreter.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// // SAFETY: we trust the packages of this interpreter.
    /// let plugin = unsafe { LoadOptions::new().python("/opt/venv/bin/python").find() }?;
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    #[must_use]
    pub fn python(self, interpreter: impl Into<PathBuf>) -> Self {
        Self { python: Some(interpreter.into()), ..self }
    }

    /// The devices that the plug-in must be able to compile for: those of a TPU, if this is not called. [`find`](Self::find) then finds the plug-in
    /// for these devices. For GPUs, that is the one that `pip install jax-cuda13-pjrt` installs (`jax-cuda12-pjrt` for GPUs that CUDA 13 does not
    /// support).
    ///
    /// ```no_run
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// println!("{}", LoadOptions::new().target(&"h100".parse()?).path()?.display()); // …/jax_plugins/xla_cuda13/xla_cuda_plugin.so
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    #[must_use]
    pub fn target(self, target: &Target) -> Self {
        Self { kind: Kind::of(target), ..self }
    }

    /// The program `ptxas` that a plug-in for GPUs compiles with: on the `PATH`, in NVIDIA's packages beside the plug-in, or in
    /// `/usr/local/cuda/bin`.
    ///
    /// ```
    /// use xla_shape_pjrt::{Error, LoadOptions};
    ///
    /// match LoadOptions::ptxas("/opt/venv/lib/python3.13/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so".as_ref()) {
    ///     Ok(path) => println!("{}", path.display()),
    ///     Err(error) => assert!(matches!(error, Error::NoPtxas { package: "nvidia-cuda-nvcc" })),
    /// }
    /// ```
    ///
    /// # Errors
    /// If there is none; the error names the package that has it.
    pub fn ptxas(plugin: &Path) -> Result<PathBuf> {
        find::ptxas(plugin)
    }

    /// The file that [`find`](Self::find) would load. It is not loaded.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// println!("{}", LoadOptions::new().path()?.display());
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is none: see [`Plugin::find`].
    pub fn path(&self) -> Result<PathBuf> {
        find::plugin(self.kind, self.python.as_deref())
    }

    /// Finds a plug-in as [`Plugin::find`] does, and loads it with these options.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// // SAFETY: we trust the plug-in that is installed on this machine.
    /// let plugin = unsafe { LoadOptions::new().for_devices().find() }?;
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Plugin::find`].
    ///
    /// # Safety
    /// Same as [`Plugin::find`].
    pub unsafe fn find(&self) -> Result<Plugin> {
        let path = find::plugin(self.kind, self.python.as_deref())?;
        // SAFETY: the caller promises for the file that `find::plugin` finds what `load` requires.
        unsafe { self.load(path) }
    }

    /// Loads a plug-in as [`Plugin::load`] does, with these options.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::LoadOptions;
    ///
    /// // SAFETY: this file is libtpu.
    /// let plugin = unsafe { LoadOptions::new().time_limit(None).load("/opt/libtpu/libtpu.so") }?;
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Plugin::load`].
    ///
    /// # Safety
    /// Same as [`Plugin::load`].
    pub unsafe fn load(&self, path: impl AsRef<Path>) -> Result<Plugin> {
        // SAFETY: both functions have the same contract.
        unsafe { load(path.as_ref(), self) }
    }
}

/// The loaded plug-ins by path, so that each is started only once.
static LOADED: Mutex<BTreeMap<PathBuf, Plugin>> = Mutex::new(BTreeMap::new());

/// # Safety
/// Like [`Plugin::load`].
unsafe fn load(path: &Path, options: &LoadOptions) -> Result<Plugin> {
    let refused = |reason: String| Error::Load { path: path.to_owned(), reason };
    let path = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plugin) = loaded.get(&path) {
        return Ok(Plugin { time_limit: options.time_limit, ..plugin.clone() });
    }
    if is_only_thread() {
        for (name, value) in to_set(options) {
            // SAFETY: this is the only thread of the process, as just counted, and only it could start another. So no other code
            // reads or writes the environment at the same time.
            unsafe { env::set_var(name, value) };
        }
    }
    let plugin = within(options.time_limit, LOADING, {
        let path = path.clone();
        // SAFETY: `open` and this function have the same contract, for the same file.
        move || unsafe { open(&path) }
    })?;
    let plugin = Plugin { time_limit: options.time_limit, ..plugin };
    loaded.insert(path, plugin.clone());
    Ok(plugin)
}

/// # Safety
/// Like [`Plugin::load`].
unsafe fn open(path: &Path) -> Result<Plugin> {
    let refused = |error: libloading::Error| Error::Load { path: path.to_owned(), reason: error.to_string() };
    // SAFETY: loading runs the file's initialisers; the caller promises that its code may run in this process.
    let library = unsafe { Library::new(path) }.map_err(refused)?;
    // SAFETY: the caller promises that a file with a function of this name is a plug-in. In a plug-in, the function has this type.
    let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const Api>(b"GetPjrtApi\0") };
    let entry = *entry.map_err(|_| Error::NotAPlugin {
        plugin: path.display().to_string(),
        reason: "it has no function GetPjrtApi".to_owned(),
    })?;
    // Never unloaded, because its threads may run until the process ends.
    std::mem::forget(library);
    // SAFETY: `entry` is `GetPjrtApi` of a plug-in, which takes no arguments, and its library is never unloaded.
    let api = unsafe { entry() };
    // SAFETY: `api` is what `GetPjrtApi` returned (caller: it keeps the interface's rules), and the library is never unloaded.
    unsafe { Plugin::start(api, path.display().to_string(), Some(path.to_owned())) }
}

/// The environment variables to set before the plug-in starts.
fn to_set(options: &LoadOptions) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    options.environment.then(|| options.variables()).into_iter().flatten()
}

/// Whether this process has a single thread. Threads that Rust has not started count, too. False where the system does not report
/// this: only Linux has `/proc/self/task`.
fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

impl Plugin {
    /// Finds a plug-in and loads it: the file that `PJRT_PLUGIN` or `TPU_LIBRARY_PATH` names, otherwise libtpu in the active Python
    /// environment (`VIRTUAL_ENV`, `CONDA_PREFIX`, or that of the `python3` on the `PATH`).
    ///
    /// For security, neither the current directory nor `PYTHONPATH` is searched: relative paths in these variables are refused, and
    /// Python runs isolated (`-I`).
    ///
    /// ```no_run
    /// use xla_shape_pjrt::Plugin;
    ///
    /// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
    /// let plugin = unsafe { Plugin::find() }?;
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// If no plug-in is found, a variable has a relative path or names a missing file, or the file cannot be [loaded](Self::load).
    ///
    /// # Safety
    /// The file that is found must meet the requirements of [`load`](Self::load). So you trust whoever can set these variables or
    /// install packages in these environments.
    pub unsafe fn find() -> Result<Self> {
        // SAFETY: both functions have the same contract.
        unsafe { LoadOptions::new().find() }
    }

    /// Loads a plug-in from a file; returns the same plug-in if the file has been loaded before.
    ///
    /// If the process has a single thread, this sets the environment variables that libtpu needs. [`LoadOptions::leave_environment`]
    /// explains and prevents that.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::Plugin;
    ///
    /// // SAFETY: this file is libtpu.
    /// let plugin = unsafe { Plugin::load("/opt/libtpu/libtpu.so") }?;
    /// println!("{}", plugin.version());
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the file is missing or not a plug-in; if its version of the interface has a different major number or is older than
    /// [`Version::OLDEST`]; if it allows only one process and another one has loaded it; or if it does not start within a minute.
    ///
    /// # Safety
    /// The file's code runs in this process as soon as it is loaded, so load only what you would run as a program. If it has a
    /// function `GetPjrtApi`, that function returns a table as [`from_api`](Self::from_api) requires it.
    pub unsafe fn load(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: both functions have the same contract.
        unsafe { LoadOptions::new().load(path) }
    }

    /// Starts a plug-in that is linked into this program, given its table of functions. `name` is for messages.
    ///
    /// # Errors
    /// If `api` is null or not a valid table, or the version of the interface is not supported.
    ///
    /// # Safety
    /// `api` is null, or what a plug-in's `GetPjrtApi` returned: a table as long as its first field says, with extensions as long as their first
    /// fields say. They hold the functions of the interface, never change, and live until the process ends. The functions do what `pjrt_c_api.h` says
    /// about them: they use arguments only until they return, objects live until they are destroyed, results live as long as their objects, and all
    /// functions may be called from several threads at the same time.
    pub unsafe fn from_api(name: &str, api: *const Api) -> Result<Self> {
        // SAFETY: both functions have the same contract.
        unsafe { Self::start(api, name.to_owned(), None) }
    }

    /// # Safety
    /// Like [`from_api`](Self::from_api).
    unsafe fn start(api: *const Api, name: String, path: Option<PathBuf>) -> Result<Self> {
        // SAFETY: both functions require the same of `api`.
        let functions = unsafe { Functions::new(api, &name) }?;
        if functions.has(&Api::PJRT_Plugin_Initialize) {
            // SAFETY: the arguments have no pointer.
            unsafe { functions.call(&Api::PJRT_Plugin_Initialize, PluginInitializeArgs::default()) }?;
        }
        Ok(Self { inner: Arc::new(LoadedPlugin { functions, name, path }), time_limit: Some(DEFAULT_TIME_LIMIT) })
    }

    /// The time limit for making a topology.
    pub(crate) const fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.inner.functions
    }

    /// The path of the file, or the name that was given to [`from_api`](Self::from_api).
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) {
    /// println!("{}", plugin.name()); // …/site-packages/libtpu/libtpu.so
    /// # }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The file from which it was loaded; `None` if it is linked into the program.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) {
    /// if let Some(path) = plugin.path() {
    ///     println!("{}", path.display());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// The JAX package that contains this plug-in for GPUs, and the version of the package, such as `jax_cuda13_pjrt 0.12.0.1`. The plug-in's own
    /// [platform version](crate::Topology::platform_version) is only the name of the GPU. `None` if no package beside the plug-in says it.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) {
    /// assert_eq!(plugin.package().as_deref(), Some("jax_cuda13_pjrt 0.12.0.1"));
    /// # }
    /// ```
    #[must_use]
    pub fn package(&self) -> Option<String> {
        find::package(self.path()?)
    }

    /// The version of PJRT's interface that the plug-in has.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) {
    /// println!("PJRT {}", plugin.version()); // PJRT 0.114
    /// # }
    /// ```
    #[must_use]
    pub fn version(&self) -> Version {
        self.inner.functions.version()
    }

    /// The plug-in's attributes, such as `xla_version` and `stablehlo_current_version`.
    ///
    /// ```no_run
    /// # fn example(plugin: &xla_shape_pjrt::Plugin) -> xla_shape_pjrt::Result<()> {
    /// println!("{:?}", plugin.attributes()?.get("xla_version"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn attributes(&self) -> Result<Properties> {
        let call = &Api::PJRT_Plugin_Attributes;
        // SAFETY: the arguments have no pointer.
        let args = unsafe { self.functions().call(call, PluginAttributesArgs::default()) }?;
        // SAFETY: the attributes belong to the plug-in (*answers*), which is never unloaded.
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
        // A program that opens devices keeps libtpu's lock, and lets libtpu ask the metadata server about its machine.
        let for_compiling = ["ALLOW_MULTIPLE_LIBTPU_LOAD", "TPU_ACCELERATOR_TYPE", "TPU_WORKER_HOSTNAMES"];
        let expected = usual.iter().copied().filter(|name| !for_compiling.contains(name)).collect::<Vec<_>>();
        assert_eq!(names(LoadOptions::new().for_devices()), expected);
        assert_eq!(names(LoadOptions::new().leave_environment()), [""; 0]);
        assert_eq!(names(LoadOptions::new().for_devices().leave_environment()), [""; 0]);
    }
}
