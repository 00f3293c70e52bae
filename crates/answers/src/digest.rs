//! The short form of an answer that fits into a prompt: its largest causes, and what to ask next.

use crate::amount;
use xla_shape_core::sorting::sort_by_key;

/// A digest has at most this many causes.
pub(crate) const MOST: usize = 3;

/// The largest causes of an answer, and the commands to run next. The JSON of the answer has the causes, too.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::cost::{self, ProgramCost};
/// use xla_shape_answers::digest::Amount;
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse(r#"
/// HloModule m
/// ENTRY main {
///   a = f32[8,128]{1,0} parameter(0)
///   ROOT b = f32[8,128]{0,1} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}}
/// }"#)?;
/// let digest = ProgramCost::new(&module)?.digest();
/// assert_eq!((digest.causes[0].name.as_str(), digest.causes[0].amount), ("%b", Some(Amount::Cost(cost::Amount::Cycles(1200)))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Digest {
    /// The causes, the largest first, at most three.
    pub causes: Vec<Cause>,
    /// Commands of the program as words, without the program's name.
    pub next: Vec<Vec<Word>>,
}

/// A word of a command.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::cost::ProgramCost;
/// use xla_shape_answers::digest::Word;
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { a = f32[8]{0} parameter(0) ROOT b = f32[8]{0} negate(a) }")?;
/// assert_eq!(ProgramCost::new(&module)?.digest().next, [[Word::from("hlo"), Word::File(0)]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Word {
    /// The word itself.
    Text(String),
    /// A file that the question names, by its number from 0.
    File(usize),
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Something that takes a large part of what the answer counts. Its texts are only for people; the answer itself has the same facts as data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cause {
    /// What it is.
    pub name: String,
    /// How much it takes, if that is known.
    pub amount: Option<Amount>,
    /// The file and the line in the user's program.
    pub source: Option<String>,
    /// Why it is there.
    pub because: Option<String>,
    /// What would help.
    pub remedy: Option<String>,
}

/// How much something takes.
///
/// If some causes have a cost and others only bytes, those with a cost come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// Bytes of memory.
    Bytes(u64),
    /// How many bytes more than before.
    MoreBytes(i64),
    /// Cycles of a TPU or a time on a GPU, as the compiler estimates them.
    Cost(amount::Amount),
    /// The sum of the measured times of several runs, and the number of these runs.
    Measured(amount::Seconds, usize),
    /// A number of bundles of a kernel. The instructions of one bundle execute together, and the bundles one after the other.
    Bundles(Bundles, u64),
    /// The bundles before and after a change.
    BundlesChanged(Bundles, [u64; 2]),
}

/// How bundles are counted.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::digest::{Amount, Bundles};
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "0 : { %v1_v0 = vadd.f32 %v0_v0, 1.0 /* loc(\"k.py\":5:1 to :9) */ } /* exit bundle: %k = custom-call(%x) */\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", text)]));
/// assert_eq!(answer.digest().causes[0].amount, Some(Amount::Bundles(Bundles::Executed, 1)), "no loop: each once");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bundles {
    /// Each bundle once.
    Once,
    /// Each bundle as often as its loops run.
    Executed,
}

impl Amount {
    /// The key for sorting: first the kind of amount, then its size.
    const fn size(self) -> (u8, u64) {
        match self {
            Self::Bytes(bytes) => (0, bytes),
            Self::MoreBytes(bytes) => (0, bytes.unsigned_abs()),
            Self::Cost(cost) => (1, cost.number()),
            Self::Measured(time, _) => (1, time.picoseconds()),
            Self::Bundles(_, bundles) => (1, bundles),
            Self::BundlesChanged(_, [before, after]) => (1, before.abs_diff(after)),
        }
    }
}

/// The largest of these causes, as many as fit into a digest; those without an amount come last.
pub(crate) fn largest(mut causes: Vec<Cause>) -> Vec<Cause> {
    sort_by_key(&mut causes, |cause| std::cmp::Reverse(cause.amount.map(Amount::size)));
    causes.truncate(MOST);
    causes
}

/// The largest of these copies and source lines. If the whole cost of a line is one copy, only the copy is named.
pub(crate) fn largest_of(copies: Vec<Cause>, lines: impl Iterator<Item = Cause>) -> Vec<Cause> {
    let is_copy =
        |line: &Cause| copies.iter().any(|copy| copy.source.as_ref() == Some(&line.name) && copy.amount == line.amount);
    let lines = lines.filter(|line| !is_copy(line)).collect::<Vec<_>>();
    largest([copies, lines].concat())
}

/// The command that shows an instruction of the file.
pub(crate) fn show(instruction: &str) -> Vec<Word> {
    vec!["hlo".into(), "show".into(), Word::File(0), format!("%{instruction}").into()]
}
