//! Which blocks are best: compiled candidates, sorted by a lower bound on their time.
//!
//! The crate `xla-shape-tune` asks the compiler, and makes this answer.

use crate::Answer;
use crate::cost::Seconds;
use crate::digest::{self, Digest, Word};
use crate::kernel::CompiledKernel;
use crate::search::{Axis, Search, setting, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xla_shape_core::tpu::Generation;
use xla_shape_mosaic::{DumpedKernel, Kernel, Transfers, WindowTransfers};

/// Candidates for the sizes of a kernel's blocks, the best first.
///
/// ```
/// use xla_shape_answers::cost::Seconds;
/// use xla_shape_answers::rank::{Figures, Limit, Ranking, State, Tried};
/// use xla_shape_answers::search::Axis;
///
/// let axis = Axis::new("bm", ["128", "256", "4096"]);
/// let time = |microseconds: u64| Some(Seconds::from_picoseconds(microseconds * 1_000_000));
/// let kernel = |bundles, copies| {
///     let limited_by = Some(if copies > bundles { Limit::Copies } else { Limit::Bundles });
///     Ok(Figures { limited_by, bundle_seconds: time(bundles), copy_seconds: time(copies), least_seconds: time(bundles.max(copies)), ..Figures::default() })
/// };
/// let too_large = Err((State::TooLarge, "its blocks need 48 MiB of VMEM, of 32 MiB".to_owned()));
/// let tried = [kernel(90, 100), kernel(70, 60), too_large].into_iter().enumerate();
/// let ranking = Ranking::new("v6e:2x2", vec![axis], tried.map(|(at, made)| Tried { at: vec![at], made }).collect());
/// let rows: Vec<_> = ranking.rows.iter().map(|row| (row.setting["bm"].as_str(), row.state)).collect();
/// assert_eq!(rows, [("256", State::Ranked), ("128", State::Ranked), ("4096", State::TooLarge)]);
/// assert_eq!(ranking.rows[1].figures.limited_by.unwrap().as_str(), "copies");
/// assert!(ranking.has_best());
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Ranking {
    /// The TPU, such as "v6e:2x2".
    #[serde(rename = "for")]
    pub device: String,
    /// The bytes per second between HBM and VMEM from which times are computed; null if they are not known.
    pub hbm_bytes_per_second: Option<u64>,
    /// The clock from which times are computed, in hertz; null if it is not known.
    pub clock_hz: Option<u64>,
    /// What differs between the candidates.
    pub axes: Vec<Axis>,
    /// The candidates: first those with `limited_by`, the least time first; then those whose time is not complete; then the others, in the order of
    /// the axes' values.
    pub rows: Vec<Row>,
    /// How many candidates there are.
    pub settings: usize,
    /// How the search went.
    #[serde(flatten)]
    pub search: Search,
}

/// A candidate.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// The value of each axis, by its name.
    pub setting: BTreeMap<String, String>,
    /// What came of it.
    pub state: State,
    /// Why it has no time; null if it has one.
    pub error: Option<String>,
    /// The figures of its compiled kernels.
    #[serde(flatten)]
    pub figures: Figures,
}

words! {
    /// What became of a candidate.
    ///
    /// ```
    /// assert_eq!(xla_shape_answers::rank::State::TooLarge.as_str(), "too large");
    /// ```
    pub enum State {
        /// It has a time.
        Ranked = "ranked",
        /// A TPU does not take its blocks. It was not compiled.
        NotAllowed = "not allowed",
        /// Its blocks need more VMEM than the kernel may use. It was not compiled.
        TooLarge = "too large",
        /// The program could not be made with these values.
        Missing = "no program",
        /// The compiler refused it.
        Refused = "refused",
        /// It was compiled, but the compiler's files do not say how many bundles execute.
        Unknown = "unknown",
    }

    /// What takes longer, and so limits a kernel.
    ///
    /// ```
    /// assert_eq!(xla_shape_answers::rank::Limit::Bundles.as_str(), "bundles");
    /// ```
    pub enum Limit {
        /// What the kernel computes.
        Bundles = "bundles",
        /// The copies between HBM and VMEM.
        Copies = "copies",
    }
}

/// The figures of the compiled kernels of one candidate; sums if it has several kernels. A field is null if it is not known.
///
/// ```
/// use xla_shape_answers::rank::Figures;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_mosaic::kernels;
///
/// let bundles = "0 : { %s1_s0 = smov.u32 0 }\n0x1 : {} /* exit bundle: %k = custom-call(%x) */\n";
/// let figures = Figures::new(&kernels(&[("llo.k.final_bundles.txt", bundles)]), Generation::V5e);
/// assert_eq!((figures.bundles, figures.bundle_seconds.unwrap().picoseconds()), (Some(2), 1333));
/// // Without Mosaic's text, it is not known what is copied.
/// assert_eq!((figures.copied_bytes, figures.notes.len()), (None, 1));
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// The least time: the time of all copies, or the sum of the times of the first copies, the bundles and the last copies, whichever is longer. The
    /// notes say what it leaves out.
    pub least_seconds: Option<Seconds>,
    /// What takes longer: the bundles or the copies. Null if no exact number of copied bytes is known, or if many more bundles may execute; the least
    /// time may then be far too short.
    pub limited_by: Option<Limit>,
    /// The fewest bundles that can execute, over all steps of the grid.
    pub bundles: Option<u64>,
    /// The most bundles that can execute: more than `bundles` if branches depend on values or on the core, or took too long to follow.
    pub most_bundles: Option<u64>,
    /// How long `bundles` take, one in each cycle.
    pub bundle_seconds: Option<Seconds>,
    /// The bytes that the grid copies between HBM and VMEM. Arrays that XLA keeps in VMEM are not copied.
    pub copied_bytes: Option<u64>,
    /// How long these copies take at the bandwidth of HBM.
    pub copy_seconds: Option<Seconds>,
    /// The steps of the grid.
    pub steps: Option<u64>,
    /// How often a vector or mask register is stored in memory, because there are too few registers.
    pub vector_spills: u64,
    /// The relayouts that move data.
    pub moving_relayouts: u64,
    /// The bytes of VMEM of the kernel that needs the most.
    pub vmem_bytes: Option<u64>,
    /// The bytes of VMEM that the kernel of `vmem_bytes` may use.
    pub vmem_limit_bytes: Option<u64>,
    /// What makes the figures doubtful.
    pub notes: Vec<String>,
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = [Self::Bundles, Self::Copies].into_iter().find(|limit| limit.as_str() == text);
        known.ok_or_else(|| serde::de::Error::custom(format_args!("expected bundles or copies, found {text}")))
    }
}

impl Figures {
    /// The figures of a program's kernels on a generation of TPUs. Kernels without bundles are left out.
    #[must_use]
    pub fn new(kernels: &[DumpedKernel<'_>], generation: Generation) -> Self {
        let mut sum: Option<Self> = None;
        let mut is_complete = true;
        for kernel in kernels.iter().filter(|kernel| kernel.instruction.is_some()) {
            let transfers = Transfers::of_kernel(&kernel.kernel);
            is_complete &= transfers.as_ref().is_some_and(are_exact);
            let own = Self::of(kernel, transfers.as_ref(), generation);
            sum = Some(sum.map_or_else(|| own.clone(), |sum| sum.and(&own)));
        }
        let mut all = sum.unwrap_or_default();
        // If only few bundles may or may not execute, they do not change what limits the kernel.
        let is_decided = |least: u64, most: u64| most.saturating_sub(least) <= least / 4;
        is_complete &= all.bundles.zip(all.most_bundles).is_some_and(|(least, most)| is_decided(least, most));
        let times = all.bundle_seconds.zip(all.copy_seconds).filter(|_| is_complete);
        all.limited_by = times.map(|(bundles, copies)| if copies > bundles { Limit::Copies } else { Limit::Bundles });
        all.notes.dedup();
        all
    }

    fn of(found: &DumpedKernel<'_>, transfers: Option<&Transfers>, generation: Generation) -> Self {
        let kernel = &found.kernel;
        let compiled = CompiledKernel::new(None, Some(generation), found);
        let bundles = kernel.least;
        let speed = generation.speed();
        let (clock, bandwidth) = (
            speed.map(|speed| speed.clock as f64),
            speed.map(|speed| {
                // The bandwidth of the whole device: its cores share the memory.
                (speed.hbm_bandwidth * generation.cores_per_device()) as f64
            }),
        );
        let bundle_seconds = bundles.zip(clock).map(|(bundles, clock)| bundles as f64 / clock);
        let copied_bytes = transfers.map(Transfers::bytes);
        let copy_seconds = copied_bytes.zip(bandwidth).map(|(bytes, bandwidth)| bytes as f64 / bandwidth);
        let least_seconds = match (transfers, bundles, clock, bandwidth) {
            (Some(transfers), Some(bundles), Some(clock), Some(bandwidth)) => {
                Some(transfers.least_seconds(bundles, clock, bandwidth))
            }
            _ => bundle_seconds,
        };
        let seconds = |seconds: Option<f64>| seconds.and_then(Seconds::from_seconds);
        Self {
            least_seconds: seconds(least_seconds),
            limited_by: None,
            bundles,
            most_bundles: kernel.most(),
            bundle_seconds: seconds(bundle_seconds),
            copied_bytes,
            copy_seconds: seconds(copy_seconds),
            steps: transfers.map(|transfers| transfers.steps().len() as u64),
            vector_spills: kernel.spills.saturating_sub(kernel.scalar_spills[0]),
            moving_relayouts: compiled.moving() as u64,
            vmem_bytes: compiled.vmem.as_ref().and_then(|vmem| vmem.bytes),
            vmem_limit_bytes: compiled.vmem.as_ref().and_then(|vmem| vmem.limit),
            notes: notes(kernel, transfers),
        }
    }

    /// The sums of these figures and those of another kernel, which runs after this one.
    fn and(self, other: &Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(one, other)| one.saturating_add(other));
        let time = |one: Option<Seconds>, other: Option<Seconds>| {
            let picoseconds = sum(one.map(Seconds::picoseconds), other.map(Seconds::picoseconds));
            picoseconds.map(Seconds::from_picoseconds)
        };
        let (vmem_bytes, vmem_limit_bytes) =
            (self.vmem_bytes, self.vmem_limit_bytes).max((other.vmem_bytes, other.vmem_limit_bytes));
        Self {
            least_seconds: time(self.least_seconds, other.least_seconds),
            limited_by: None,
            bundles: sum(self.bundles, other.bundles),
            most_bundles: sum(self.most_bundles, other.most_bundles),
            bundle_seconds: time(self.bundle_seconds, other.bundle_seconds),
            copied_bytes: sum(self.copied_bytes, other.copied_bytes),
            copy_seconds: time(self.copy_seconds, other.copy_seconds),
            steps: sum(self.steps, other.steps),
            vector_spills: self.vector_spills + other.vector_spills,
            moving_relayouts: self.moving_relayouts + other.moving_relayouts,
            vmem_bytes,
            vmem_limit_bytes,
            notes: self.notes.into_iter().chain(other.notes.iter().cloned()).collect(),
        }
    }
}

/// Whether the bytes of copies are counted exactly, apart from the edges of arrays, and the whole result is written.
fn are_exact(transfers: &Transfers) -> bool {
    let is_exact = |window: &WindowTransfers| window.is_in_hbm && !window.is_assumed && !is_left_out(window);
    !transfers.has_own && transfers.windows.iter().all(is_exact)
}

/// Whether the grid leaves a part of a result unwritten.
const fn is_left_out(window: &WindowTransfers) -> bool {
    window.is_written && window.is_short
}

/// Notes about why the figures of a kernel are uncertain.
fn notes(kernel: &Kernel<'_>, transfers: Option<&Transfers>) -> Vec<String> {
    let names = |is_such: &dyn Fn(&WindowTransfers) -> bool| {
        let windows = transfers.into_iter().flat_map(|transfers| &transfers.windows);
        let names = windows.filter(|window| is_such(window)).map(|window| window.name.as_str()).collect::<Vec<_>>();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    };
    let mut notes = Vec::new();
    if transfers.is_none() {
        let steps = kernel.grid.iter().flatten().fold(1, |steps: u64, bound| steps.saturating_mul(*bound));
        let why = match kernel.texts.mosaic() {
            None => "the compiler's files do not have the index maps",
            Some(_) if steps > Transfers::MOST_STEPS => "the grid has more than 1,048,576 steps",
            Some(_) => "the grid or an index map depends on values or was not understood, or has too many steps",
        };
        notes.push(format!("what the grid copies is not known, because {why}: only bundles count"));
    }
    if let Some(names) = names(&|window| window.is_assumed) {
        notes.push(format!(
            "the places of {names} depend on values: each is taken to be another one, so fewer bytes may be copied"
        ));
    }
    if let Some(names) = names(&|window| !window.is_in_hbm) {
        notes.push(format!("the compiler's files do not say whether {names} are in HBM: they are taken to be"));
    }
    if let Some(names) = names(&is_left_out) {
        notes.push(format!("the grid ends before {names} does, so the result is not whole"));
    }
    if let Some(names) = names(&|window| window.is_cut) {
        notes
            .push(format!("the blocks of {names} at the edges of their arrays count whole, so fewer bytes are copied"));
    }
    if let Some(names) = transfers.map(|transfers| transfers.in_vmem.join(", ")).filter(|names| !names.is_empty()) {
        notes.push(format!("{names}: in VMEM before the kernel starts, so what XLA copies there is not counted"));
    }
    if transfers.is_some_and(|transfers| transfers.has_own) {
        notes.push("the copies that the kernel starts itself are not counted".to_owned());
    }
    if kernel.loops.iter().any(|entry| entry.found.trips.is_none()) {
        notes.push("a loop whose trips are not known counts once".to_owned());
    }
    if let Some((least, most)) = kernel.least.zip(kernel.most()).filter(|(least, most)| least < most) {
        let more = most - least;
        notes.push(format!("up to {more} more bundles may execute: branches depend on values or on the core, or took too long to follow"));
    }
    notes
}

/// What became of a candidate.
///
/// ```
/// use xla_shape_answers::rank::{Ranking, State, Tried};
///
/// let tried = Tried { at: vec![], made: Err((State::Refused, "unsupported".to_owned())) };
/// let ranking = Ranking::new("v5e:2x2", vec![], vec![tried]);
/// assert_eq!((ranking.rows[0].error.as_deref(), ranking.has_best()), (Some("unsupported"), false));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// For each axis, the number of its value.
    pub at: Vec<usize>,
    /// The figures of the compiled kernels; or why there are none.
    pub made: Result<Figures, (State, String)>,
}

impl Ranking {
    /// The number of candidates that the text and the digest show.
    pub const TOP: usize = 5;

    /// Sorts the candidates that were tried for a device. An incomplete time comes after all complete ones. Among equal times, fewer bundles are
    /// better, then fewer bytes, then values that come first.
    #[must_use]
    pub fn new(device: &str, axes: Vec<Axis>, mut tried: Vec<Tried>) -> Self {
        let key = |tried: &Tried| {
            let figures = tried.made.as_ref().ok().filter(|figures| figures.least_seconds.is_some());
            let counts = figures.map(|figures| (figures.least_seconds, figures.bundles, figures.copied_bytes));
            let is_limited = figures.is_some_and(|figures| figures.limited_by.is_some());
            (counts.is_none(), !is_limited, counts, tried.at.clone())
        };
        tried.sort_by_cached_key(key);
        let settings = axes.iter().map(|axis| axis.values.len()).product();
        let row = |Tried { at, made }: Tried| {
            let setting = setting(&axes, &at);
            match made {
                Ok(figures) if figures.least_seconds.is_some() => {
                    Row { setting, state: State::Ranked, error: None, figures }
                }
                Ok(figures) => {
                    let error = "the compiler's files do not say how many bundles of its kernels execute".to_owned();
                    Row { setting, state: State::Unknown, error: Some(error), figures }
                }
                Err((state, error)) => Row { setting, state, error: Some(error), figures: Figures::default() },
            }
        };
        let rows = tried.into_iter().map(row).collect();
        Self { device: device.to_owned(), rows, axes, settings, ..Self::default() }
    }

    /// The candidates with a time, the best first.
    pub fn ranked(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.state == State::Ranked)
    }

    /// Whether a candidate has a time.
    #[must_use]
    pub fn has_best(&self) -> bool {
        self.ranked().next().is_some()
    }
}

impl Answer for Ranking {
    const SCHEMA: &'static str = "xla-shape/block-rank/1";

    /// The best candidates, with their bundles and what limits them.
    fn digest(&self) -> Digest {
        let cause = |row: &Row| digest::Cause {
            name: words(&self.axes, &row.setting),
            amount: row.figures.bundles.map(|bundles| digest::Amount::Bundles(digest::Bundles::Executed, bundles)),
            because: row.figures.least_seconds.map(|seconds| match row.figures.limited_by {
                Some(limit) => format!("at least {seconds}, limited by {limit}"),
                None => format!("at least {seconds}"),
            }),
            ..digest::Cause::default()
        };
        // If each candidate is a file, the next command shows more about the best one.
        let best = self.ranked().next().zip(self.axes.first().filter(|axis| axis.name == "program"));
        let best = best
            .and_then(|(row, axis)| axis.values.iter().position(|value| row.setting.get(&axis.name) == Some(value)));
        let next = best.map(|file| vec!["kernel".into(), Word::File(file)]).into_iter().collect();
        Digest { causes: self.ranked().take(digest::MOST).map(cause).collect(), next }
    }
}

#[cfg(test)]
mod tests {
    use super::{Figures, Limit, Ranking, State, Tried};
    use crate::Answer;
    use crate::cost::Seconds;
    use crate::digest::Word;
    use crate::search::{Axis, words};
    use xla_shape_core::tpu::Generation;
    use xla_shape_mosaic::kernels;

    #[test]
    fn the_order_does_not_depend_on_the_order_in_which_compilers_answer() {
        let axis = |name: &str| Axis::new(name, ["0", "1", "2"]);
        let time = |nanoseconds: u64| Some(Seconds::from_picoseconds(nanoseconds * 1000));
        let made = |nanoseconds, bundles, bytes| {
            Ok(Figures {
                least_seconds: time(nanoseconds),
                bundles: Some(bundles),
                copied_bytes: Some(bytes),
                ..Figures::default()
            })
        };
        let mut tried = vec![
            Tried { at: vec![0, 0], made: made(9, 5, 5) },
            Tried { at: vec![0, 1], made: made(7, 5, 5) },
            Tried { at: vec![0, 2], made: made(7, 4, 9) },
            Tried { at: vec![1, 0], made: made(7, 5, 4) },
            Tried { at: vec![1, 1], made: made(7, 5, 5) },
            Tried { at: vec![1, 2], made: Err((State::Refused, "no".to_owned())) },
            Tried { at: vec![2, 0], made: Ok(Figures::default()) },
            Tried { at: vec![2, 1], made: Err((State::Missing, "none".to_owned())) },
        ];
        let axes = vec![axis("a"), axis("b")];
        for _ in 0..tried.len() {
            tried.rotate_left(1);
            let ranking = Ranking::new("v6e:2x2", axes.clone(), tried.clone());
            let order = ranking.rows.iter().map(|row| words(&axes, &row.setting)).collect::<Vec<_>>();
            let expected =
                ["a 0, b 2", "a 1, b 0", "a 0, b 1", "a 1, b 1", "a 0, b 0", "a 1, b 2", "a 2, b 0", "a 2, b 1"];
            assert_eq!(order, expected);
            let states = ranking.rows[5..].iter().map(|row| row.state).collect::<Vec<_>>();
            assert_eq!(states, [State::Refused, State::Unknown, State::Missing]);
            assert_eq!((ranking.settings, ranking.ranked().count()), (9, 5));
        }
    }
    #[test]
    fn a_time_that_leaves_something_out_comes_last_and_the_best_file_is_asked_about() {
        let axis = Axis::new("program", ["a", "b"]);
        let made = |nanoseconds: u64, limited_by| {
            Ok(Figures {
                least_seconds: Some(Seconds::from_picoseconds(nanoseconds * 1000)),
                limited_by,
                ..Figures::default()
            })
        };
        let tried = vec![
            Tried { at: vec![0], made: made(1, None) },
            Tried { at: vec![1], made: made(9, Some(Limit::Bundles)) },
        ];
        let ranking = Ranking::new("v6e:2x2", vec![axis], tried);
        assert_eq!(ranking.rows[0].setting["program"], "b");
        assert_eq!(ranking.digest().next, [vec!["kernel".into(), Word::File(1)]]);
    }

    #[test]
    fn a_body_that_may_or_may_not_execute_limits_nothing() {
        let figures = |branch: &str| {
            let body = (2..40).map(|number| format!("{number:#x} : {{ %v{number} = vmov 1.0 }}\n")).collect::<String>();
            let bundles = format!(
                "0 : {{ %s1_s0 = smov.u32 0 }}\n0x1 : {{ %4 = sbr.rel ({branch}) target = $region9  }}\n{body}\
                 0x28 : {{ %v40 = vmov 1.0 }} /* Start region 9 */\n0x29 : {{}} /* exit bundle: %k = custom-call(%x) */\n"
            );
            Figures::new(&kernels(&[("llo.k.final_bundles.txt", &bundles)]), Generation::V5e)
        };
        let open = figures("%p9_p0");
        assert_eq!((open.bundles, open.most_bundles, open.limited_by), (Some(4), Some(42), None), "{open:?}");
        assert!(
            open.notes.iter().any(|note| note.starts_with("up to 38 more bundles may execute")),
            "{:?}",
            open.notes
        );
    }
}
