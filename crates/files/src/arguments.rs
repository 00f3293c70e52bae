//! The arguments of a program, from the tensors of a checkpoint.

use crate::error::Error;
use crate::shard::Checkpoint;
use std::collections::{HashMap, HashSet};
use std::fmt;
use xla_shape::hlo::Module;
use xla_shape::{ArrayShape, DynBuffer, Shape};

/// A parameter of a program's entry.
///
/// ```
/// use xla_shape::hlo::Module;
/// use xla_shape_files::{Arguments, Checkpoint};
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT x = u8[3] parameter(0), metadata={op_name=\"batch\"} }")?;
/// let mut names = Vec::new();
/// Arguments::new(&Checkpoint::open([""; 0])?, &module, |parameter| {
///     names.push((parameter.number, parameter.name.clone(), parameter.shape.to_string()));
///     None
/// })?;
/// assert_eq!(names, [(0, "batch".to_owned(), "u8[3]{0}".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Its number.
    pub number: usize,
    /// What JAX calls it, such as `params['w']` (its `op_name`); otherwise the name of its instruction.
    pub name: String,
    /// What the program expects, on one device, with its layout.
    pub shape: Shape,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter {} (`{}`) is {}", self.number, self.name, self.shape)
    }
}

/// Which tensor of a checkpoint each parameter of a program is. Each tensor has been checked to have its parameter's element type and
/// sizes. [`load`](Self::load) reads the data, in the layout that the program expects.
///
/// ```
/// use xla_shape::hlo::Module;
/// use xla_shape::{Buffer, shape};
/// use xla_shape_files::{Arguments, Checkpoint, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[2,3]".parse()?, Some("layer.w"), &[1, 2, 3, 4, 5, 6])?;
/// let module = Module::parse(
///     "HloModule m\nENTRY e { x = u8[3] parameter(0) ROOT w = u8[2,3]{0,1} parameter(1), metadata={op_name=\"params['w']\"} }",
/// )?;
///
/// // Weights are the tensors of their names; `x` comes from elsewhere.
/// let checkpoint = Checkpoint::open([path])?;
/// let name = |parameter: &str| Some(format!("layer.{}", parameter.strip_prefix("params['")?.strip_suffix("']")?));
/// let arguments = Arguments::new(&checkpoint, &module, |parameter| name(&parameter.name))?;
/// let [w] = arguments.parameters() else { panic!("one parameter is in the file") };
/// assert_eq!((w.number, w.name.as_str()), (1, "params['w']"));
/// let w: Buffer<shape!(u8[2,3]{0,1})> = arguments.load(1)?.unwrap().into_typed()?;
/// assert_eq!(w.as_bytes(), [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Arguments<'a> {
    checkpoint: &'a Checkpoint,
    parameters: Vec<Parameter>,
    /// For each parameter, the number of the file, and the number of the tensor in that file.
    places: Vec<(usize, usize)>,
}

impl<'a> Arguments<'a> {
    /// Finds and checks the tensor of each parameter. `tensor` returns its name in the checkpoint, or `None` for a parameter that is not from
    /// there.
    ///
    /// The parameters of a program for several devices are the parts of one device: divide the checkpoint first ([`Checkpoint::shards`]).
    ///
    /// # Errors
    /// One error with everything that does not fit.
    pub fn new(
        checkpoint: &'a Checkpoint,
        module: &Module,
        mut tensor: impl FnMut(&Parameter) -> Option<String>,
    ) -> Result<Self, ArgumentsError> {
        let tensors: HashMap<_, _> = checkpoint.places().map(|(name, array, place)| (name, (array, place))).collect();
        let mut arguments = Self { checkpoint, parameters: Vec::new(), places: Vec::new() };
        let mut misfits = Vec::new();
        let sources = module.sources();
        for (number, instruction) in module.entry().into_iter().flat_map(|entry| entry.parameters_by_number()) {
            let source = sources.get(instruction);
            let name = source.op_name.as_deref().filter(|name| !name.is_empty()).unwrap_or_else(|| instruction.name());
            let parameter = Parameter { number, name: name.to_owned(), shape: instruction.shape().clone() };
            let Some(tensor) = tensor(&parameter) else { continue };
            match tensors.get(tensor.as_str()) {
                Some((array, place)) if is_same_array(&parameter.shape, array) => {
                    arguments.parameters.push(parameter);
                    arguments.places.push(*place);
                }
                found => {
                    let found = found.map(|(array, _)| (*array).clone());
                    misfits.push(Misfit { parameter, tensor, found });
                }
            }
        }
        if misfits.is_empty() { Ok(arguments) } else { Err(ArgumentsError { misfits }) }
    }

    /// The parameters that are in the checkpoint, by number.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The tensors that belong to no parameter, in the order of the files.
    ///
    /// ```
    /// # use xla_shape::hlo::Module;
    /// # use xla_shape_files::{Arguments, Checkpoint, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let checkpoint = Checkpoint::open([path])?;
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT x = u8[4] parameter(0) }")?;
    /// let arguments = Arguments::new(&checkpoint, &module, |_| None)?;
    /// assert_eq!(arguments.unused().collect::<Vec<_>>(), ["w"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let used: HashSet<_> = self.places.iter().collect();
        self.checkpoint.places().filter(move |(_, _, place)| !used.contains(place)).map(|(name, ..)| name)
    }

    /// Reads the array of a parameter, in the layout that the program expects. `None` for a parameter that is not in the checkpoint.
    ///
    /// The tensor may be in any file, and may be divided among the files of several devices.
    ///
    /// # Errors
    /// If the file cannot be read, there is not enough memory, or no array can be copied to the layout.
    pub fn load(&self, number: usize) -> Result<Option<DynBuffer>, Error> {
        let Ok(found) = self.parameters.binary_search_by_key(&number, |parameter| parameter.number) else {
            return Ok(None);
        };
        let (Shape::Array(array), place) = (&self.parameters[found].shape, self.places[found]) else { return Ok(None) };
        self.checkpoint.read(place, array.layout()).map(Some)
    }
}

/// Whether a parameter is an array of the same element type and sizes, in any layout.
fn is_same_array(parameter: &Shape, tensor: &ArrayShape) -> bool {
    let Shape::Array(array) = parameter else { return false };
    array.element_type() == tensor.element_type() && array.dimensions() == tensor.dimensions()
}

/// The parameters whose tensors do not fit. The error's text has a line for each.
///
/// ```
/// use xla_shape::hlo::Module;
/// use xla_shape_files::{Arguments, Checkpoint, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[3,2]".parse()?, Some("w"), &[1, 2, 3, 4, 5, 6])?;
/// let module = Module::parse("HloModule m\nENTRY e { w = u8[2,3] parameter(0) ROOT b = u8[3] parameter(1) }")?;
/// let checkpoint = Checkpoint::open([path])?;
/// let error = Arguments::new(&checkpoint, &module, |parameter| Some(parameter.name.clone())).unwrap_err();
/// assert_eq!(error.misfits().len(), 2);
/// assert_eq!(
///     error.to_string(),
///     "parameter 0 (`w`) is u8[2,3]{1,0}, but tensor `w` is u8[3,2]{1,0}\n\
///      parameter 1 (`b`) is u8[3]{0}, but the checkpoint has no tensor `b`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentsError {
    misfits: Vec<Misfit>,
}

impl ArgumentsError {
    /// The parameters that do not fit, by number; at least one.
    #[must_use]
    pub fn misfits(&self) -> &[Misfit] {
        &self.misfits
    }
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, misfit) in self.misfits.iter().enumerate() {
            write!(f, "{}{misfit}", if number == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for ArgumentsError {}

/// A parameter whose tensor is missing or has other sizes or another element type.
///
/// ```
/// use xla_shape::hlo::Module;
/// use xla_shape_files::{Arguments, Checkpoint, Misfit};
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT w = u8[2,3] parameter(0) }")?;
/// let error = Arguments::new(&Checkpoint::open([""; 0])?, &module, |_| Some("v".to_owned())).unwrap_err();
/// let [Misfit { parameter, tensor, found: None, .. }] = error.misfits() else { panic!("{error}") };
/// assert_eq!((parameter.number, tensor.as_str()), (0, "v"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Misfit {
    /// The parameter.
    pub parameter: Parameter,
    /// The name of its tensor.
    pub tensor: String,
    /// That tensor, row-major; `None` if no tensor has this name.
    pub found: Option<ArrayShape>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) => write!(f, "{}, but tensor `{}` is {found}", self.parameter, self.tensor),
            None => write!(f, "{}, but the checkpoint has no tensor `{}`", self.parameter, self.tensor),
        }
    }
}
