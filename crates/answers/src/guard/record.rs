//! The file that `guard record` and `guard lock` write.

use super::measures;
use crate::cost::{Amount, Cause, CopyCost, Measured, ProgramCost, Remedy, Seconds, Spread};
use crate::hlo::times::{Span, spans_by_line};
use crate::hlo::{Measure, Operations, Quantity, Signature, measure};
use crate::{Answer, answer_line};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use xla_shape_core::Shape;
use xla_shape_core::sorting::sort;
use xla_shape_hlo::Module;
use xla_shape_hlo::cost::CostError;
use xla_shape_program::{CompileError, CompilerAnswer, Program};

/// The contents of the file that `guard record` and `guard lock` write: the cost of a program on each device, and how it keeps its arguments and
/// results.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::guard::{Record, RecordError, Recorded};
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?;
/// let record = Record::new(vec![Recorded::new(&module, Some(32), Some("v5e:2x2"), None)?]);
/// let file = record.file();
/// assert!(file.contains("\"memory\": 32"));
/// assert_eq!(Record::parse(file.as_bytes())?, record);
/// let lock = record.clone().locking();
/// assert!(lock.lock && Record::parse(lock.file().as_bytes())? == lock);
/// let error: RecordError = Record::parse(b"{\n  \"schema\": 1,\n}").unwrap_err();
/// assert_eq!(error.to_string(), "invalid type: integer `1`, expected a string at line 2 column 13");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Whether arguments and results must be kept as they are. If so, `guard check` fails if data no longer fit, and compares costs only with limits
    /// that it is given. Older records do not have it.
    pub lock: bool,
    /// One for each device.
    pub programs: Vec<Recorded>,
}

/// The cost of a program on one device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(expecting = "a program")]
pub struct Recorded {
    /// The device, such as "v5e:2x2"; null for a compiled module whose device nobody named.
    pub device: Option<String>,
    /// What the compiler says its version is; null for a compiled module.
    pub compiler: Option<String>,
    /// The name of the module; null if it has none.
    pub module: Option<String>,
    /// Among how many devices each copy of the program is divided.
    pub partitions: String,
    /// How many copies of the program run.
    pub replicas: String,
    /// How many devices take part in the collectives; 1 without collectives. Older records do not have it.
    #[serde(default = "alone")]
    pub in_collectives: u64,
    /// The numbers that are compared, by name: memory, cycles, seconds, time, copies, collectives and fusions. Null for one that is not known.
    #[serde(deserialize_with = "measures::read")]
    pub measures: BTreeMap<Measure, Option<Quantity>>,
    /// The shapes of the parameters, with their layouts.
    pub parameters: Vec<String>,
    /// The shape of the result; null without an entry computation.
    pub result: Option<String>,
    /// How the parameters are divided; null for one without a sharding.
    pub shardings: Vec<Option<String>>,
    /// The names of the parameters in the user's program; null for one without. Older records do not have it.
    #[serde(default)]
    pub names: Vec<Option<String>>,
    /// How the result is divided; null without a sharding. Older records do not have it.
    #[serde(default)]
    pub result_sharding: Option<String>,
    /// Which results are in the memory of an argument, in the form of the module's `input_output_alias`; empty for none.
    #[serde(default)]
    pub aliases: Option<String>,
    /// A digest of the names of the user's operations.
    pub operations: String,
    /// A digest of the same names, without operations that only move data.
    pub computing: String,
    /// The instructions that only change a layout.
    pub copies: Vec<RecordedCopy>,
    /// The cost by source line.
    pub lines: Vec<RecordedLine>,
    /// For a profile: what it measured; null for anything else. Older records do not have it.
    #[serde(default)]
    pub measured: Option<RecordedTimes>,
}

/// The measured times of a program.
///
/// ```
/// use xla_shape_answers::guard::{RecordedTime, RecordedTimes, Recorded};
/// use xla_shape_program::Program;
///
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/train.xplane.pb");
/// let recorded = Recorded::of_program(&Program::open(path)?, None).unwrap();
/// let times: RecordedTimes = recorded.measured.unwrap();
/// let line: &RecordedTime = times.lines.iter().find(|line| line.source.as_deref() == Some("train.py:4")).unwrap();
/// assert_eq!((times.runs, line.mean_picoseconds), (6, 77_689_333));
/// # Ok::<(), xla_shape_program::OpenError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(expecting = "measured times")]
pub struct RecordedTimes {
    /// How many runs were measured, on all devices.
    pub runs: usize,
    /// How much their times differ.
    #[serde(flatten)]
    pub spread: Spread,
    /// The times of one run by source line.
    pub lines: Vec<RecordedTime>,
}

/// The time of a source line in one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(expecting = "the time of a source line")]
pub struct RecordedTime {
    /// The file and the line; null for instructions without one.
    pub source: Option<String>,
    /// The mean, in picoseconds.
    pub mean_picoseconds: u64,
    /// The sum of the shortest times of its instructions.
    pub shortest_picoseconds: u64,
    /// The sum of the longest times of its instructions.
    pub longest_picoseconds: u64,
}

impl RecordedTimes {
    fn new(measured: &Measured) -> Option<Self> {
        let runs = measured.runs.as_ref()?;
        let line = |(source, span): (Option<&str>, Span)| RecordedTime {
            source: source.map(str::to_owned),
            mean_picoseconds: span.mean,
            shortest_picoseconds: span.shortest,
            longest_picoseconds: span.longest,
        };
        Some(Self {
            runs: runs.count,
            spread: runs.spread,
            lines: spans_by_line(measured).into_iter().map(line).collect(),
        })
    }
}

impl RecordedTime {
    pub(super) const fn span(&self) -> Span {
        Span { mean: self.mean_picoseconds, shortest: self.shortest_picoseconds, longest: self.longest_picoseconds }
    }
}

/// A copy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(expecting = "a copy")]
pub struct RecordedCopy {
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
    /// The opcode.
    pub opcode: String,
    /// The shape before.
    pub from: String,
    /// The shape after.
    pub to: String,
    /// The cycles of all runs; null if they are not known.
    pub cycles: Option<u64>,
    /// For a GPU: the seconds of all runs; null if they are not known. Older records do not have it.
    #[serde(default)]
    pub seconds: Option<Seconds>,
    /// Why the copy is there, as a sentence.
    pub cause: Noted<Cause>,
    /// What would remove it; null if nothing is known.
    pub remedy: Option<Noted<Remedy>>,
}

/// A cause or a remedy in a record. The file has it as a sentence. When a file is read, the cause or remedy stays a sentence, because another version
/// may use other words.
///
/// ```
/// use xla_shape_answers::cost::Cause;
/// use xla_shape_answers::guard::Noted;
///
/// let found = Noted::Found(Cause::Result);
/// let read: Noted<Cause> = serde_json::from_str(&serde_json::to_string(&found)?)?;
/// assert!(matches!(&read, Noted::Read(sentence) if sentence == "a result needs memory of its own"));
/// assert_eq!(found, read);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
pub enum Noted<T> {
    /// The value that this version found in a program.
    Found(T),
    /// The sentence in a file.
    Read(String),
}

/// A source line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(expecting = "a source line")]
pub struct RecordedLine {
    /// The file and the line; null for instructions without one.
    pub source: Option<String>,
    /// The cycles of all runs; null for a GPU.
    pub cycles: Option<u64>,
    /// For a GPU: the seconds of all runs; null for a TPU. Older records do not have it.
    #[serde(default)]
    pub seconds: Option<Seconds>,
}

impl RecordedCopy {
    /// The cost of all its runs.
    pub(super) fn amount(&self) -> Option<Amount> {
        self.seconds.map(Amount::Time).or(self.cycles.map(Amount::Cycles))
    }
}

impl<T: fmt::Display> fmt::Display for Noted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(found) => found.fmt(f),
            Self::Read(sentence) => f.write_str(sentence),
        }
    }
}

impl<T: fmt::Display> Serialize for Noted<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T> Deserialize<'de> for Noted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::Read)
    }
}

impl<T: fmt::Display> PartialEq for Noted<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: fmt::Display> Eq for Noted<T> {}

impl<T: fmt::Display> PartialOrd for Noted<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares the sentences that a file would have.
impl<T: fmt::Display> Ord for Noted<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl RecordedLine {
    /// The cost of all its runs.
    pub(super) fn amount(&self) -> Option<Amount> {
        self.seconds.map(Amount::Time).or(self.cycles.map(Amount::Cycles))
    }
}

/// Why a file cannot be read as a record.
#[derive(Debug)]
pub enum RecordError {
    /// It is not JSON, or a field is missing or wrong; the message has the position.
    Json(serde_json::Error),
    /// Its schema has another name or version.
    Schema(String),
    /// It has no programs.
    Empty,
    /// A text in it is not a valid shape: where, and why.
    Shape(String),
    /// A field of a program is missing, which is not the same as a null: the number of the program, and the name of the field.
    Measure(usize, Measure),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Schema(found) => write!(f, "expected the schema `{}`, found `{found}`", Record::SCHEMA),
            Self::Empty => f.write_str("the record has no programs"),
            Self::Shape(error) => f.write_str(error),
            Self::Measure(number, of) => write!(f, "programs[{number}].measures: missing field `{}`", of.name()),
        }
    }
}

impl std::error::Error for RecordError {}

/// The default number of devices, for a program without collectives.
const fn alone() -> u64 {
    1
}

impl Record {
    /// A record of programs. If there are several for one device, the last one counts.
    #[must_use]
    pub fn new(programs: Vec<Recorded>) -> Self {
        let mut kept: Vec<Recorded> = Vec::new();
        for program in programs {
            kept.retain(|other| other.device != program.device);
            kept.push(program);
        }
        Self { lock: false, programs: kept }
    }

    /// The same record as a lock: the program must keep its arguments and results as they are.
    #[must_use]
    pub fn locking(self) -> Self {
        Self { lock: true, ..self }
    }

    /// Reads the file of a record.
    ///
    /// # Errors
    /// If the text is not valid JSON, has another schema or no programs, or has a shape that is not valid.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        /// The part that is the same in all versions.
        #[derive(Deserialize)]
        #[serde(expecting = "an object with `schema`")]
        struct Header {
            schema: String,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object with `programs`")]
        struct Body {
            #[serde(default)]
            lock: bool,
            programs: Vec<Recorded>,
        }
        // Refuse lists, because serde would read one as the fields in their order.
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(RecordError::Json(serde::de::Error::custom(
                "not a record, as `guard record` or `guard lock` writes it; the record comes before the program",
            )));
        }
        // Reads the version first, because another version has other fields.
        let header: Header = serde_json::from_slice(bytes).map_err(RecordError::Json)?;
        if header.schema != Self::SCHEMA {
            return Err(RecordError::Schema(header.schema));
        }
        let body: Body = serde_json::from_slice(bytes).map_err(RecordError::Json)?;
        if body.programs.is_empty() {
            return Err(RecordError::Empty);
        }
        for (number, program) in body.programs.iter().enumerate() {
            let needed = Measure::ALL.into_iter().filter(|of| !of.is_of_some());
            if let Some(missing) = needed.into_iter().find(|of| !program.measures.contains_key(of)) {
                return Err(RecordError::Measure(number, missing));
            }
            program.signature().map_err(|error| RecordError::Shape(format!("programs[{number}].{error}")))?;
        }
        Ok(Self { lock: body.lock, programs: body.programs })
    }

    /// The text of the file: JSON with one field on each line, so that only a few lines change if only a few numbers change.
    #[must_use]
    pub fn file(&self) -> String {
        let value = serde_json::from_str::<serde_json::Value>(&answer_line(Self::SCHEMA, self)).unwrap_or_default();
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }

    /// The devices of the programs, in their order; `None` for a compiled module for which no device was named.
    pub fn devices(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.programs.iter().map(|program| program.device.as_deref())
    }

    /// The device of the only program; `None` if it is not known, or if there are several programs.
    #[must_use]
    pub fn only_device(&self) -> Option<&str> {
        match self.programs.as_slice() {
            [only] => only.device.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn programs(&self) -> &[Recorded] {
        &self.programs
    }
}

impl Recorded {
    /// The cost of a compiled program. `memory` is the bytes of HBM that it takes, `device` the name of the device, `compiler` the version of the
    /// compiler, as it reports it.
    ///
    /// # Errors
    /// As [`Module::costs`].
    ///
    /// ```
    /// use xla_shape_answers::guard::Recorded;
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse(
    ///     r#"HloModule m
    ///     ENTRY e {
    ///       p = f32[8,128]{1,0} parameter(0)
    ///       ROOT c = f32[8,128]{0,1} copy(p), metadata={source_file="train.py" source_line=7},
    ///         backend_config={"window_config":{"estimated_cycles":"1200"}}
    ///     }"#,
    /// )?;
    /// let recorded = Recorded::new(&module, Some(8192), Some("v5e"), None)?;
    /// assert_eq!((recorded.copies[0].to.as_str(), recorded.copies[0].cycles), ("f32[8,128]{0,1}", Some(1200)));
    /// assert_eq!((recorded.lines[0].source.as_deref(), recorded.lines[0].cycles), (Some("train.py:7"), Some(1200)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        module: &Module,
        memory: Option<u64>,
        device: Option<&str>,
        compiler: Option<&str>,
    ) -> Result<Self, CostError> {
        Ok(Self::with(&ProgramCost::new(module)?, module, memory, device, compiler))
    }

    fn with(
        cost: &ProgramCost,
        module: &Module,
        memory: Option<u64>,
        device: Option<&str>,
        compiler: Option<&str>,
    ) -> Self {
        let mut signature = Signature::new(module);
        let entry = module.entry();
        let result = entry.and_then(|_| signature.shapes.pop());
        let sources = module.sources();
        let [partitions, replicas] = signature.devices;
        let names = Operations::new(module, &sources);
        let copies = cost.copies.iter().filter(|copy| copy.changes_layout());
        let mut copies: Vec<_> = copies.map(RecordedCopy::new).collect();
        sort(&mut copies);
        let lines = cost.lines().map(|(source, amount)| RecordedLine {
            source: source.map(str::to_owned),
            cycles: amount.cycles(),
            seconds: amount.time(),
        });
        let mut lines: Vec<_> = lines.collect();
        sort(&mut lines);
        let measures = Measure::ALL.into_iter().map(|of| (of, measure(of, module, memory, Some(cost))));
        let measures = measures.filter(|(of, number)| !of.is_of_some() || number.is_some());
        Self {
            device: device.map(str::to_owned),
            compiler: compiler.map(|compiler| compiler.split_whitespace().collect::<Vec<_>>().join(" ")),
            module: module.name().map(str::to_owned),
            partitions,
            replicas,
            in_collectives: signature.in_collectives,
            measures: measures.collect(),
            parameters: signature.shapes.iter().map(ToString::to_string).collect(),
            result: result.map(|result| result.to_string()),
            shardings: signature.shardings,
            names: signature.names,
            result_sharding: entry.and_then(|entry| Some(entry.root().attribute("sharding")?.text().to_owned())),
            aliases: signature.aliases,
            operations: digest(&names.all),
            computing: digest(&names.computing),
            copies,
            lines,
            measured: cost.measured.as_deref().and_then(RecordedTimes::new),
        }
    }

    /// The cost of a program that is compiled already. `device` is the name of its device, if it is known.
    ///
    /// # Errors
    /// As [`Module::costs`].
    pub fn of_program(program: &Program, device: Option<&str>) -> Result<Self, CostError> {
        let memory = program.memory(None).timeline().map(|timeline| timeline.account().device.total());
        Ok(Self::with(&ProgramCost::of(program)?, program.module(), memory, device, None))
    }

    /// The cost of a program that a compiler has compiled for a device.
    ///
    /// # Errors
    /// If the compiled module or its figures cannot be read.
    pub fn of_compiled(said: &CompilerAnswer, device: &str) -> Result<Self, CompileError> {
        let (module, cost) = (said.module()?, ProgramCost::of_compiled(said)?);
        Ok(Self::with(&cost, &module, Some(said.hbm_bytes()), Some(device), said.compiler.as_deref()))
    }

    /// The signature of the program; an error names the text that is not a valid shape.
    pub(crate) fn signature(&self) -> Result<Signature, String> {
        let read =
            |name: String, text: &str| text.parse::<Shape>().map_err(|error| format!("{name}: {}", error.render(text)));
        let parameters = self.parameters.iter().enumerate();
        let shapes = parameters.map(|(number, text)| read(format!("parameters[{number}]"), text));
        let shapes = shapes.chain(self.result.as_ref().map(|text| read("result".to_owned(), text)));
        Ok(Signature {
            shapes: shapes.collect::<Result<_, _>>()?,
            shardings: self.shardings.clone(),
            names: self.names.clone(),
            aliases: self.aliases.clone(),
            devices: [self.partitions.clone(), self.replicas.clone()],
            in_collectives: self.in_collectives,
        })
    }

    /// The numbers that apply to the program. If it has an estimated time, as on a GPU, the cycles are left out.
    pub fn said(&self) -> impl Iterator<Item = (Measure, Option<Quantity>)> {
        let has_time = self.measures.contains_key(&Measure::Seconds);
        let measures = self.measures.iter().map(|(of, number)| (*of, *number));
        measures.filter(move |(of, _)| !has_time || *of != Measure::Cycles)
    }

    pub(crate) fn measure(&self, of: Measure) -> Option<Quantity> {
        self.measures.get(&of).copied().flatten()
    }

    /// The name of the device for people.
    pub(crate) fn device_name(&self) -> &str {
        self.device.as_deref().unwrap_or("a device that is not named")
    }
}

impl RecordedCopy {
    fn new(copy: &CopyCost) -> Self {
        Self {
            op_name: copy.op_name.clone(),
            source: copy.source.clone(),
            opcode: copy.opcode.clone(),
            from: copy.from.clone(),
            to: copy.to.clone(),
            cycles: copy.total.and_then(Amount::cycles),
            seconds: copy.total.and_then(Amount::time),
            cause: Noted::Found(copy.cause.clone()),
            remedy: copy.remedy.clone().map(Noted::Found),
        }
    }
}

/// The 64-bit FNV-1a hash of texts, as hexadecimal digits: the same in every release, unlike the standard library's.
fn digest(texts: &BTreeSet<String>) -> String {
    // With a 0 after each text, `ab` and `c` have a different hash from `a` and `bc`.
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

impl Answer for Record {
    const SCHEMA: &'static str = "xla-shape/guard-record/1";
}
