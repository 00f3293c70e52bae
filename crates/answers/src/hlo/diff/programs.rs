//! Both programs as a whole: whether they are the same, and their numbers.

use super::{Accuracy, Difference, Instructions, Measure, Quantity, TotalName};
use schemars::JsonSchema;
use serde::Serialize;

words! {
    /// The kind of the line about both programs.
    pub enum ProgramsChange {
        /// Whether they are the same.
        Programs = "programs",
    }
}

/// Both programs as a whole, with what does not differ.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::hlo::Difference;
/// use xla_shape_answers::hlo::diff::ProgramsChange;
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
///
/// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?);
/// let json = Difference::new(&program.memory(None), &program.memory(None)).json();
/// let start = format!(r#"{{"schema":"xla-shape/hlo-diff/1","change":"{}","programs":[{{"module":"m","#, ProgramsChange::Programs);
/// assert!(json.starts_with(&start) && json.contains(r#""same":true"#), "{json}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Serialize, JsonSchema)]
pub struct Programs<'a> {
    /// The line is about the programs.
    change: ProgramsChange,
    /// Both programs.
    programs: Vec<Compared<'a>>,
    /// The numbers that do not differ.
    measures: Vec<Number>,
    /// The totals of memory that do not differ.
    totals: Vec<Total>,
    /// The peaks that do not differ.
    peaks: Vec<Peak<'a>>,
    #[serde(flatten)]
    instructions: &'a Instructions,
}

/// One of the two programs.
#[derive(Serialize, JsonSchema)]
struct Compared<'a> {
    /// The name of the module.
    module: &'a str,
    /// How accurate the numbers of its memory are.
    accuracy: Accuracy,
}

/// A number by which both programs are compared.
#[derive(Serialize, JsonSchema)]
struct Number {
    /// Which number.
    name: Measure,
    /// The number in both programs, memory in bytes and times in seconds; null if it is not known.
    value: Option<Quantity>,
}

/// A total of memory.
#[derive(Serialize, JsonSchema)]
struct Total {
    /// Which total, such as "temporaries".
    name: TotalName,
    /// The bytes in both programs.
    bytes: u64,
}

/// The peak of a memory space.
#[derive(Serialize, JsonSchema)]
struct Peak<'a> {
    /// The name of the memory space for people.
    name: &'a str,
    /// The bytes in both programs.
    bytes: u64,
    /// The instruction at which the space is fullest in the first program; null if it is not used.
    at_before: Option<&'a str>,
    /// The instruction at which the space is fullest in the second program; null if it is not used.
    at_after: Option<&'a str>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(difference: &'a Difference) -> Self {
        let Difference { programs, measures, totals, peaks, instructions, .. } = difference;
        let measures = measures.iter().filter(|measured| measured.before == measured.after);
        let totals = totals.iter().filter(|total| total.bytes == 0);
        let peaks = peaks.iter().filter(|peak| !peak.is_changed());
        Self {
            change: ProgramsChange::Programs,
            programs: programs.iter().map(|(module, accuracy)| Compared { module, accuracy: *accuracy }).collect(),
            measures: measures.map(|measured| Number { name: measured.measure, value: measured.after }).collect(),
            totals: totals.map(|total| Total { name: total.name, bytes: total.bytes_after }).collect(),
            peaks: peaks
                .map(|peak| Peak {
                    name: &peak.name,
                    bytes: peak.bytes_after,
                    at_before: peak.at_before.as_deref(),
                    at_after: peak.at_after.as_deref(),
                })
                .collect(),
            instructions,
        }
    }
}
