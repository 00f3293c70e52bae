//! What a compiler says about a program that it compiled, for one device or several.

use crate::cost::{ProgramCost, Sums, sums};
use crate::digest::{self, Digest};
use crate::hlo::memory::{Capacity, Memory, capacity_in};
use crate::hlo::report::Value;
use crate::hlo::{Device, Report};
use crate::{Answer, answer_line};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::shard::Sharding;
use xla_shape_core::sorting::{sort, sort_by_key};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{Shape, memory_space};
use xla_shape_hlo::{Instruction, Module, Opcode};
use xla_shape_program::CompilerAnswer;

/// What a compiler says about one program for several devices.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::compile::Compilation;
/// use xla_shape_answers::hlo::Device;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_hlo::Module;
/// use xla_shape_program::CompilerAnswer;
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }")?;
/// let shape: xla_shape_core::Shape = "f32[8]{0:T(128)}".parse()?;
/// let said = CompilerAnswer { inputs: vec![shape.clone()], outputs: vec![shape], ..CompilerAnswer::default() };
/// let mut compilation = Compilation::new();
/// compilation.add("v5e:2x2", Device::Generation(Generation::V5e), Ok((&said, &module)), 5);
/// assert!(compilation.is_good() && compilation.problem().is_none());
/// assert!(compilation.json().contains(r#""for":"v5e:2x2","generation":"v5e","module":"m""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Compilation {
    /// One entry for each device, in the order in which they were added.
    pub targets: Vec<Target>,
}

/// The result of compiling a program for one device. The JSON has one line for each device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Target {
    /// The device, such as "v5e:2x2".
    #[serde(rename = "for")]
    pub name: String,
    /// The generation of the TPU; null for a GPU.
    pub generation: Option<&'static str>,
    /// What came of it.
    #[serde(flatten)]
    pub result: Outcome,
}

/// The result of compiling a program for one device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Outcome {
    /// The program was compiled.
    Good(Box<Answered>),
    /// The compiler refused it.
    Bad {
        /// Why the program was not compiled for this device.
        error: Problem,
    },
}

/// Why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// The sentence.
    pub message: String,
    /// If the program needs too much HBM, and the compiler dumps its module: the answer of `xla-shape hlo` about it; otherwise null.
    pub report: Option<Refused>,
}

/// A report, as `hlo` writes it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Refused {
    /// The form of the report and its version.
    schema: &'static str,
    /// The report.
    #[serde(flatten)]
    pub report: Box<Report>,
}

/// The program was compiled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The name of the optimized module; null if it has none.
    pub module: Option<String>,
    /// A text that is the same for the same program, options and compiler; null if the compiler gives none.
    pub fingerprint: Option<String>,
    /// The shapes of the parameters on each device, with the layouts that the compiler chose.
    pub inputs: Vec<String>,
    /// The shapes of the results, in the same way.
    pub outputs: Vec<String>,
    /// XLA's texts of the shardings of the parameters; null if the compiler does not say.
    pub input_shardings: Option<Vec<String>>,
    /// XLA's texts of the shardings of the results; null if the compiler does not say.
    pub output_shardings: Option<Vec<String>>,
    /// What the program takes, in the compiler's words.
    pub memory: Memory,
    /// For a GPU: whether the compiler knew the results of autotuning; null for a TPU.
    pub autotuning: Option<Autotuning>,
    /// If the file with the results of autotuning is not complete: for how many instructions it has no results.
    pub untuned: Option<Untuned>,
    /// For a GPU: what else takes memory on the device. No compiler can tell how much without the device.
    pub unseen: Vec<Unseen>,
    /// How much of the device's memory the program uses, its code included.
    pub capacity: Vec<Capacity>,
    /// The values with the most padding.
    pub most_padded: Vec<Value>,
    /// What the compiler expects the program to cost, under the compiler's own names, such as "flops" and "bytes accessed".
    pub cost: BTreeMap<String, f64>,
    /// Sums of the compiler's figures; `None` if a figure is not a number.
    #[serde(flatten, serialize_with = "sums::optional")]
    #[schemars(with = "sums::OptionalFields")]
    pub sums: Option<Sums>,
    /// The compiler's estimate of the cost in full, if its figures can be read.
    #[serde(skip)]
    pub program_cost: Option<Box<ProgramCost>>,
    /// The bytes of the parameters and of the results, if they are known.
    #[serde(skip)]
    pub sizes: Vec<Option<u64>>,
    /// The user's names of the parameters, if the module has them.
    #[serde(skip)]
    pub names: Vec<Option<String>>,
    /// How many entries a list has at most.
    #[serde(skip)]
    pub top: usize,
}

words! {
    /// Whether the compiler knew the results of autotuning. With other results, it may choose other kernels for products and convolutions, other
    /// tiles of fusions and other workspaces, so the module and its memory may differ.
    ///
    /// ```
    /// use xla_shape_answers::compile::Autotuning;
    ///
    /// assert_eq!(Autotuning::Off.to_string(), "off");
    /// ```
    pub enum Autotuning {
        /// It did not tune, because it had no GPU to time its choices on. The figures are those of this compiler without autotuning.
        Off = "off",
        /// It took the results of an earlier tuning from a file.
        FromFile = "from a file",
        /// It took results from a file that has none for some of the instructions.
        Partly = "partly from a file",
    }
}

/// How many instructions have no results in the file with the results of autotuning. If some have none, the file was made for another GPU, driver,
/// CUDA or compiler, or for another program.
///
/// ```
/// use xla_shape_answers::compile::Untuned;
///
/// assert_eq!(serde_json::to_string(&Untuned { without: Some(2), of: Some(3) })?, r#"{"without":2,"of":3}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Untuned {
    /// The instructions without results; null if the compiler does not count them.
    pub without: Option<u64>,
    /// All instructions that the compiler would tune; null if it does not count them.
    pub of: Option<u64>,
}

words! {
    /// What takes memory on a GPU, but is not known to the compiler without the GPU.
    ///
    /// ```
    /// use xla_shape_answers::compile::Unseen;
    ///
    /// assert_eq!(Unseen::Sort.to_string(), "sort");
    /// ```
    pub enum Unseen {
        /// A sort: with a GPU, XLA asks CUB whether it supports the sort. If it does, CUB needs memory of its own.
        Sort = "sort",
        /// Calls of cuDNN and cuFFT, which take memory while they run.
        Libraries = "libraries",
    }
}

/// Sorts of fewer elements are not given to CUB (`SortRewriter` in `xla/service/gpu/transforms/sort_rewriter.cc`).
const FEWEST_SORTED: u64 = 16_384;

/// Calls whose GPU memory the compiler does not count.
fn unseen(module: &Module) -> Vec<Unseen> {
    let is_sort = |found: Instruction<'_>| {
        let elements = found.shape().arrays().next().and_then(|array| array.elements());
        found.opcode() == Opcode::Sort && elements.is_none_or(|elements| elements >= FEWEST_SORTED)
    };
    let is_library = |found: Instruction<'_>| {
        let target = found.attribute("custom_call_target");
        found.opcode() == Opcode::Fft || target.is_some_and(|target| target.text().contains("__cudnn$"))
    };
    let sort = module.instructions().any(is_sort).then_some(Unseen::Sort);
    let libraries = module.instructions().any(is_library).then_some(Unseen::Libraries);
    sort.into_iter().chain(libraries).collect()
}

/// A parameter or a result of a compiled program.
///
/// ```
/// use xla_shape_answers::compile::Compilation;
/// use xla_shape_answers::hlo::Device;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_hlo::Module;
/// use xla_shape_program::CompilerAnswer;
///
/// let module = Module::parse(r#"
/// HloModule m
/// ENTRY e { ROOT p = f32[100]{0:T(128)} parameter(0), metadata={op_name="weights['bias']"} }"#)?;
/// let shape: xla_shape_core::Shape = "f32[100]{0:T(128)}".parse()?;
/// let said = CompilerAnswer { inputs: vec![shape.clone()], outputs: vec![shape], ..CompilerAnswer::default() };
/// let mut compilation = Compilation::new();
/// compilation.add("v5e:2x2", Device::Generation(Generation::V5e), Ok((&said, &module)), 5);
/// let (_, answered) = compilation.good().next().unwrap();
/// let given: Vec<_> = answered.shapes().collect();
/// assert_eq!((given[0].what.as_str(), given[0].name), ("input 0", Some("weights['bias']")));
/// assert_eq!((given[1].what.as_str(), given[1].bytes), ("output 0", Some(512)), "with the padding of the tile");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given<'a> {
    /// What it is, such as `input 0`.
    pub what: String,
    /// The user's name of it, if the module has one.
    pub name: Option<&'a str>,
    /// Its shape, with the layout that the compiler chose.
    pub shape: &'a str,
    /// Its bytes; `None` if they are not known.
    pub bytes: Option<u64>,
}

impl Compilation {
    /// A compilation without any device yet.
    ///
    /// ```
    /// assert!(xla_shape_answers::compile::Compilation::new().is_good());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the compiler's answer for a device, or its error. Lists have at most `top` entries.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_answers::compile::Compilation;
    /// use xla_shape_answers::hlo::Device;
    ///
    /// let mut compilation = Compilation::new();
    /// compilation.add("v5e:2x2", Device::Generation(Generation::V5e), Err("too large".to_owned()), 5);
    /// assert!(!compilation.is_good());
    /// ```
    ///
    /// The fields for an answer, and for an error:
    ///
    /// ```
    /// use xla_shape_answers::compile::{Compilation, Outcome};
    /// use xla_shape_answers::hlo::Device;
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::CompilerAnswer;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }")?;
    /// let shape: xla_shape_core::Shape = "f32[8]{0:T(128)}".parse()?;
    /// let said = CompilerAnswer { inputs: vec![shape.clone()], outputs: vec![shape], ..CompilerAnswer::default() };
    /// let mut compilation = Compilation::new();
    /// compilation.add("v5e:2x2", Device::Generation(Generation::V5e), Ok((&said, &module)), 5);
    /// compilation.add("v2:2x2", Device::Generation(Generation::V2), Err("too large".to_owned()), 5);
    /// let Outcome::Good(answered) = &compilation.targets[0].result else { panic!("it was compiled") };
    /// assert_eq!((answered.inputs[0].as_str(), answered.autotuning), ("f32[8]{0:T(128)}", None));
    /// let Outcome::Bad { error } = &compilation.targets[1].result else { panic!("it was refused") };
    /// assert_eq!((error.message.as_str(), error.report.is_some()), ("too large", false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&mut self, name: &str, device: Device, result: Result<(&CompilerAnswer, &Module), String>, top: usize) {
        let result = match result {
            Ok((said, module)) => Outcome::Good(Box::new(Answered::new(said, module, device, top))),
            Err(message) => Outcome::Bad { error: Problem { message, report: None } },
        };
        self.targets.push(Target {
            name: name.to_owned(),
            generation: device.generation().map(Generation::name),
            result,
        });
    }

    /// Adds the compiler's error for a device with too little memory for the program, with a report on the refused program.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::compile::Compilation;
    /// use xla_shape_answers::hlo::{Device, Report};
    ///
    /// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }")?);
    /// let report = Report::new(&program.memory(None), None, 5, None);
    /// let mut compilation = Compilation::new();
    /// compilation.add_too_large("v5e:2x2", Device::Generation(Generation::V5e), "out of memory".to_owned(), report);
    /// assert!(compilation.json().contains(r#""error":{"message":"out of memory","report":{"schema":"xla-shape/hlo/1""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_too_large(&mut self, name: &str, device: Device, message: String, report: Report) {
        let report = Some(Refused { schema: Report::SCHEMA, report: Box::new(report) });
        let result = Outcome::Bad { error: Problem { message, report } };
        self.targets.push(Target {
            name: name.to_owned(),
            generation: device.generation().map(Generation::name),
            result,
        });
    }

    /// Whether the program was compiled for every device.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.targets.iter().all(|target| matches!(target.result, Outcome::Good(_)))
    }

    /// The first error, with the device that it is about.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_answers::compile::Compilation;
    /// use xla_shape_answers::hlo::Device;
    ///
    /// let mut compilation = Compilation::new();
    /// compilation.add("v5e:2x2", Device::Generation(Generation::V5e), Err("too large".to_owned()), 5);
    /// assert_eq!(compilation.problem().as_deref(), Some("not compiled for v5e:2x2: too large"));
    /// ```
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.targets.iter().find_map(|target| match &target.result {
            Outcome::Good(_) => None,
            Outcome::Bad { error } => Some(format!("not compiled for {}: {}", target.name, error.message)),
        })
    }

    /// The devices for which the program was compiled.
    pub fn good(&self) -> impl Iterator<Item = (&str, &Answered)> + Clone {
        self.targets.iter().filter_map(|target| match &target.result {
            Outcome::Good(answered) => Some((target.name.as_str(), answered.as_ref())),
            Outcome::Bad { .. } => None,
        })
    }
}

impl Answered {
    fn new(said: &CompilerAnswer, module: &Module, device: Device, top: usize) -> Self {
        let report = Report::of_values(&module.memory(), None, Some(device), top, None);
        let texts = |shapes: &[Shape]| shapes.iter().map(ToString::to_string).collect();
        let divided = |shardings: &Option<Vec<Sharding>>| {
            shardings.as_ref().map(|shardings| shardings.iter().map(ToString::to_string).collect())
        };
        let shapes = said.inputs.iter().chain(&said.outputs);
        let program_cost = ProgramCost::at(module, said.speed()).ok();
        let memory = Memory::with_code(&said.account, said.generated_code);
        Self {
            module: module.name().map(str::to_owned),
            fingerprint: said.fingerprint.clone(),
            inputs: texts(&said.inputs),
            outputs: texts(&said.outputs),
            input_shardings: divided(&said.input_shardings),
            output_shardings: divided(&said.output_shardings),
            capacity: capacity_in(device, memory_space::DEFAULT, memory.device.used()).into_iter().collect(),
            memory,
            autotuning: said.autotuned.map(|tuned| match (tuned, said.untuned) {
                (true, None) => Autotuning::FromFile,
                (true, Some(_)) => Autotuning::Partly,
                (false, _) => Autotuning::Off,
            }),
            untuned: said.untuned.map(|[without, of]| Untuned { without, of }),
            unseen: said.autotuned.map_or_else(Vec::new, |_| unseen(module)),
            most_padded: report.most_padded,
            cost: said.cost.clone(),
            sums: program_cost.as_ref().map(|cost| cost.sums),
            program_cost: program_cost.map(Box::new),
            sizes: shapes.map(|shape| shape.byte_size()).collect(),
            names: names(module, said.inputs.len()),
            top,
        }
    }

    /// Whether it was compiled for a GPU.
    #[must_use]
    pub fn is_for_gpu(&self) -> bool {
        self.capacity.iter().any(|capacity| capacity.whole.is_some())
    }

    /// The parameters and results.
    pub fn shapes(&self) -> impl Iterator<Item = Given<'_>> {
        let names = self.names.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        let inputs = self.inputs.iter().enumerate().zip(names);
        let inputs = inputs.map(|((number, shape), name)| (format!("input {number}"), name, shape));
        let outputs = self.outputs.iter().enumerate();
        let outputs = outputs.map(|(number, shape)| (format!("output {number}"), None, shape));
        let given = inputs.chain(outputs).zip(&self.sizes);
        given.map(|((what, name, shape), &bytes)| Given { what, name, shape, bytes })
    }
}

/// The `most` entries with the largest keys, in the order of the list.
///
/// ```
/// assert_eq!(xla_shape_answers::compile::largest(&[3, 1, 2], 2, |number| *number), [&3, &2]);
/// ```
pub fn largest<T, K: Ord>(list: &[T], most: usize, key: impl Fn(&T) -> K) -> Vec<&T> {
    let mut numbers = (0..list.len()).collect::<Vec<_>>();
    sort_by_key(&mut numbers, |&number| std::cmp::Reverse(key(&list[number])));
    numbers.truncate(most);
    sort(&mut numbers);
    numbers.into_iter().map(|number| &list[number]).collect()
}

/// The names of the parameters in the user's program. Empty if the module's parameters are not those of the program, for example if the module has
/// one tuple of all of them.
fn names(module: &Module, inputs: usize) -> Vec<Option<String>> {
    let Some(entry) = module.entry() else { return Vec::new() };
    let mut names = vec![None; inputs];
    let sources = module.sources();
    for (number, parameter) in entry.parameters_by_number() {
        let Some(name) = names.get_mut(number) else { return Vec::new() };
        // The compiler may have joined all parameters in a tuple. Then it is not known which name belongs to which input.
        if parameter.shape().array().is_none() {
            return Vec::new();
        }
        *name = sources.get(parameter).op_name.map(std::borrow::Cow::into_owned);
    }
    names
}

impl Answer for Compilation {
    const SCHEMA: &'static str = "xla-shape/compile/1";

    /// Names what takes the memory of each refused program, and the device for which it was refused.
    fn digest(&self) -> Digest {
        let refused = self.targets.iter().filter_map(|target| match &target.result {
            Outcome::Good(_) => None,
            Outcome::Bad { error } => Some((target, error)),
        });
        let causes = refused.clone().map(|(target, error)| digest::Cause {
            name: target.name.clone(),
            because: Some(error.message.clone()),
            ..digest::Cause::default()
        });
        let first = refused.clone().find_map(|(_, error)| error.report.as_ref());
        let values = first.map(|refused| refused.report.digest().causes).unwrap_or_default();
        let causes: Vec<_> = causes.take(1).chain(values).take(digest::MOST).collect();
        let compiled = self.targets.iter().find(|target| matches!(target.result, Outcome::Good(_)));
        let next = compiled.map(|target| {
            vec!["cost".into(), digest::Word::File(0), "--for".into(), target.name.clone().into(), "--try".into()]
        });
        Digest { causes, next: next.into_iter().collect() }
    }

    fn json(&self) -> String {
        self.targets.iter().map(|entry| answer_line(Self::SCHEMA, entry)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Compilation, Outcome};
    use crate::hlo::Device;
    use xla_shape_core::tpu::Generation;
    use xla_shape_hlo::Module;
    use xla_shape_program::CompilerAnswer;

    fn names(text: &str, inputs: &[&str]) -> Vec<Option<String>> {
        let module = Module::parse(text).unwrap();
        let inputs = inputs.iter().map(|input| input.parse().unwrap()).collect();
        let said = CompilerAnswer { inputs, ..CompilerAnswer::default() };
        let mut compilation = Compilation::new();
        compilation.add("v5e:2x2", Device::Generation(Generation::V5e), Ok((&said, &module)), 5);
        let Outcome::Good(answered) = &compilation.targets[0].result else { panic!("it was compiled") };
        answered.shapes().map(|given| given.name.map(str::to_owned)).collect()
    }

    #[test]
    fn parameters_have_the_users_names() {
        let array = "f32[8]{0:T(128)}";
        let module = format!(
            "HloModule m\nENTRY e {{ a = {array} parameter(0), metadata={{op_name=\"params['w']\"}}\n  b = {array} parameter(1)\n  \
             ROOT c = {array} add(a, b) }}"
        );
        assert_eq!(names(&module, &[array, array]), [Some("params['w']".to_owned()), None]);
        // The parameters of this module are not those of the program.
        let tuple =
            format!("HloModule m\nENTRY e {{ ROOT a = ({array}, {array}) parameter(0), metadata={{op_name=\"x\"}} }}");
        assert_eq!(names(&tuple, &[array, array]), [None, None]);
        assert_eq!(names(&module, &[array]), [None]);
    }
}
