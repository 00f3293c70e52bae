//! The few lines of an answer that fit into a prompt: its largest causes, and what to ask next.

use crate::compile::{Compilation, Outcome};
use crate::cost::{self, ProgramCost};
use crate::guard::Checks;
use crate::hlo::{Difference, Report};
use crate::kernel::Kernels;
use crate::scan::Scan;
use std::cmp::Reverse;

/// How many causes a digest has at most.
const MOST: usize = 3;

/// The largest causes of an answer, and what to ask next. All of it is also in the answer's JSON.
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
    Cost(cost::Amount),
    /// Bundles of a kernel, which is how many instructions are executed one after the other.
    Bundles(u64),
}

impl Digest {
    /// The largest arrays at the peak of the first memory space.
    pub(crate) fn of_report(report: &Report) -> Self {
        let errors = report.findings.iter().map(|finding| Cause {
            name: format!("%{}", finding.instruction),
            because: Some(format!("{}: {}", finding.severity, finding.message)),
            ..Cause::default()
        });
        let residents = report.at_peak.first().map(|peak| peak.largest.as_slice()).unwrap_or_default();
        let largest = residents.iter().map(|resident| Cause {
            name: format!("%{}", resident.name),
            amount: Some(Amount::Bytes(resident.bytes)),
            source: resident.source().or_else(|| resident.op_name.clone()),
            because: Some(format!("{} {}", resident.role, resident.shape)),
            remedy: None,
        });
        let mut next = vec!["cost FILE".to_owned()];
        if let Some(largest) = residents.first() {
            next.insert(0, format!("hlo show FILE %{}", largest.name));
        }
        if let Some(padded) = report.most_padded.first().filter(|padded| padded.padding_bytes > 0) {
            next.push(format!("advise '{}'", padded.shape));
        }
        // The largest is never left out, however many findings there are.
        let causes = largest.clone().take(1).chain(errors.take(1)).chain(largest.skip(1));
        Self { causes: causes.take(MOST).collect(), next }
    }

    /// The copies that cost the most, or else the source lines.
    pub(crate) fn of_cost(cost: &ProgramCost) -> Self {
        let copies = cost.copies.iter().map(|copy| Cause {
            name: format!("%{}", copy.instruction),
            amount: copy.total.map(Amount::Cost).or(copy.bytes.map(Amount::Bytes)),
            source: copy.source.clone(),
            because: Some(copy.cause.to_string()),
            remedy: copy.remedy.as_ref().map(ToString::to_string),
        });
        let lines = cost.lines.iter().filter_map(|line| {
            let amount = line.amount.map(Amount::Cost);
            Some(Cause { name: line.source.clone()?, amount, ..Cause::default() })
        });
        let causes = copies.take(MOST - 1).chain(lines).take(MOST).collect();
        let mut next = vec!["hlo FILE".to_owned()];
        if let Some(copy) = cost.copies.first() {
            next.insert(0, format!("hlo show FILE %{}", copy.instruction));
        }
        Self { causes, next }
    }

    /// The lines of the kernels with the most bundles, with what their accesses need.
    pub(crate) fn of_kernels(kernels: &Kernels) -> Self {
        let mut lines = kernels.kernels.iter().flat_map(|kernel| kernel.lines.iter().map(move |line| (kernel, line)));
        let mut lines = lines.by_ref().collect::<Vec<_>>();
        lines.sort_by_key(|(_, line)| Reverse(line.bundles));
        let causes = lines.into_iter().take(MOST).map(|(kernel, line)| Cause {
            name: kernel.title(),
            amount: Some(Amount::Bundles(line.bundles)),
            source: Some(line.source.clone()),
            because: (line.moving > 0).then(|| format!("{} relayouts move data", line.moving)),
            remedy: kernel
                .unaligned
                .iter()
                .find(|access| access.source.as_ref() == Some(&line.source))
                .map(|access| access.advice.clone()),
        });
        Self { causes: causes.collect(), next: vec!["kernel CHANGED --against FILE".to_owned()] }
    }

    /// What makes the memory at the first peak differ, and the copies, collectives and fusions that come or go.
    pub(crate) fn of_difference(difference: &Difference) -> Self {
        let memory = difference.peaks.first().map(|peak| peak.because.as_slice()).unwrap_or_default();
        let mut memory = memory.iter().collect::<Vec<_>>();
        memory.sort_by_key(|cause| Reverse(cause.bytes.unsigned_abs()));
        let memory = memory.into_iter().map(|cause| Cause {
            name: format!("%{}", cause.name),
            amount: Some(Amount::MoreBytes(cause.bytes)),
            source: cause.source.clone().or_else(|| cause.op_name.clone()),
            because: Some(format!("{} {}", cause.live, cause.shape)),
            remedy: None,
        });
        let mut parts = difference.parts.iter().collect::<Vec<_>>();
        parts.sort_by_key(|part| Reverse(part.amount));
        let parts = parts.into_iter().map(|part| Cause {
            name: format!("%{}", part.name),
            amount: part.amount.map(Amount::Cost),
            source: part.source.clone(),
            because: Some(format!("{}: {}", part.change, part.cause)),
            remedy: part.remedy.as_ref().map(ToString::to_string),
        });
        let causes = memory.clone().take(1).chain(parts).chain(memory.skip(1)).take(MOST);
        Self { causes: causes.collect(), next: vec!["cost B".to_owned(), "hlo B".to_owned()] }
    }

    /// What was refused, with the first remedy of each.
    pub(crate) fn of_scan(scan: &Scan) -> Self {
        let causes = scan.causes().into_iter().take(MOST).map(|cause| Cause {
            name: cause.name.unwrap_or_else(|| cause.kind.to_owned()),
            amount: None,
            source: cause.source,
            because: Some(cause.what),
            remedy: cause.remedies.into_iter().next().map(|help| help.text),
        });
        let next = scan.most_padded().map(|array| format!("advise '{array}'"));
        Self { causes: causes.collect(), next: next.into_iter().collect() }
    }

    /// What a refused program takes its memory for, and the device that refused it.
    pub(crate) fn of_compilation(compilation: &Compilation) -> Self {
        let refused = compilation.targets.iter().filter_map(|target| match &target.result {
            Outcome::Good(_) => None,
            Outcome::Bad { error } => Some((target, error)),
        });
        let causes = refused.clone().map(|(target, error)| Cause {
            name: target.name.clone(),
            because: Some(error.message.clone()),
            ..Cause::default()
        });
        let first = refused.clone().find_map(|(_, error)| error.report.as_ref());
        let values = first.map(|refused| Self::of_report(&refused.report).causes).unwrap_or_default();
        let causes: Vec<_> = causes.take(1).chain(values).take(MOST).collect();
        let next = if causes.is_empty() { "cost FILE --try" } else { "scan TEXT --program FILE" };
        Self { causes, next: vec![next.to_owned()] }
    }

    /// The copies that came since the record, the most expensive first.
    pub(crate) fn of_checks(checks: &Checks) -> Self {
        let mut copies = checks.programs.iter().flat_map(|check| &check.copies_added).collect::<Vec<_>>();
        copies.sort_by_key(|copy| Reverse(copy.amount));
        let causes = copies.into_iter().take(MOST).map(|copy| Cause {
            name: format!("{} {}", copy.opcode, copy.to),
            amount: copy.amount.map(Amount::Cost),
            source: copy.source.clone(),
            because: Some(copy.because.clone()),
            remedy: copy.remedy.clone(),
        });
        let accept = checks.programs.first().filter(|_| !checks.passed()).map(|check| check.accept.clone());
        let accept = accept.and_then(|accept| accept.strip_prefix("xla-shape ").map(str::to_owned));
        Self { causes: causes.collect(), next: accept.into_iter().collect() }
    }
}
