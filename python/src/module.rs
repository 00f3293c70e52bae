//! HLO modules.

use crate::answer::Answer;
use crate::error::{file_error, parse_error, shape_error};
use crate::guess::unknown_name;
use crate::number::Number;
use crate::room::{Text, bytes_of, copied, copied_bytes, display};
use crate::shape::Shape;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xla_shape::hlo::cost::{Copy, Fixed};
use xla_shape::hlo::{Finding, Instruction as Value, Module as ModuleValue, Readers, Severity, Sources};
use xla_shape::tpu::Generation;
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::guard::claims::{Claims, Expectation, Expectations};
use xla_shape_answers::hlo::{Device, Difference, Limit, Report, check_platform, check_space};
use xla_shape_answers::numbers::{InUnits, count};
use xla_shape_answers::source::source_text;
use xla_shape_program::{OpenError, Program, ReadError, Statistics};
use xla_shape_render::guard::claims_file;
use xla_shape_render::harmless;
use xla_shape_render::hlo::page;

/// An HLO module: the text that XLA prints, or the bytes of its `HloProto` or `HloModuleProto`.
///
/// Two modules are equal if their printed texts are equal.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Module {
    program: Arc<Program>,
}

/// An instruction of a module.
#[pyclass(frozen, get_all, module = "xla_shape")]
pub(crate) struct Instruction {
    /// Its name, without `%`.
    name: String,
    /// The operation, such as `get-tuple-element`.
    opcode: String,
    /// The shape of its result.
    shape: Py<Shape>,
    /// The names of its operands.
    operands: Py<PyTuple>,
    /// The name of its computation.
    computation: String,
    /// Whether it is the root of its computation.
    is_root: bool,
    /// The names of the instructions that have it as an operand.
    users: Py<PyTuple>,
    /// The operation in the user's program, such as `jit(f)/add`; `None` if the module does not say.
    op_name: Option<String>,
    /// The file and the line in the user's program, such as `train.py:43`; `None` if the module does not say.
    source: Option<String>,
    /// The compiler's configuration of the instruction, as the module writes it; `None` without one.
    backend_config: Option<String>,
}

#[pymethods]
impl Instruction {
    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(unknown_name("Instruction", name))
    }

    fn __repr__(&self) -> String {
        let root = if self.is_root { "ROOT " } else { "" };
        format!("<Instruction {root}{} = {} {}>", self.name, self.shape.get().value, self.opcode)
    }
}

/// The device whose memory a program must fit: a generation of TPUs, a GPU, or a number of bytes.
pub(crate) struct DeviceArgument(Device);

impl DeviceArgument {
    /// A device of which a program may use this many bytes.
    pub(crate) const fn bytes(bytes: u64) -> Self {
        Self(Device::Bytes(bytes))
    }
}

impl<'py> FromPyObject<'_, 'py> for DeviceArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return Ok(Self(name.to_str()?.parse().map_err(shape_error)?));
        }
        if object.is_instance_of::<PyInt>() {
            return Ok(Self(Device::Bytes(object.extract::<Number<u64>>()?.0)));
        }
        Err(PyTypeError::new_err(format!(
            "expected a device such as 'v5e' or 'h100', or how many bytes, found {}",
            object.repr()?
        )))
    }
}

#[pymethods]
impl Module {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(module) = text.cast::<Self>() {
            return Ok(Self { program: Arc::clone(&module.get().program) });
        }
        if let Ok(text) = text.cast::<PyString>() {
            return Self::of_text(py, copied(text.to_str()?)?);
        }
        let Ok(bytes) = text.cast::<PyBytes>() else {
            return Err(PyTypeError::new_err("expected the text of a module, or the bytes of its proto"));
        };
        let bytes = copied_bytes(bytes.as_bytes())?;
        Self::of_program(py.detach(|| Program::read("", bytes)).map_err(read_error)?)
    }

    /// Reads a file, or the largest module of a directory; `memory` then also reads the compiler's files beside it.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        // The program reads standard input for the name `-`.
        let path = if path.as_os_str() == "-" { Path::new(".").join(path) } else { path };
        let opened = py.detach(|| Program::open(path));
        Self::of_program(opened.map_err(open_error)?)
    }

    /// Reads a module of a profile: `xla_shape.profile`.
    #[staticmethod]
    fn _profile(py: Python<'_>, path: PathBuf, module: Option<&str>) -> PyResult<Self> {
        let program = py.detach(|| Program::open_module(&path, module)).map_err(open_error)?;
        if program.profile().is_none() {
            return Err(shape_error(format_args!("expected a profile, such as *.xplane.pb, found {}", path.display())));
        }
        Self::of_program(program)
    }

    /// The names of all modules in the profile that this module was read from; empty if it was not read from a profile.
    #[getter]
    fn modules(&self) -> Vec<&str> {
        let modules = self.program.profile().map(|profile| profile.modules()).unwrap_or_default();
        modules.iter().map(|module| module.name()).collect()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.program.module().name()
    }

    /// Whether the module is scheduled: instructions run in the order of the text.
    #[getter]
    fn is_scheduled(&self) -> bool {
        self.program.module().is_scheduled()
    }

    /// The names of its computations.
    #[getter]
    fn computations(&self) -> Vec<&str> {
        self.program.module().computations().map(|computation| computation.name()).collect()
    }

    /// All instructions, in the order of the text.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let context = Context::new(self.program.module());
        let all = self.program.module().instructions().map(|value| context.instruction(py, value));
        PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// The shapes of the ENTRY computation's parameters, as a caller passes them.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parameters = self.program.module().program_shape().map_or_else(Vec::new, |program| program.parameters);
        let shapes = parameters.into_iter().map(|parameter| Bound::new(py, Shape::of_value(parameter.shape)));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// The shape of the ENTRY computation's result, as a caller gets it.
    #[getter]
    fn result(&self) -> PyResult<Shape> {
        let program = self.program.module().program_shape();
        Ok(Shape::of_value(program.ok_or_else(|| shape_error("the module has no ENTRY computation"))?.result))
    }

    /// The shapes of the ENTRY computation's results: the elements of a tuple, else the one result.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let result = self.result()?.value;
        let shapes = result.tuple_shapes().unwrap_or(std::slice::from_ref(&result));
        let shapes = shapes.iter().map(|shape| Bound::new(py, Shape::of_value(shape.clone())));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// What the program costs, by the compiler's own figures: cycles, copies and what would remove them, collectives. For a module of a
    /// profile, the measured times, too.
    fn cost(&self) -> PyResult<Answer> {
        ProgramCost::of(&self.program).map(Answer::new).map_err(shape_error)
    }

    /// The names of the program's arguments: the op_name of each parameter, or its number if it has no op_name.
    fn _arguments(&self) -> Vec<String> {
        let sources = self.program.module().sources();
        let parameters = self.program.module().entry().map_or_else(Vec::new, |entry| entry.parameters_by_number());
        parameters.into_iter().map(|(number, parameter)| argument_name(&sources, parameter, number)).collect()
    }

    /// The instructions that copy an argument of the program, each with the argument's name.
    fn _argument_copies(&self) -> PyResult<Vec<(String, String)>> {
        let sources = self.program.module().sources();
        let copies = self.program.module().costs().map_err(shape_error)?.copies();
        let of_argument = |copy: &Copy<'_>| {
            let Fixed::Parameter { instruction, number, .. } = &copy.producer else { return None };
            Some((copy.cost.instruction.name().to_owned(), argument_name(&sources, *instruction, *number)))
        };
        Ok(copies.iter().filter_map(of_argument).collect())
    }

    /// The limits that `after` exceeds, compared with this program, as sentences. `limits` are those of `xla-shape hlo diff`, such as `memory>2%`
    /// and `copies>0`.
    ///
    /// By default, the limits are those of `xla-shape guard`, except those on numbers that this program does not have.
    #[pyo3(signature = (after, limits=None, /))]
    fn exceeded(&self, after: &Self, limits: Option<Vec<String>>) -> PyResult<Vec<String>> {
        let limits = limits.map(|limits| {
            let read = limits.iter().map(|limit| limit.parse::<Limit>().map_err(shape_error));
            read.collect::<PyResult<Vec<_>>>()
        });
        let limits = limits.transpose()?;
        let difference = self.compared(after);
        let exceeded = difference.exceeded(&limits.unwrap_or_else(|| difference.usual_limits()));
        Ok(exceeded.iter().map(ToString::to_string).collect())
    }

    /// Checks claims about the program. `claims` is the text of a TOML file as `xla-shape guard expect` reads it. `bool()` of the answer tells
    /// whether all claims hold.
    #[pyo3(signature = (claims, /))]
    fn expect(&self, claims: &str) -> PyResult<Answer> {
        self._expect(claims, None)
    }

    /// The claims that hold for this program, as the text of a TOML file that `expect` reads.
    fn claims(&self) -> Text<String> {
        Text(claims_file(&Claims::of_program(&self.program)))
    }

    /// Like `expect`, for a module that this process has compiled. `statistics` is the compiler's memory analysis as JSON.
    fn _expect(&self, claims: &str, statistics: Option<&str>) -> PyResult<Answer> {
        let claims = Claims::parse(claims).map_err(shape_error)?;
        let program = analysed(&self.program, statistics)?;
        let found = Expectation::of_program(&claims, &program, None);
        let verdict = Ok(found.passed);
        Ok(Answer::new(Expectations::new(vec![found])).judged(verdict))
    }

    /// Like `claims`, for a module that this process has compiled. `statistics` is the compiler's memory analysis as JSON.
    fn _claims(&self, statistics: Option<&str>) -> PyResult<Text<String>> {
        let program = analysed(&self.program, statistics)?;
        Ok(Text(claims_file(&Claims::of_program(&program))))
    }

    /// The instruction of this name.
    #[pyo3(signature = (name, /))]
    fn instruction(&self, py: Python<'_>, name: &str) -> PyResult<Instruction> {
        let found = self.program.module().instruction(name.trim_start_matches('%'));
        let found = found.ok_or_else(|| shape_error(format_args!("the module has no instruction `{name}`")))?;
        Context::new(self.program.module()).instruction(py, found)
    }

    /// The errors that XLA's verifier would report, and hints.
    fn check(&self) -> Vec<String> {
        // The text of a hint already begins with `hint:`.
        let text = |finding: &Finding<'_>| match finding.severity() {
            Severity::Hint => finding.to_string(),
            severity => format!("{severity}: {finding}"),
        };
        self.program.module().check().iter().map(text).collect()
    }

    /// The memory that values take, and the values in memory at the peak. `bool()` of the answer tells whether the program fits the device.
    ///
    /// device: a generation of TPUs, such as `v5e`, or a number of bytes.
    /// top: the most entries of each list in the answer.
    /// space: the only memory space to report.
    /// estimate: uses only the module, and not the files beside it.
    #[pyo3(
        signature = (device=None, *, top=Number(10), space=None, estimate=false),
        text_signature = "($self, device=None, *, top=10, space=None, estimate=False)"
    )]
    pub(crate) fn memory(
        &self,
        py: Python<'_>,
        device: Option<DeviceArgument>,
        top: Number<usize>,
        space: Option<Number<u8>>,
        estimate: bool,
    ) -> PyResult<Answer> {
        let program = match estimate {
            true => Arc::new(Program::clone(&self.program).estimated()),
            false => Arc::clone(&self.program),
        };
        Self::report(py, program, device, top, space)
    }

    /// Like `memory`, for a module that this process has compiled. `statistics` is the compiler's memory analysis as JSON.
    fn _memory(
        &self,
        py: Python<'_>,
        device: Option<DeviceArgument>,
        top: Number<usize>,
        space: Option<Number<u8>>,
        statistics: Option<&str>,
    ) -> PyResult<Answer> {
        Self::report(py, analysed(&self.program, statistics)?, device, top, space)
    }

    /// The changes from this module to another one.
    #[pyo3(signature = (after, /))]
    fn difference(&self, after: &Self) -> Answer {
        Answer::new(self.compared(after)).list()
    }

    /// The bytes of its `HloProto`.
    fn to_proto<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.program.module().to_proto().map_err(shape_error)?)
    }

    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(unknown_name("Module", name))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<Text<String>> {
        self.memory(py, None, Number(10), None, false)?._repr_html_(py)
    }

    fn __str__(&self) -> PyResult<Text<String>> {
        display(self.program.module())
    }

    fn __repr__(&self) -> Text<String> {
        let counts = [
            count(self.program.module().computations().len() as u64, "computation", "computations"),
            count(self.program.module().instructions().len() as u64, "instruction", "instructions"),
        ];
        let memory = self.program.memory(None);
        let taken =
            memory.timeline().map(|timeline| format!("{} of memory", InUnits(timeline.account().device.total())));
        let known = counts.into_iter().chain(taken).collect::<Vec<_>>().join(", ");
        Text(format!("<Module {}: {known}>", harmless(self.program.module().name().unwrap_or("without a name"))))
    }

    fn __eq__(&self, other: &Self) -> PyResult<bool> {
        Ok(Arc::ptr_eq(&self.program, &other.program) || self.__str__()?.0 == other.__str__()?.0)
    }

    fn __hash__(&self) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.__str__()?.0.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyString>,))> {
        Ok((py.get_type::<Self>().into_any(), (Text(self.program.module().text()).into_pyobject(py)?,)))
    }
}

/// The program with the compiler's memory analysis (`statistics`, as JSON); without one, the program as it is.
fn analysed(program: &Arc<Program>, statistics: Option<&str>) -> PyResult<Arc<Program>> {
    let Some(json) = statistics else { return Ok(Arc::clone(program)) };
    let statistics = Statistics::parse(json.as_bytes()).map_err(shape_error)?;
    Ok(Arc::new(Program::clone(program).with_statistics("compiled.memory_analysis()", statistics)))
}

impl Module {
    fn compared(&self, after: &Self) -> Difference {
        Difference::new(&self.program.memory(None), &after.program.memory(None))
    }

    fn report(
        py: Python<'_>,
        program: Arc<Program>,
        device: Option<DeviceArgument>,
        top: Number<usize>,
        space: Option<Number<u8>>,
    ) -> PyResult<Answer> {
        let (device, top, space) = (device.map(|device| device.0), top.0, space.map(|space| space.0));
        if let Some(space) = space {
            check_space(program.module(), space).map_err(shape_error)?;
        }
        let generation = device.and_then(Device::generation);
        if let Some(device) = device {
            let compile = || compile_it(device.name().unwrap_or("DEVICE"));
            check_platform(program.module(), device)
                .map_err(|error| shape_error(format_args!("{error}; {}", compile())))?;
        }
        let (_, report) = py.detach(|| Report::with_memory(&program, device, top, space));
        let verdict = report.fits().map_err(|unknown| unknown.to_string());
        let shown = report.clone();
        let answer = Answer::new(report).judged(verdict);
        Ok(answer.with_html(move || page(&program.memory(generation), &shown, space)))
    }

    fn of_text(py: Python<'_>, text: String) -> PyResult<Self> {
        let parsed = py.detach(|| ModuleValue::parse_owned(text));
        let module = parsed.map_err(|(error, text)| parse_error(&error, &text))?;
        if module.computations().len() == 0 {
            return Err(no_computations());
        }
        Ok(Self { program: Arc::new(Program::from(module)) })
    }

    /// The module of a program; an error if a part of it could not be read.
    pub(crate) fn of_program(program: Program) -> PyResult<Self> {
        match program.unread() {
            Some(unread) => Err(parse_error(&unread.error, program.module().text())),
            None => Ok(Self { program: Arc::new(program) }),
        }
    }
}

/// The error about a path that cannot be opened.
fn open_error(error: OpenError) -> PyErr {
    match error {
        OpenError::Files(error) => file_error(error),
        OpenError::Read(error) => read_error(error),
        error => shape_error(error),
    }
}

/// The Python error for bytes that are not a module.
fn read_error(error: ReadError) -> PyErr {
    match error {
        ReadError::Message { error, .. } => shape_error(error),
        ReadError::Syntax { error, text, .. } => parse_error(&error, &text),
        ReadError::Empty { .. } => no_computations(),
        error => shape_error(error),
    }
}

fn no_computations() -> PyErr {
    shape_error("the text has no computations: it is not an HLO module")
}

/// The name of an argument: the op_name of its parameter, or the given number if it has no op_name.
fn argument_name(sources: &Sources<'_>, parameter: Value<'_>, number: impl Display) -> String {
    sources.get(parameter).op_name.map_or_else(|| number.to_string(), Cow::into_owned)
}

/// How to compile a program for a device.
#[pyfunction]
pub(crate) fn compile_it(device: &str) -> String {
    format!(
        "compile it for that device: `memory(f, *args, for_=\"{device}\")`, or `xla-shape compile PROGRAM --for {device}`"
    )
}

/// The generation of TPUs that a name stands for, such as `v5e` for `TPU v5 lite`; `None` for any other name.
#[pyfunction]
pub(crate) fn generation(name: &str) -> Option<String> {
    name.parse::<Generation>().ok().map(|found| found.to_string())
}

/// The tables of a module in which sources and users of its instructions are looked up.
struct Context<'m> {
    sources: Sources<'m>,
    readers: Readers<'m>,
}

impl<'m> Context<'m> {
    fn new(module: &'m ModuleValue) -> Self {
        Self { sources: module.sources(), readers: module.readers() }
    }

    fn instruction(&self, py: Python<'_>, value: Value<'m>) -> PyResult<Instruction> {
        let source = self.sources.get(value);
        Ok(Instruction {
            name: value.name().to_owned(),
            opcode: value.opcode().to_string(),
            shape: Py::new(py, Shape::of_value(value.shape().clone()))?,
            operands: PyTuple::new(py, value.operands().map(|operand| operand.name()))?.unbind(),
            computation: value.computation().name().to_owned(),
            is_root: value.is_root(),
            users: PyTuple::new(py, self.readers.of(value).map(|user| user.name()).collect::<Vec<_>>())?.unbind(),
            source: source_text(&source),
            op_name: source.op_name.map(Cow::into_owned),
            backend_config: value
                .attribute("backend_config")
                .map(|config| config.unquoted().map_or_else(|_| config.text().to_owned(), Cow::into_owned)),
        })
    }
}

/// The number of bytes in a text such as `16GiB`; a number without a unit is in bytes.
#[pyfunction]
pub(crate) fn byte_count(text: &str) -> PyResult<u64> {
    let found = xla_shape::hlo::byte_count(text);
    found.ok_or_else(|| shape_error(format_args!("expected a number of bytes, such as 16GiB, found `{text}`")))
}
