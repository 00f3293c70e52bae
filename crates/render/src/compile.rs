//! What a compiler says about a program that it compiled, for one device or several.

use crate::hlo::{capacity_text, what_takes_memory};
use crate::words::{Bytes, Factor, InUnits, column_width, count, value_name};
use crate::{Show, Text};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_answers::cost::{ProgramCost, Sums};
use xla_shape_answers::hlo::memory::{Capacity, Memory, capacity_in};
use xla_shape_answers::hlo::report::Value;
use xla_shape_answers::hlo::{Device, Report};
use xla_shape_answers::{Answer, answer_line};
use xla_shape_core::shard::Sharding;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{Shape, memory_space};
use xla_shape_hlo::{Account, Module};

/// What a compiler says about a program that it compiled for one device.
#[derive(Clone, Debug)]
pub struct Compiled<'a> {
    /// The optimized program.
    pub module: &'a Module,
    /// The parameters, in the layouts that the compiler chose.
    pub inputs: Vec<Shape>,
    /// The results, in the layouts that the compiler chose.
    pub outputs: Vec<Shape>,
    /// How the parameters are divided among devices, if the compiler says so.
    pub input_shardings: Option<Vec<Sharding>>,
    /// How the results are divided among devices, if the compiler says so.
    pub output_shardings: Option<Vec<Sharding>>,
    /// The memory that the program takes.
    pub account: Account,
    /// The bytes of the program's own code on the device.
    pub generated_code: u64,
    /// What the compiler expects the program to cost, by its own names, such as `flops`.
    pub cost: BTreeMap<String, f64>,
    /// A text that is the same for the same program, options and compiler.
    pub fingerprint: Option<String>,
}

/// What a compiler says about one program for several devices.
///
/// ```
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_hlo::Module;
/// use xla_shape_render::Show;
/// use xla_shape_render::compile::{Compilation, Compiled};
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }")?;
/// let shape: xla_shape_core::Shape = "f32[8]{0:T(128)}".parse()?;
/// let compiled = Compiled {
///     module: &module,
///     inputs: vec![shape.clone()],
///     outputs: vec![shape],
///     input_shardings: None,
///     output_shardings: None,
///     account: Default::default(),
///     generated_code: 0,
///     cost: Default::default(),
///     fingerprint: None,
/// };
/// let mut compilation = Compilation::new();
/// compilation.add("v5e:2x2", Generation::V5e, Ok(&compiled), 5);
/// assert!(compilation.is_good() && compilation.problem().is_none());
/// assert!(compilation.text(80).to_string().starts_with("m, compiled for v5e:2x2\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Compilation {
    targets: Vec<Target>,
}

/// What the compiler made of a program for one device. One line for each.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Target {
    /// The device, such as "v5e:2x2".
    #[serde(rename = "for")]
    name: String,
    /// The generation of the TPU.
    generation: &'static str,
    #[serde(flatten)]
    result: Outcome,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Outcome {
    Good(Box<Answered>),
    Bad {
        /// Why the program was not compiled for this device.
        error: Problem,
    },
}

/// Why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Problem {
    /// The sentence.
    message: String,
    /// Of a program that needs too much HBM, if the compiler leaves it: the answer of `xla-shape hlo`; otherwise null.
    report: Option<Refused>,
}

/// A report, as `hlo` writes it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Refused {
    /// The form of the report and its version.
    schema: &'static str,
    #[serde(flatten)]
    report: Box<Report>,
}

/// The program was compiled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Answered {
    /// The name of the optimized module; null if it has none.
    module: Option<String>,
    /// A text that is the same for the same program, options and compiler; null if the compiler gives none.
    fingerprint: Option<String>,
    /// The shapes of the parameters on each device, with the layouts that the compiler chose.
    inputs: Vec<String>,
    /// The shapes of the results, in the same way.
    outputs: Vec<String>,
    /// XLA's texts of the shardings of the parameters; null if the compiler does not say.
    input_shardings: Option<Vec<String>>,
    /// XLA's texts of the shardings of the results; null if the compiler does not say.
    output_shardings: Option<Vec<String>>,
    /// What the program takes, in the compiler's words.
    memory: Memory,
    /// HBM of the device, with the program's code.
    capacity: Vec<Capacity>,
    /// The values with the most padding.
    most_padded: Vec<Value>,
    /// What the compiler expects the program to cost, by the compiler's own names, such as "flops" and "bytes accessed".
    cost: BTreeMap<String, f64>,
    /// Sums of the compiler's cycles; null if one of its figures is not a number.
    cycles: Option<Sums>,
    #[serde(skip)]
    cost_answer: Option<String>,
    #[serde(skip)]
    sizes: Vec<Option<u64>>,
}

impl Compilation {
    /// A compilation for no device yet.
    ///
    /// ```
    /// assert!(xla_shape_render::compile::Compilation::new().is_good());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what the compiler says for a device, or its error. Lists have at most `top` entries.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_render::compile::Compilation;
    ///
    /// let mut compilation = Compilation::new();
    /// compilation.add("v5e:2x2", Generation::V5e, Err("too large".to_owned()), 5);
    /// assert!(!compilation.is_good());
    /// ```
    pub fn add(&mut self, name: &str, generation: Generation, result: Result<&Compiled<'_>, String>, top: usize) {
        let result = match result {
            Ok(compiled) => Outcome::Good(Box::new(Answered::new(compiled, generation, top))),
            Err(message) => Outcome::Bad { error: Problem { message, report: None } },
        };
        self.targets.push(Target { name: name.to_owned(), generation: generation.name(), result });
    }

    /// Adds the compiler's error for a device whose memory the program exceeds, with a report on the program that it refused.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    /// use xla_shape_render::Show;
    /// use xla_shape_render::compile::Compilation;
    /// use xla_shape_answers::hlo::Report;
    ///
    /// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }")?);
    /// let report = Report::new(&program.memory(None), None, 5, None);
    /// let mut compilation = Compilation::new();
    /// compilation.add_too_large("v5e:2x2", Generation::V5e, "out of memory".to_owned(), report);
    /// assert!(compilation.text(80).to_string().contains("What takes the memory"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_too_large(&mut self, name: &str, generation: Generation, message: String, report: Report) {
        let report = Some(Refused { schema: Report::SCHEMA, report: Box::new(report) });
        let result = Outcome::Bad { error: Problem { message, report } };
        self.targets.push(Target { name: name.to_owned(), generation: generation.name(), result });
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
    /// use xla_shape_render::compile::Compilation;
    ///
    /// let mut compilation = Compilation::new();
    /// compilation.add("v5e:2x2", Generation::V5e, Err("too large".to_owned()), 5);
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
    fn good(&self) -> impl Iterator<Item = (&str, &Answered)> + Clone {
        self.targets.iter().filter_map(|target| match &target.result {
            Outcome::Good(answered) => Some((target.name.as_str(), answered.as_ref())),
            Outcome::Bad { .. } => None,
        })
    }
}

impl Answered {
    fn new(compiled: &Compiled<'_>, generation: Generation, top: usize) -> Self {
        let module = compiled.module;
        let device = Some(Device::Generation(generation));
        let report = Report::of_values(&module.memory(), None, device, top, None);
        let texts = |shapes: &[Shape]| shapes.iter().map(ToString::to_string).collect();
        let divided = |shardings: &Option<Vec<Sharding>>| {
            shardings.as_ref().map(|shardings| shardings.iter().map(ToString::to_string).collect())
        };
        let shapes = compiled.inputs.iter().chain(&compiled.outputs);
        let cycles = ProgramCost::new(module).ok();
        let memory = Memory::with_code(&compiled.account, compiled.generated_code);
        Self {
            module: module.name().map(str::to_owned),
            fingerprint: compiled.fingerprint.clone(),
            inputs: texts(&compiled.inputs),
            outputs: texts(&compiled.outputs),
            input_shardings: divided(&compiled.input_shardings),
            output_shardings: divided(&compiled.output_shardings),
            capacity: capacity_in(Device::Generation(generation), memory_space::DEFAULT, memory.device.used())
                .into_iter()
                .collect(),
            memory,
            most_padded: report.most_padded,
            cost: compiled.cost.clone(),
            cost_answer: cycles.as_ref().map(crate::cost::answer),
            cycles: cycles.map(|cost| cost.cycles),
            sizes: shapes.map(|shape| shape.byte_size()).collect(),
        }
    }

    /// The parameters and results, each with its name (`input 0`), its text and its bytes.
    fn shapes(&self) -> impl Iterator<Item = (String, &str, Option<u64>)> {
        let inputs = self.inputs.iter().enumerate().map(|(number, text)| (format!("input {number}"), text));
        let outputs = self.outputs.iter().enumerate().map(|(number, text)| (format!("output {number}"), text));
        inputs.chain(outputs).zip(&self.sizes).map(|((what, text), size)| (what, text.as_str(), *size))
    }
}

impl Answer for Compilation {
    const SCHEMA: &'static str = "xla-shape/compile/1";

    fn json(&self) -> String {
        self.targets.iter().map(|entry| answer_line(Self::SCHEMA, entry)).collect()
    }
}

impl Show for Compilation {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if let [Target { name, result: Outcome::Good(answered), .. }] = self.targets.as_slice() {
            alone(&mut text, name, answered);
            return text;
        }
        let good = self.good().collect::<Vec<_>>();
        if !good.is_empty() {
            table(&mut text, &good);
            layouts(&mut text, &good);
        }
        for target in &self.targets {
            if let Outcome::Bad { error } = &target.result {
                text.heading(&format!("Not compiled for {}", target.name));
                text.verbatim(format_args!("  {}", error.message.replace('\n', "\n  ")));
                if let Some(Refused { report, .. }) = &error.report {
                    text.heading(&format!("What takes the memory of {}", target.name));
                    what_takes_memory(report, &mut text);
                }
            }
        }
        text
    }
}

/// The lines about memory: name and bytes.
fn amounts(answered: &Answered) -> [(&'static str, u64); 7] {
    let device = &answered.memory.device;
    [
        ("HBM in all", device.total),
        ("  arguments", device.arguments),
        ("  outputs", device.outputs),
        ("  aliases", device.aliases),
        ("  temporaries", device.temporaries),
        ("peak", device.peak),
        ("code", device.generated_code.unwrap_or(0)),
    ]
}

/// The value with the most padding.
fn padded(answered: &Answered) -> Option<&Value> {
    answered.most_padded.first()
}

fn alone(text: &mut Text, name: &str, answered: &Answered) {
    let module = answered.module.as_deref().unwrap_or("the program");
    text.paragraph(format_args!("{module}, compiled for {name}"));
    text.heading("Layouts");
    let column = column_width(answered.shapes().map(|(_, shape, _)| shape.chars().count()));
    let names = column_width(answered.shapes().map(|(what, _, _)| what.chars().count()));
    for (what, shape, size) in answered.shapes() {
        let size = size.map_or_else(String::new, |size| Bytes(size).to_string());
        text.verbatim(format_args!("  {what:names$}  {shape:column$}  {size}").to_string().trim_end());
    }
    text.heading("Memory, as the compiler reports it");
    for (what, bytes) in amounts(answered) {
        text.verbatim(format_args!("  {:>10}  {what}", InUnits(bytes).to_string()));
    }
    if answered.memory.host.total > 0 {
        text.verbatim(format_args!("  {:>10}  memory of the host", InUnits(answered.memory.host.total).to_string()));
    }
    for capacity in &answered.capacity {
        text.verbatim(format_args!("  {}", capacity_text(capacity, true)));
    }
    if let Some(answer) = &answered.cost_answer {
        text.heading("Cost");
        text.paragraph(format_args!("  {answer}"));
    }
    text.heading("Largest padding");
    if answered.most_padded.is_empty() {
        text.verbatim("  no value has padding");
    }
    for value in &answered.most_padded {
        let padding = InUnits(value.padding_bytes).to_string();
        let factor = value.expansion.map_or_else(String::new, |factor| Factor(factor).to_string());
        let name = value_name(&value.name, value.leaf);
        text.verbatim(format_args!("  {padding:>10}  {factor:>7}  {name} ({})  {}", value.opcode, value.shape));
    }
}

/// One column for each device.
fn table(text: &mut Text, good: &[(&str, &Answered)]) {
    let modules = good.iter().filter_map(|(_, answered)| answered.module.as_deref()).next();
    text.paragraph(format_args!(
        "{}, compiled for {}",
        modules.unwrap_or("the program"),
        count(good.len() as u64, "device", "devices")
    ));
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(good.iter().map(|(name, _)| (*name).to_owned()));
    for (number, (what, _)) in good.first().map(|(_, first)| amounts(first)).into_iter().flatten().enumerate() {
        let bytes = good.iter().map(|(_, answered)| InUnits(amounts(answered)[number].1).to_string());
        rows.push([what.to_owned()].into_iter().chain(bytes).collect());
    }
    let padding = good.iter().map(|(_, answered)| {
        padded(answered).map_or_else(|| "none".to_owned(), |value| InUnits(value.padding_bytes).to_string())
    });
    rows.push(["largest padding".to_owned()].into_iter().chain(padding).collect());
    let free = good.iter().map(|(_, answered)| match answered.capacity.first() {
        Some(capacity) if capacity.free < 0 => format!("{} over", InUnits(capacity.free.unsigned_abs())),
        Some(capacity) => InUnits(capacity.free.unsigned_abs()).to_string(),
        None => "?".to_owned(),
    });
    rows.push(["HBM left".to_owned()].into_iter().chain(free).collect());
    text.heading("Memory, as the compiler reports it");
    lines(text, &rows);
}

/// Writes rows with the first column flush left and all others flush right.
fn lines(text: &mut Text, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| column_width(rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())));
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate().take(columns) {
            let width = width(column);
            line += &if column == 0 { format!("  {cell:width$}") } else { format!("  {cell:>width$}") };
        }
        text.verbatim(line.trim_end());
    }
}

/// Writes the layout of each parameter and result; if devices differ, the layout on each.
fn layouts(text: &mut Text, good: &[(&str, &Answered)]) {
    let mut rows = Vec::<(String, Vec<(&str, Vec<&str>)>)>::new();
    for (name, answered) in good {
        for (what, shape, _) in answered.shapes() {
            let place = rows.iter().position(|(known, _)| *known == what).unwrap_or_else(|| {
                rows.push((what, Vec::new()));
                rows.len() - 1
            });
            let kinds = &mut rows[place].1;
            match kinds.iter_mut().find(|(known, _)| *known == shape) {
                Some((_, names)) => names.push(name),
                None => kinds.push((shape, vec![name])),
            }
        }
    }
    let differ = rows.iter().filter(|(_, kinds)| kinds.len() > 1).count();
    text.heading(&match differ {
        0 => "Layouts, the same for all".to_owned(),
        differ => format!("Layouts, of which {differ} of {} differ", rows.len()),
    });
    let width = column_width(rows.iter().map(|(what, _)| what.chars().count()));
    for (what, kinds) in &rows {
        match kinds.as_slice() {
            [(shape, _)] => text.verbatim(format_args!("  {what:width$}  {shape}")),
            kinds => {
                text.verbatim(format_args!("  {what:width$}  differs:"));
                for (shape, names) in kinds {
                    text.verbatim(format_args!("  {:width$}    {shape}  on {}", "", names.join(", ")));
                }
            }
        }
    }
    let paddings = good.iter().filter_map(|(name, answered)| Some((name, padded(answered)?)));
    let mut heading = Some("Largest padding");
    for (name, value) in paddings {
        if let Some(heading) = heading.take() {
            text.heading(heading);
        }
        let padding = InUnits(value.padding_bytes).to_string();
        let factor = value.expansion.map_or_else(String::new, |factor| Factor(factor).to_string());
        let shown = value_name(&value.name, value.leaf);
        text.verbatim(format_args!(
            "  {name:11}  {padding:>9}  {factor:>7}  {shown} ({})  {}",
            value.opcode, value.shape
        ));
    }
}
