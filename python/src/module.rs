//! HLO modules.

use crate::answer::Answer;
use crate::error::{file_error, not_utf8, parse_error, shape_error};
use crate::guess::unknown_name;
use crate::number::Number;
use crate::room::{Text, bytes_of, copied, display};
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
use xla_shape::hlo::proto::is_message;
use xla_shape::hlo::{
    Finding, Instruction as Value, Module as ModuleValue, Readers, Severity, Sources, Timeline, utf8,
};
use xla_shape::tpu::Generation;
use xla_shape_files::{Dump, contents};
use xla_shape_render::cost::ProgramCost;
use xla_shape_render::hlo::{Device, Difference, Known, Limit, Report, Statistics, check_space, page, source_text};
use xla_shape_render::{InUnits, count, harmless};

/// An HLO module: the text that XLA prints, or the bytes of its `HloProto` or `HloModuleProto`.
///
/// Two modules are equal if their printed texts are equal.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Module {
    value: Arc<ModuleValue>,
    /// The file from which it was read, with the compiler's files beside it; and its bytes, if it is a message.
    file: Option<Arc<(Dump, Vec<u8>)>>,
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

/// The device whose memory a program must fit: a generation of TPUs, or a number of bytes.
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
            return Ok(Self(Device::Generation(name.to_str()?.parse().map_err(shape_error)?)));
        }
        if object.is_instance_of::<PyInt>() {
            return Ok(Self(Device::Bytes(object.extract::<Number<u64>>()?.0)));
        }
        Err(PyTypeError::new_err(format!(
            "expected a generation such as 'v5e', or how many bytes, found {}",
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
            let Self { value, file } = module.get();
            return Ok(Self { value: value.clone(), file: file.clone() });
        }
        if let Ok(text) = text.cast::<PyString>() {
            return Self::of_text(py, copied(text.to_str()?)?);
        }
        match text.cast::<PyBytes>() {
            Ok(bytes) if is_message(bytes.as_bytes()) => Self::of_message(py, bytes.as_bytes()),
            Ok(bytes) => match utf8(bytes.as_bytes()) {
                Ok(text) => Self::of_text(py, copied(text)?),
                Err(error) => Err(not_utf8(&error, bytes.as_bytes())),
            },
            Err(_) => Err(PyTypeError::new_err("expected the text of a module, or the bytes of its proto")),
        }
    }

    /// Reads a file, or the largest module of a directory; `memory` then uses the compiler's files beside it.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        // The program reads standard input for the name `-`.
        let path = if path.as_os_str() == "-" { Path::new(".").join(path) } else { path };
        let read = || {
            let dump = Dump::find(&path)?;
            let bytes = contents(dump.module())?;
            Ok((dump, bytes))
        };
        let (dump, bytes) = py.detach(read).map_err(file_error)?;
        if is_message(&bytes) {
            let module = Self::of_message(py, &bytes)?;
            return Ok(Self { file: Some(Arc::new((dump, bytes))), ..module });
        }
        if let Err(error) = utf8(&bytes) {
            return Err(not_utf8(&error, &bytes));
        }
        // `utf8` has just checked that it is text.
        let module = Self::of_text(py, String::from_utf8(bytes).unwrap_or_default())?;
        Ok(Self { file: Some(Arc::new((dump, Vec::new()))), ..module })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.value.name()
    }

    /// Whether the module is scheduled: instructions run in the order of the text.
    #[getter]
    fn is_scheduled(&self) -> bool {
        self.value.is_scheduled()
    }

    /// The names of its computations.
    #[getter]
    fn computations(&self) -> Vec<&str> {
        self.value.computations().map(|computation| computation.name()).collect()
    }

    /// All instructions, in the order of the text.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let context = Context::new(&self.value);
        let all = self.value.instructions().map(|value| context.instruction(py, value));
        PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// The shapes of the ENTRY computation's parameters.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parameters = self.value.entry().map_or_else(Vec::new, |entry| entry.parameters().collect());
        let shapes = parameters.into_iter().map(|(_, shape)| Bound::new(py, Shape::of_value(shape.clone())));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// The shape of the ENTRY computation's result.
    #[getter]
    fn result(&self) -> PyResult<Shape> {
        let entry = self.value.entry().ok_or_else(|| shape_error("the module has no ENTRY computation"))?;
        Ok(Shape::of_value(entry.result().clone()))
    }

    /// The shapes of the ENTRY computation's results: the elements of a tuple, else the one result.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let result = self.result()?.value;
        let shapes = result.tuple_shapes().unwrap_or(std::slice::from_ref(&result));
        let shapes = shapes.iter().map(|shape| Bound::new(py, Shape::of_value(shape.clone())));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// What the program costs, by the compiler's own figures: cycles, copies and what would remove them, collectives.
    fn cost(&self) -> PyResult<Answer> {
        ProgramCost::new(&self.value).map(Answer::new).map_err(shape_error)
    }

    /// The names of the program's arguments: the op_name of each parameter, or its number without one.
    fn _arguments(&self) -> Vec<String> {
        let sources = self.value.sources();
        let parameters = self.value.entry().map_or_else(Vec::new, |entry| entry.parameters_by_number());
        parameters.into_iter().map(|(number, parameter)| argument_name(&sources, parameter, number)).collect()
    }

    /// The instructions that copy an argument of the program, each with the argument's name.
    fn _argument_copies(&self) -> PyResult<Vec<(String, String)>> {
        let sources = self.value.sources();
        let copies = self.value.costs().map_err(shape_error)?.copies();
        let of_argument = |copy: &Copy<'_>| {
            let Fixed::Parameter { instruction, number, .. } = &copy.producer else { return None };
            Some((copy.cost.instruction.name().to_owned(), argument_name(&sources, *instruction, *number)))
        };
        Ok(copies.iter().filter_map(of_argument).collect())
    }

    /// The limits that another program exceeds, as sentences, such as `memory>2%` and `copies>0`: those of `xla-shape hlo diff`.
    #[pyo3(signature = (after, limits, /))]
    fn exceeded(&self, after: &Self, limits: Vec<String>) -> PyResult<Vec<String>> {
        let limits = limits.iter().map(|limit| limit.parse::<Limit>().map_err(shape_error));
        let limits = limits.collect::<PyResult<Vec<_>>>()?;
        Ok(self.compared(after).exceeded(&limits))
    }

    /// The instruction of this name.
    #[pyo3(signature = (name, /))]
    fn instruction(&self, py: Python<'_>, name: &str) -> PyResult<Instruction> {
        let found = self.value.instruction(name.trim_start_matches('%'));
        let found = found.ok_or_else(|| shape_error(format_args!("the module has no instruction `{name}`")))?;
        Context::new(&self.value).instruction(py, found)
    }

    /// The errors that XLA's verifier would report, and hints.
    fn check(&self) -> Vec<String> {
        // The text of a hint begins with `hint:` itself.
        let text = |finding: &Finding<'_>| match finding.severity() {
            Severity::Hint => finding.to_string(),
            severity => format!("{severity}: {finding}"),
        };
        self.value.check().iter().map(text).collect()
    }

    /// The memory of the values, and those in memory at the peak. `bool()` of the answer tells whether that fits the device.
    ///
    /// device: a generation of TPUs, such as `v5e`, or a number of bytes.
    /// top: the largest length of lists.
    /// space: only this memory space.
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
        self.report(py, device, top, space, if estimate { CompilerReport::Nothing } else { self.compiler_report() })
    }

    /// The same of a module that was compiled here, with the compiler's memory analysis as JSON.
    fn _memory(
        &self,
        py: Python<'_>,
        device: Option<DeviceArgument>,
        top: Number<usize>,
        space: Option<Number<u8>>,
        statistics: Option<&str>,
    ) -> PyResult<Answer> {
        let Some(json) = statistics else { return self.memory(py, device, top, space, false) };
        let statistics = Statistics::parse(json.as_bytes()).map_err(shape_error)?;
        self.report(py, device, top, space, CompilerReport::Analysis(statistics))
    }

    /// The changes from this module to another one.
    #[pyo3(signature = (after, /))]
    fn difference(&self, after: &Self) -> Answer {
        Answer::new(self.compared(after)).list()
    }

    /// The bytes of its `HloProto`.
    fn to_proto<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.value.to_proto().map_err(shape_error)?)
    }

    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(unknown_name("Module", name))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<Text<String>> {
        Ok(self.memory(py, None, Number(10), None, false)?._repr_html_())
    }

    fn __str__(&self) -> PyResult<Text<String>> {
        display(&self.value)
    }

    fn __repr__(&self) -> Text<String> {
        let counts = [
            count(self.value.computations().len() as u64, "computation", "computations"),
            count(self.value.instructions().len() as u64, "instruction", "instructions"),
        ];
        let memory = self.value.memory();
        let taken = memory.timeline_on(None).map(|timeline| self.compiler_report().timeline(timeline).timeline);
        let taken = taken.map(|timeline| format!("{} of memory", InUnits(timeline.account().device.total())));
        let known = counts.into_iter().chain(taken).collect::<Vec<_>>().join(", ");
        Text(format!("<Module {}: {known}>", harmless(self.value.name().unwrap_or("without a name"))))
    }

    fn __eq__(&self, other: &Self) -> PyResult<bool> {
        Ok(Arc::ptr_eq(&self.value, &other.value) || self.__str__()?.0 == other.__str__()?.0)
    }

    fn __hash__(&self) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.__str__()?.0.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyString>,))> {
        Ok((py.get_type::<Self>().into_any(), (Text(self.value.text()).into_pyobject(py)?,)))
    }
}

/// What is known from the compiler about a module's memory.
enum CompilerReport {
    Nothing,
    /// The files beside the module; and the module's bytes, if it was read from a message.
    Files(Arc<(Dump, Vec<u8>)>),
    Analysis(Statistics),
}

impl CompilerReport {
    fn timeline<'m>(&self, timeline: Timeline<'m>) -> Known<'m> {
        match self {
            Self::Nothing => Known::new(timeline),
            Self::Files(file) => {
                let (dump, module) = &**file;
                Known::new(timeline).with_files(module, dump.files(), |name| dump.read(name))
            }
            Self::Analysis(statistics) => {
                Known::new(timeline).with_statistics("compiled.memory_analysis()", statistics.clone())
            }
        }
    }
}

impl Module {
    fn compared(&self, after: &Self) -> Difference {
        let (before, after_report) = (self.compiler_report(), after.compiler_report());
        let (memory, after_memory) = (self.value.memory(), after.value.memory());
        let before = memory.timeline_on(None).map(|timeline| before.timeline(timeline).timeline);
        let after_timeline = after_memory.timeline_on(None).map(|timeline| after_report.timeline(timeline).timeline);
        Difference::on(&self.value, before.as_ref(), &after.value, after_timeline.as_ref())
    }

    /// The compiler's files beside the module, if it was read from a file.
    fn compiler_report(&self) -> CompilerReport {
        self.file.clone().map_or(CompilerReport::Nothing, CompilerReport::Files)
    }

    fn report(
        &self,
        py: Python<'_>,
        device: Option<DeviceArgument>,
        top: Number<usize>,
        space: Option<Number<u8>>,
        compiler: CompilerReport,
    ) -> PyResult<Answer> {
        let (device, top, space) = (device.map(|device| device.0), top.0, space.map(|space| space.0));
        if let Some(space) = space {
            check_space(&self.value, space).map_err(shape_error)?;
        }
        let module = self.value.clone();
        let report = py.detach(|| {
            let memory = module.memory();
            let generation = device.and_then(Device::generation);
            let timeline = memory.timeline_on(generation);
            if let (Some(generation), Some(timeline)) = (generation, &timeline)
                && !timeline.is_for_tpu()
            {
                return Err(format!(
                    "the program was not compiled for {generation}, but for a CPU or a GPU: its arrays have no tiles, as a TPU's have; \
                     {}",
                    compile_it(&generation.to_string())
                ));
            }
            let known = timeline.map(|timeline| compiler.timeline(timeline));
            let report = Report::on(&memory, known.as_ref().map(|known| &known.timeline), device, top, space);
            let others =
                if let CompilerReport::Files(file) = &compiler { file.0.others().to_vec() } else { Vec::new() };
            Ok(known.iter().fold(report, |report, known| report.with_known(known, others.clone())))
        });
        let report = report.map_err(shape_error)?;
        let verdict = report.fits().map_err(|unknown| unknown.to_string());
        let shown = report.clone();
        let answer = Answer::new(report).judged(verdict);
        Ok(answer.with_html(move || {
            let memory = module.memory();
            let timeline = memory.timeline_on(device.and_then(Device::generation));
            let known = timeline.map(|timeline| compiler.timeline(timeline));
            page(&module, known.as_ref().map(|known| &known.timeline), &shown, space)
        }))
    }

    fn of_text(py: Python<'_>, text: String) -> PyResult<Self> {
        let parsed = py.detach(|| ModuleValue::parse_owned(text));
        let module = parsed.map_err(|(error, text)| parse_error(&error, &text))?;
        if module.computations().len() == 0 {
            return Err(shape_error("the text has no computations: it is not an HLO module"));
        }
        Ok(Self { value: Arc::new(module), file: None })
    }

    fn of_message(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = py.detach(|| ModuleValue::from_proto(bytes));
        read.map(|module| Self { value: Arc::new(module), file: None }).map_err(shape_error)
    }
}

/// The name of an argument: the op_name of its parameter, or its number without one.
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

/// What is looked up for each instruction of a module.
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

/// The bytes that a text says, such as `16GiB`; a number alone is bytes.
#[pyfunction]
pub(crate) fn byte_count(text: &str) -> PyResult<u64> {
    let found = xla_shape::hlo::byte_count(text);
    found.ok_or_else(|| shape_error(format_args!("expected a number of bytes, such as 16GiB, found `{text}`")))
}
