//! HLO modules.

use crate::answer::Answer;
use crate::error::{parse_error, shape_error};
use crate::number::Number;
use crate::shape::{Shape, quoted};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xla_shape::hlo::proto::is_message;
use xla_shape::hlo::{Finding, Instruction as Value, Module as ModuleValue, Severity, utf8};
use xla_shape_render::hlo::{Device, Difference, Report, check_space, page};

/// An HLO module: the text that XLA prints, or the bytes of its `HloProto` or `HloModuleProto`.
///
/// Equal if they print alike.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Module(Arc<ModuleValue<'static>>);

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
    /// The name of the computation that it is in.
    computation: String,
    /// Whether its result is that of the computation.
    is_root: bool,
}

#[pymethods]
impl Instruction {
    fn __repr__(&self) -> String {
        let root = if self.is_root { "ROOT " } else { "" };
        format!("<Instruction {root}{} = {} {}>", self.name, self.shape.get().value, self.opcode)
    }
}

/// The device whose memory a program must fit: a generation of TPUs, or a number of bytes.
pub(crate) struct DeviceArgument(Device);

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
            return Ok(Self(module.get().0.clone()));
        }
        if let Ok(text) = text.cast::<PyString>() {
            return Self::of_text(py, text.to_str()?.to_owned());
        }
        match text.cast::<PyBytes>() {
            Ok(bytes) => Self::of_bytes(py, bytes.as_bytes()),
            Err(_) => Err(PyTypeError::new_err("expected the text of a module, or the bytes of its proto")),
        }
    }

    /// Reads a file.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::of_bytes(py, &py.detach(|| read_module(&path))?)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.0.name()
    }

    /// Whether the order of the text is the order in which instructions run.
    #[getter]
    fn is_scheduled(&self) -> bool {
        self.0.is_scheduled()
    }

    /// The names of its computations.
    #[getter]
    fn computations(&self) -> Vec<&str> {
        self.0.computations().map(|computation| computation.name()).collect()
    }

    /// All instructions, in the order of the text.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.instructions().map(|value| instruction(py, value)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The shapes of the ENTRY computation's parameters.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parameters = self.0.entry().map_or_else(Vec::new, |entry| entry.parameters_by_number());
        let shapes = parameters.into_iter().map(|(_, made)| Bound::new(py, Shape::of_value(made.shape().clone())));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// The shape of what the ENTRY computation returns.
    #[getter]
    fn result(&self) -> PyResult<Shape> {
        let entry = self.0.entry().ok_or_else(|| shape_error("the module has no ENTRY computation"))?;
        Ok(Shape::of_value(entry.root().shape().clone()))
    }

    /// The instruction of this name.
    #[pyo3(signature = (name, /))]
    fn instruction(&self, py: Python<'_>, name: &str) -> PyResult<Instruction> {
        let found = self.0.instruction(name.trim_start_matches('%'));
        let found = found.ok_or_else(|| shape_error(format_args!("the module has no instruction `{name}`")))?;
        instruction(py, found)
    }

    /// What XLA's verifier would refuse, and hints.
    fn check(&self) -> Vec<String> {
        // A hint says itself that it is one.
        let text = |finding: &Finding<'_, '_>| match finding.severity() {
            Severity::Hint => finding.to_string(),
            severity => format!("{severity}: {finding}"),
        };
        self.0.check().iter().map(text).collect()
    }

    /// What the values take in memory, and what lies there at the peak.
    ///
    /// device: a generation of TPUs, such as `v5e`, or how many bytes there are.
    /// top: how long lists may be.
    /// space: only this memory space.
    #[pyo3(signature = (device=None, *, top=Number(10), space=None), text_signature = "($self, device=None, *, top=10, space=None)")]
    fn memory(
        &self,
        py: Python<'_>,
        device: Option<DeviceArgument>,
        top: Number<usize>,
        space: Option<Number<u8>>,
    ) -> PyResult<Answer> {
        let (device, top, space) = (device.map(|device| device.0), top.0, space.map(|space| space.0));
        if let Some(space) = space {
            check_space(&self.0, space).map_err(shape_error)?;
        }
        let module = self.0.clone();
        let report = py.detach(|| {
            let memory = module.memory();
            let timeline = memory.timeline_on(device.and_then(Device::generation));
            Report::on(&module, timeline.as_ref(), device, top, space)
        });
        let shown = report.clone();
        Ok(Answer::new(report).with_html(move || {
            let memory = module.memory();
            let timeline = memory.timeline_on(device.and_then(Device::generation));
            page(&module, timeline.as_ref(), &shown, space)
        }))
    }

    /// What changed from this module to another.
    #[pyo3(signature = (after, /))]
    fn difference(&self, after: &Self) -> Answer {
        Answer::new(Difference::new(&self.0, &after.0))
    }

    /// The bytes of its `HloProto`.
    fn to_proto<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_proto().map_err(shape_error)?))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.memory(py, None, Number(10), None)?._repr_html_())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Module({})", quoted(py, self.0.text())?))
    }

    fn __eq__(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.__str__() == other.__str__()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.__str__().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.0.text().to_owned(),))
    }
}

impl Module {
    fn of_text(py: Python<'_>, text: String) -> PyResult<Self> {
        let parsed = py.detach(|| ModuleValue::parse(&text).map(ModuleValue::into_owned));
        let module = parsed.map_err(|error| parse_error(&error, &text))?;
        if module.computations().len() == 0 {
            return Err(shape_error("the text has no computations: it is no HLO module"));
        }
        Ok(Self(Arc::new(module)))
    }

    fn of_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        if is_message(bytes) {
            let read = py.detach(|| ModuleValue::from_proto(bytes));
            return read.map(|module| Self(Arc::new(module))).map_err(shape_error);
        }
        match py.detach(|| utf8(bytes).map(str::to_owned)) {
            Ok(text) => Self::of_text(py, text),
            Err(error) => Err(parse_error(&error, &String::from_utf8_lossy(bytes))),
        }
    }
}

/// All of a file; what does not end is read no further than the parser would.
fn read_module(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(u32::MAX.into()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn instruction(py: Python<'_>, value: Value<'_, '_>) -> PyResult<Instruction> {
    Ok(Instruction {
        name: value.name().to_owned(),
        opcode: value.opcode().to_string(),
        shape: Py::new(py, Shape::of_value(value.shape().clone()))?,
        operands: PyTuple::new(py, value.operands().map(|operand| operand.name()))?.unbind(),
        computation: value.computation().name().to_owned(),
        is_root: value.is_root(),
    })
}
