//! The few lines of an answer that fit into a prompt: its largest causes, and what to ask next.

use crate::amount;

/// How many causes a digest has at most.
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
    /// Commands of the program without its name. `FILE` is the file that was asked about.
    pub next: Vec<String>,
}

/// Something that takes much of what the answer counts.
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// Bytes of memory.
    Bytes(u64),
    /// How many bytes more than before.
    MoreBytes(i64),
    /// Cycles of a TPU or a time on a GPU, as the compiler estimates them.
    Cost(amount::Amount),
    /// Bundles of a kernel, which is how many instructions are executed one after the other.
    Bundles(u64),
}
