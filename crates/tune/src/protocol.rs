//! The requests of a search to workers, and their answers.

use crate::cache::Origin;
use crate::needed::needed;
use crate::ranked::made;
use crate::share::argument;
use crate::{Figures, Measured, Place, Requested, Workers};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use xla_shape_answers::cost::ProgramCost;
use xla_shape_core::{Layout, Shape};
use xla_shape_hlo::Module;
use xla_shape_pjrt::{LayoutMode, Program, Target};
use xla_shape_program::{CompileError, Compiler, CompilerAnswer, Host};

/// What is requested for a program, at each place.
pub(crate) type Asked = BTreeMap<Place, Requested>;

/// What a worker should do. It gets the text of the program, too.
#[derive(Serialize, Deserialize, Debug)]
enum Request {
    /// Says which compiler it has.
    Origin { compiler: Compiler, device: String },
    /// Says which version its compiler has.
    Version { compiler: Compiler, device: String },
    /// Compiles the program with these layouts.
    Measure { compiler: Compiler, device: String, asked: Vec<(Place, Wire)> },
    /// Compiles the program, and says what it needs.
    Need { compiler: Compiler, device: String },
    /// Compiles the program, and returns the figures of its kernels.
    Kernels { compiler: Compiler, device: String },
}

/// The text of a layout, if one is requested, and the name of a memory.
type Wire = (Option<String>, Option<String>);

/// A compiler's answer, and which compiler gave it: workers may have different ones.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Reply<T> {
    pub(crate) measured: T,
    pub(crate) origin: Origin,
}

/// A program that is compiled only to learn the compiler's version.
const EMPTY: &[u8] = b"module { func.func public @main() { return } }";

/// A request for the compiler's version, and nothing else.
pub(crate) fn version_request(compiler: &Compiler, target: &Target) -> Vec<u8> {
    // These settings are about a program, and do not change the version.
    let compiler = Compiler { replicas: None, partitions: None, options: Vec::new(), ..compiler.clone() };
    serde_json::to_vec(&Request::Version { compiler, device: target.to_string() }).unwrap_or_default()
}

/// A request to compile a program with these layouts.
pub(crate) fn measure_request(compiler: &Compiler, target: &Target, asked: &Asked) -> Vec<u8> {
    let asked = asked.iter().map(|(place, requested)| {
        let memory = requested.memory.map(|memory| memory.kind().to_owned());
        (place.clone(), (requested.layout.as_ref().map(ToString::to_string), memory))
    });
    let request = Request::Measure { compiler: compiler.clone(), device: target.to_string(), asked: asked.collect() };
    serde_json::to_vec(&request).unwrap_or_default()
}

/// A request to compile a program, and to say what it needs.
pub(crate) fn need_request(compiler: &Compiler, target: &Target) -> Vec<u8> {
    let request = Request::Need { compiler: compiler.clone(), device: target.to_string() };
    serde_json::to_vec(&request).unwrap_or_default()
}

/// A request to compile a program, and to return the figures of its kernels.
pub(crate) fn kernels_request(compiler: &Compiler, target: &Target) -> Vec<u8> {
    let request = Request::Kernels { compiler: compiler.clone(), device: target.to_string() };
    serde_json::to_vec(&request).unwrap_or_default()
}

/// Asks the workers which compiler they have for these devices.
pub(crate) fn origin(workers: &dyn Workers, compiler: &Compiler, target: &Target) -> Result<Origin, String> {
    let request = Request::Origin { compiler: compiler.clone(), device: target.to_string() };
    let request = serde_json::to_vec(&request).unwrap_or_default();
    let mut found = Err("the workers did not answer".to_owned());
    workers.run(&[(&[], request)], &mut |_, answer| {
        found = read(answer).map_err(|error: CompileError| error.to_string());
        true
    })?;
    found
}

/// The content of an answer.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(answer: &[u8]) -> Result<T, CompileError> {
    let unreadable = |error| CompileError::NoCompiler(format!("the answer of a worker cannot be read: {error}"));
    serde_json::from_slice::<Result<T, CompileError>>(answer).map_err(unreadable)?
}

/// The answer to a request about a program. A compiler runs in a process of its own, so if it crashes, only this answer is lost.
///
/// ```
/// use xla_shape_program::Host;
///
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let answer = xla_shape_tune::answer_as_worker(&host, b"module {}", b"{}");
/// assert!(String::from_utf8(answer)?.contains("perhaps because it is of another version"));
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[must_use]
pub fn answer_as_worker(host: &Host, program: &[u8], request: &[u8]) -> Vec<u8> {
    answer_until(&AtomicBool::new(false), host, program, request)
}

/// Like [`answer_as_worker`]; setting `stop` ends the compiler.
pub(crate) fn answer_until(stop: &AtomicBool, host: &Host, program: &[u8], request: &[u8]) -> Vec<u8> {
    let said = match serde_json::from_slice(request) {
        Ok(Request::Origin { compiler, device }) => serde_json::to_vec(&origin_here(&compiler, &device, host)),
        Ok(Request::Version { compiler, device }) => {
            let said = target(&device).and_then(|target| compiler.compile_until(stop, host, target, EMPTY));
            serde_json::to_vec(&said.map(|said| said.compiler))
        }
        Ok(Request::Measure { compiler, device, asked }) => {
            let measure = || measured(stop, host, program, &compiler, &device, asked);
            serde_json::to_vec(&reply(&compiler, &device, host, measure))
        }
        Ok(Request::Need { compiler, device }) => {
            serde_json::to_vec(&reply(&compiler, &device, host, || needed(stop, host, program, &compiler, &device)))
        }
        Ok(Request::Kernels { compiler, device }) => {
            let made = || made(stop, host, program, &compiler, &device);
            serde_json::to_vec(&reply(&compiler, &device, host, made))
        }
        Err(error) => {
            let message = format!("the request cannot be read, perhaps because it is of another version: {error}");
            serde_json::to_vec(&Err::<(), _>(CompileError::NoCompiler(message)))
        }
    };
    said.unwrap_or_default()
}

/// An answer, with the compiler of this machine that gave it.
fn reply<T>(
    compiler: &Compiler,
    device: &str,
    host: &Host,
    measure: impl FnOnce() -> Result<T, CompileError>,
) -> Result<Reply<T>, CompileError> {
    let origin = origin_here(compiler, device, host)?;
    Ok(Reply { measured: measure()?, origin })
}

fn target(device: &str) -> Result<Target, CompileError> {
    device.parse::<Target>().map_err(|error| CompileError::Refused(error.to_string()))
}

fn origin_here(compiler: &Compiler, device: &str, host: &Host) -> Result<Origin, CompileError> {
    Origin::here(compiler, &target(device)?, host).map_err(CompileError::NoCompiler)
}

fn measured(
    stop: &AtomicBool,
    host: &Host,
    program: &[u8],
    compiler: &Compiler,
    device: &str,
    asked: Vec<(Place, Wire)>,
) -> Result<Measured, CompileError> {
    let refused = |error: &dyn std::fmt::Display| CompileError::Refused(error.to_string());
    let target = target(device)?;
    let asked = asked.into_iter().map(|(place, wire)| Ok((place, requested(wire)?)));
    let asked = asked.collect::<Result<Asked, CompileError>>()?;
    let program = Program::from_bytes(program).and_then(|program| asking(&program, &asked));
    let program = program.map_err(|error| refused(&error))?;
    let said = compiler.compile_until(stop, host, target, program.code())?;
    let module = said.module()?;
    let cost = ProgramCost::of_compiled(&said)?;
    let [inputs, outputs] = with_memory(&module, &said);
    let measured = Measured::new(Figures::new(&cost, said.hbm_bytes()), &inputs, &outputs);
    Ok(match &said.compiler {
        Some(version) => measured.with_compiler(version),
        None => measured,
    })
}

/// What a request asks for at a place.
fn requested((layout, memory): Wire) -> Result<Requested, CompileError> {
    let layout = layout.map(|text| text.parse::<Layout>()).transpose();
    let layout = layout.map_err(|error| CompileError::Refused(error.to_string()))?;
    let memory = memory.map(|kind| kind.parse().map_err(CompileError::Refused)).transpose()?;
    Ok(Requested { layout, memory })
}

/// The program with these requests for layouts and memories.
pub(crate) fn asking(program: &Program, asked: &Asked) -> xla_shape_pjrt::Result<Program> {
    let mode = |requested: &Requested| match &requested.layout {
        Some(layout) => LayoutMode::Layout(layout.clone()),
        None => LayoutMode::Auto,
    };
    let modes = asked.iter().map(|(place, requested)| (argument(place), mode(requested))).collect();
    let kinds = asked.iter().filter_map(|(place, requested)| Some((argument(place), requested.memory?.kind())));
    program.with_layout_modes(&modes)?.with_memory_kinds(&kinds.collect())
}

/// The parameters and results, with their memory spaces. These come from the optimized module, because PJRT does not give them.
fn with_memory(module: &Module, said: &CompilerAnswer) -> [Vec<Shape>; 2] {
    let layout = module.attribute("entry_computation_layout").and_then(|value| value.program_shape().ok());
    let (parameters, results) = layout.map_or_else(Default::default, |layout| {
        let results = layout.result.tuple_shapes().map_or_else(|| vec![layout.result.clone()], <[Shape]>::to_vec);
        (layout.parameters.into_iter().map(|parameter| parameter.shape).collect::<Vec<_>>(), results)
    });
    [placed(&said.inputs, &parameters), placed(&said.outputs, &results)]
}

/// Shapes with the memory spaces that a module gives them. If the module has other shapes, such as a tuple of these, the given shapes stay as they
/// are.
fn placed(shapes: &[Shape], known: &[Shape]) -> Vec<Shape> {
    // Layouts are not compared, because only those of the module have memory spaces.
    let sizes = |shape: &Shape| {
        let array = shape.array()?;
        Some(array.dimensions().iter().map(|size| size.extent()).collect::<Vec<_>>())
    };
    if shapes.len() != known.len() || shapes.iter().zip(known).any(|(shape, known)| sizes(shape) != sizes(known)) {
        return shapes.to_vec();
    }
    let placed = |(shape, known): (&Shape, &Shape)| {
        let (array, known) = (shape.array()?, known.array()?);
        let layout = array.layout().clone().with_memory_space(known.layout().memory_space()).ok()?;
        Some(Shape::Array(array.clone().with_layout(layout).ok()?))
    };
    shapes.iter().zip(known).map(|pair| placed(pair).unwrap_or_else(|| pair.0.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::{placed, requested};
    use crate::Memory;
    use xla_shape_core::Shape;

    fn shapes(texts: &[&str]) -> Vec<Shape> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn memories_are_those_of_the_same_shapes() {
        let own = shapes(&["f32[8,128]{1,0:T(8,128)}", "bf16[4]{0}"]);
        let same = shapes(&["f32[8,128]{0,1:S(5)}", "bf16[4]{0}"]);
        assert_eq!(placed(&own, &same), shapes(&["f32[8,128]{1,0:T(8,128)S(5)}", "bf16[4]{0}"]));
        for other in [
            &[][..],
            &["f32[8,128]{1,0:S(5)}"],
            &["bf16[4]{0:S(5)}", "f32[8,128]{1,0}"],
            &["f32[8,128]{1,0:S(5)}", "bf16[4,1]{1,0}"],
            &["(f32[8,128]{1,0:S(5)})", "bf16[4]{0:S(5)}"],
            &["f32[8,128]{1,0:S(5)}", "bf16[4]{0}", "f32[]"],
        ] {
            assert_eq!(placed(&own, &shapes(other)), own, "{other:?}");
        }
        assert_eq!(placed(&[], &[]), []);
    }

    #[test]
    fn a_request_has_a_layout_and_a_memory_that_exist() {
        let layout = || Some("{1,0}".to_owned());
        let found = requested((layout(), Some("pinned_host".to_owned()))).ok().unwrap();
        assert_eq!((found.layout, found.memory), (Some("{1,0}".parse().unwrap()), Some(Memory::PinnedHost)));
        let error = |wire| requested(wire).err().map(|error| error.to_string());
        assert_eq!(
            error((layout(), Some("hbm".to_owned()))).as_deref(),
            Some("expected the memory device or pinned_host, found `hbm`")
        );
        assert!(error((Some("{".to_owned()), None)).is_some());
        assert_eq!(error((None, None)), None);
    }
}
