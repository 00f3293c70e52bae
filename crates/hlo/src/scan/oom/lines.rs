//! The lines of out-of-memory messages: each function reads one kind of line.

use super::{AmountCause, MAX_OPERATOR, ReportedAllocation, ReportedAmount};
use crate::scan::find_shapes;
use crate::scan::refusal::{CUDA_MEMORY, GRAPHS, KILLED, NCCL_FAILURE, NO_SPACE, NO_VMEM, OTHER_RESOURCES};
use crate::scan::size::first_byte_count;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::{ElementType, memory_space};

/// The text between this beginning and the next quote.
pub(super) fn quoted<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    Some(text.split_once(beginning)?.1.split_once('"')?.0.trim())
}

/// The number and the bytes of an allocation in a list: `1. Size: 64.0K`. A logger's text may come before the number.
pub(super) fn listed(text: &str) -> Option<(u64, u64)> {
    let (before, bytes) = text.split_once("Size:")?;
    let number = before.trim_end().strip_suffix('.').or_else(|| before.is_empty().then_some(before))?;
    let digits = number.bytes().rev().take_while(u8::is_ascii_digit).count();
    let number = number.get(number.len() - digits..)?;
    Some((number.parse().ok()?, size(bytes)?))
}

/// An allocation as the TPU's back end lists it:
/// `#allocation2 [shape = 'u8[3145728]{0}', space=vmem, size = 0x300000, scoped, tag = 'scoped memory for k.1']`.
pub(super) fn llo_allocation(line: u64, text: &str) -> Option<ReportedAllocation> {
    let (number, fields) = text.split_once("#allocation")?.1.split_once(" [")?;
    let hexadecimal = between(fields, "size = 0x", ",").or_else(|| between(fields, "size = 0x", "]"))?;
    let shape = between(fields, "shape = '", "'").and_then(|shape| find_shapes(shape).next());
    let space = between(fields, "space=", ",").unwrap_or("memory");
    let scoped = if fields.contains(", scoped") { ", scoped" } else { "" };
    let tag = between(fields, "tag = '", "'").map(|tag| tag.chars().take(MAX_OPERATOR).collect());
    Some(ReportedAllocation {
        line,
        rank: number.parse().ok()?,
        bytes: u64::from_str_radix(hexadecimal, 16).ok()?,
        shape: shape.map(|found| found.shape),
        kind: Some([space, scoped].concat()),
        tag,
        ..ReportedAllocation::default()
    })
}

/// Whether a message says that memory ran out, and may state sizes. Messages that other rules explain do not count.
pub(super) fn says_that_memory_ran_out(text: &str) -> bool {
    // Other rules explain messages with these words.
    let others = CUDA_MEMORY.iter().chain(&NO_SPACE).chain(&GRAPHS).chain([&NCCL_FAILURE, &NO_VMEM, &KILLED]);
    !others.into_iter().any(|words| text.contains(words))
        && !is_about_other_resources(text)
        && ["out of memory", "Out of memory", "RESOURCE_EXHAUSTED", "Resource exhausted"]
            .iter()
            .any(|words| text.contains(words))
}

/// Whether a message with the status `RESOURCE_EXHAUSTED` is about a resource other than memory.
pub(super) fn is_about_other_resources(text: &str) -> bool {
    OTHER_RESOURCES.iter().any(|words| text.contains(words))
}

/// The text between two words.
pub(super) fn between<'t>(text: &'t str, first: &str, second: &str) -> Option<&'t str> {
    text.split_once(first)?.1.split_once(second).map(|(inside, _)| inside)
}

/// The name that a text begins with: of a program or a kernel.
pub(super) fn name(text: &str) -> Option<String> {
    let end = text.find(|c: char| c.is_whitespace() || "'\"`,;:)=".contains(c)).unwrap_or(text.len());
    let name = text.get(..end)?.trim_end_matches('.');
    (!name.is_empty()).then(|| name.chars().take(MAX_OPERATOR).collect())
}

/// The amounts of a line, with what the whole line says about them: the bytes by which a limit is exceeded, the cause, and the program or kernel.
pub(super) fn all_amounts(line: u64, text: &str) -> Option<Vec<ReportedAmount>> {
    let mut amounts = amounts(line, text)?;
    let cause = cause(text, amounts.first().map_or("", |amount| amount.what.as_str()));
    let kernel = text.split_once(" on stack for %").or_else(|| text.split_once(" for %"));
    let kernel = kernel.map(|(_, rest)| rest).or_else(|| text.rsplit_once("] :: ").map(|(_, rest)| rest));
    let program = ["Error loading program '", "HLO module: ", "executable_name='"];
    let program = program.iter().find_map(|words| text.split_once(words).map(|(_, rest)| rest));
    let is_of_xla = cause == AmountCause::ScopedVmem && kernel.is_some_and(is_of_xla);
    let cause = if is_of_xla { AmountCause::InstructionVmem } else { cause };
    for amount in &mut amounts {
        if amount.cause == AmountCause::Unknown {
            amount.cause = cause;
        }
        amount.name = amount.name.take().or_else(|| kernel.or(program).and_then(name));
    }
    if let [first, ..] = &mut amounts[..] {
        first.over = first.over.or_else(|| exceeded_by(text));
    }
    Some(amounts)
}

/// Whether an instruction such as `fusion.9 = bf16[8]{0} fusion(%a)` is one that XLA made; kernels are custom calls.
fn is_of_xla(instruction: &str) -> bool {
    instruction.split("coped allocation").next().is_some_and(|instruction| instruction.contains(" fusion("))
}

/// Why a message states an amount.
pub(super) fn cause(text: &str, what: &str) -> AmountCause {
    let is_of = |space: &str| what.split([',', ' ']).any(|word| word == space);
    // A message that names a memory is about that memory, whatever else it says.
    if text.contains("limit") && is_of("scoped") {
        AmountCause::ScopedVmem
    } else if is_of("vmem") {
        AmountCause::Vmem
    } else if is_of("smem") {
        AmountCause::Smem
    } else if is_of("sflag") {
        AmountCause::Flags
    } else if is_of("hbm") {
        AmountCause::Program
    } else if text.contains("Error loading program") || text.contains("Attempting to reserve") {
        AmountCause::Loading
    } else if text.contains("Attempting to allocate") || text.contains("Could not allocate ") {
        AmountCause::Array
    } else if text.contains("Out of memory allocating ") {
        AmountCause::Unnamed
    } else if text.contains("this is not a failure") {
        AmountCause::Dispensable
    } else if [
        "Out of memory while trying",
        "Failed to allocate request",
        " failed to allocate ",
        "ran out of memory trying",
    ]
    .iter()
    .any(|words| text.contains(words))
    {
        AmountCause::Gpu
    } else {
        AmountCause::Unknown
    }
}

pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.trim_start().strip_prefix(name).map(str::trim)
}

/// The amounts in a line that states how much memory is used or requested.
pub(super) fn amounts(line: u64, text: &str) -> Option<Vec<ReportedAmount>> {
    let after = |text: &'static str| move |line: &str| line.split_once(text).map(|(_, rest)| rest.to_owned());
    let amount =
        |what: &str, bytes, limit| ReportedAmount { line, what: what.to_owned(), bytes, limit, ..Default::default() };
    if let Some(amount) = super::outside::amount(line, text) {
        return Some(alloc::vec![amount]);
    }
    if let Some(rest) = after("Used ")(text)
        && let Some((used, rest)) = rest.split_once(" of ")
        && let (Some(bytes), Some(limit)) = (size(used), size(rest.split(' ').next()?))
    {
        let what = rest.split(' ').nth(1).unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric());
        return Some(alloc::vec![amount(what, bytes, Some(limit))]);
    }
    // `the total memory required for HLO temporaries (24.00G) exceeds available HBM (15.75G)`
    if let Some((needed, available)) = text.split_once(" exceeds available ")
        && let (Some((before, bytes)), Some((space, limit))) = (in_brackets(needed), in_brackets(available))
        && let (Some(bytes), Some(limit)) = (size(bytes), size(limit))
    {
        let whose = before.rsplit_once(" for ").map_or("total", |(_, whose)| whose).trim();
        // libtpu writes this, but means arguments, results and temporaries together.
        let whose = if whose == "HLO temporaries" { "in all" } else { whose };
        let what = alloc::format!("{}, {whose}", space.trim().to_ascii_lowercase());
        return Some(alloc::vec![amount(&what, bytes, Some(limit))]);
    }
    // `Scoped allocation with size 23.49M and limit 16.00M exceeded scoped vmem limit by 7.49M`
    if let Some(rest) = after("allocation with size ")(text)
        && let Some((bytes, rest)) = rest.split_once(" and limit ")
        && let (Some(bytes), Some(limit)) = (size(bytes), size(rest.split(' ').next()?))
    {
        let what = if rest.contains(" vmem ") { "vmem, scoped" } else { "scoped" };
        return Some(alloc::vec![amount(what, bytes, Some(limit))]);
    }
    // `Allocation (size=268435456) would exceed memory (size=134217728) :: … space=vmem`
    if let Some(rest) = after("Allocation (size=")(text)
        && let Some((bytes, rest)) = rest.split_once(") would exceed memory (size=")
        && let (Some(bytes), Some(limit)) = (size(bytes), size(rest.split(')').next()?))
    {
        let space =
            rest.split_once("space=").map_or("memory", |(_, space)| space.split([',', ']', ' ']).next().unwrap_or(""));
        // These figures are not rounded.
        let over = bytes.checked_sub(limit);
        return Some(alloc::vec![ReportedAmount { over, ..amount(space, bytes, Some(limit)) }]);
    }
    // `Output size 60.29G; shares 60.29G with arguments.`
    if let Some(rest) = text.strip_prefix("Output size ")
        && let (Some(bytes), Some(shared)) = (size(rest.split(';').next()?), after("; shares ")(rest))
    {
        let what = alloc::format!("output, which shares {} with arguments", shared.split(' ').next().unwrap_or(""));
        return Some(alloc::vec![amount(&what, bytes, None)]);
    }
    // `cuMemAllocAsync failed to allocate 1225195446464 bytes: … Reported by CUDA: Free memory/Total memory: 22635544576/85095874560`
    for words in [
        "Out of memory while trying to allocate ",
        "Out of memory allocating ",
        "Failed to allocate request for ",
        "ran out of memory trying to allocate ",
        " failed to allocate ",
    ] {
        if let Some(rest) = after(words)(text)
            && let Some(bytes) = rest.split(' ').next().and_then(size)
        {
            let free = after("Free memory/Total memory: ")(&rest).and_then(|free| free.split('/').next()?.parse().ok());
            return Some(alloc::vec![amount("requested", bytes, free)]);
        }
    }
    // `Could not allocate 10485760 bytes in memory 0x0x0_HBM0; 4374528 bytes allocatable, 14942208 bytes available`
    if let Some(rest) = after("Could not allocate ")(text)
        && let Some((bytes, rest)) = rest.split_once(" bytes in memory ")
        && let Some((_, rest)) = rest.split_once("; ")
    {
        let stated = |words: &str| rest.split(words).next()?.rsplit(' ').next()?.parse::<u64>().ok();
        let requested = amount("requested", bytes.parse().ok()?, stated(" bytes available"));
        return Some(alloc::vec![ReportedAmount { largest_free_bytes: stated(" bytes allocatable"), ..requested }]);
    }
    // `Shared memory size limit exceeded: requested 147456, available: 101376`, and Triton's own
    // `out of resource: shared memory, Required: 163840, Hardware limit: 101376`, of old releases without commas.
    for [words, needed, limit] in [
        ["hared memory size limit exceeded:", "requested ", "available: "],
        ["out of resource: shared memory", "Required: ", "Hardware limit: "],
    ] {
        let bytes = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok();
        if let Some(rest) = after(words)(text)
            && let Some(needed) = rest.split_once(needed).and_then(|(_, needed)| bytes(needed))
        {
            let limit = rest.split_once(limit).and_then(|(_, limit)| bytes(limit));
            return Some(alloc::vec![ReportedAmount {
                cause: AmountCause::SharedMemory,
                over: limit.and_then(|limit| needed.checked_sub(limit)),
                ..amount("shared memory of a block of threads", needed, limit)
            }]);
        }
    }
    // TensorFlow's own allocator: `OOM when allocating tensor with shape[32,3,2160,4096] and type float on /job:…/device:GPU:0`
    if let Some(rest) = after("OOM when allocating tensor with shape[")(text) {
        let (sizes, rest) = rest.split_once("] and type ")?;
        let name = rest.split(' ').next()?;
        let element_type = ElementType::from_any_name(name).or(match name {
            "float" => Some(ElementType::F32),
            "double" => Some(ElementType::F64),
            "half" => Some(ElementType::F16),
            _ => None,
        })?;
        let mut sizes = sizes.split(',').map(|size| size.trim().parse::<u64>().ok());
        let elements = sizes.try_fold(1_u64, |all, size| all.checked_mul(size?))?;
        let bytes = elements.checked_mul(element_type.bits().div_ceil(8))?;
        return Some(alloc::vec![ReportedAmount {
            cause: AmountCause::OtherAllocator,
            ..amount("requested", bytes, None)
        }]);
    }
    // `CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 139.81 GiB of which 860.69 MiB is free.`
    if let Some(rest) = after("Tried to allocate ")(text) {
        let stated = |words: &'static str| after(words)(&rest).and_then(|bytes| sentence_size(&bytes));
        // Older releases: `(GPU 0; 23.69 GiB total capacity; 22.01 GiB already allocated; 12.94 MiB free; 22.01 GiB reserved in total …)`
        let free = stated(" of which ").or_else(|| stated(" already allocated; "));
        let part = |what: &str, bytes| ReportedAmount { is_part: true, ..amount(what, bytes, None) };
        let reserved = stated(" free; ").filter(|_| rest.contains(" reserved in total"));
        let amounts =
            [Some(amount("requested", sentence_size(&rest)?, free)), reserved.map(|bytes| part("reserved", bytes))];
        let of_other = |amount| ReportedAmount { cause: AmountCause::OtherAllocator, ..amount };
        return Some(amounts.into_iter().flatten().map(of_other).collect());
    }
    // `Not enough space to allocate 5368709120 B DRAM buffer across 12 banks, where each bank needs to store 447393792 B, but bank size
    // is 1071821792 B (allocated: 726763712 B, free: 345058080 B, largest free block: 340146592 B)`
    if let Some(rest) = after("Not enough space to allocate ")(text) {
        let stated = |words: &'static str| after(words)(&rest).and_then(|bytes| sentence_size(&bytes));
        let memory = rest.split(" B ").nth(1).and_then(|rest| rest.split(" buffer").next()).unwrap_or("memory");
        let (what, bytes) = match stated("each bank needs to store ") {
            Some(bytes) => (alloc::format!("{memory}, each bank"), bytes),
            None => (memory.to_owned(), sentence_size(&rest)?),
        };
        return Some(alloc::vec![ReportedAmount {
            cause: AmountCause::OtherAllocator,
            largest_free_bytes: stated("largest free block: "),
            over: stated("free: ").and_then(|free| bytes.checked_sub(free)),
            ..amount(&what, bytes, stated("free: "))
        }]);
    }
    // `Can't reduce memory use below 22.27GiB (23917347918 bytes) by rematerialization; only reduced to 37.90GiB (40693879420 bytes)`
    if let Some(rest) = after("reduce memory use below ")(text) {
        let (limit, reached) = rest.split_once("only reduced to ")?;
        let exact = |text: &str| match between(text, "(", " bytes)").and_then(|bytes| bytes.parse().ok()) {
            Some(bytes) => Some(bytes),
            None => size(text.split([' ', ';', ',']).next()?),
        };
        return Some(alloc::vec![ReportedAmount {
            cause: AmountCause::Rematerialization,
            ..amount("after rematerialization", exact(reached)?, Some(exact(limit)?))
        }]);
    }
    if let Some(rest) = after("CompiledMemoryStats(")(text) {
        return statistics(line, &rest);
    }
    if let Some(rest) = after("TensorCore Hbm usage: ")(text) {
        let limit = after("exceeding available bytes: ")(&rest).and_then(|limit| size(&limit));
        let dense = size(rest.split(',').next()?)?;
        let sparse = after("SparseCore Hbm usage")(&rest);
        let sparse = size(sparse?.trim_start_matches([':', ' ']).split(',').next()?)?;
        // The two share the memory: their sum is what does not fit.
        let bytes = dense.checked_add(sparse)?;
        let over = limit.and_then(|limit| bytes.checked_sub(limit));
        let whole = ReportedAmount { over, ..amount("hbm, TensorCore and SparseCore", bytes, limit) };
        let part = |what, bytes| ReportedAmount { is_part: true, ..amount(what, bytes, None) };
        let amounts = [whole, part("TensorCore", dense), part("SparseCore", sparse)];
        return Some(amounts.map(|amount| ReportedAmount { cause: AmountCause::SparseCore, ..amount }).into());
    }
    for (words, what) in [("Attempting to allocate ", "requested"), ("Attempting to reserve ", "requested")] {
        if let Some(rest) = after(words)(text) {
            let stated = |words: &'static str| after(words)(&rest).and_then(|free| size(free.split(' ').next()?));
            let requested = amount(what, size(rest.split(' ').next()?.trim_end_matches('.'))?, stated("There are "));
            // `There are 6.78G free, 0B reserved, and 3.33G reservable.`
            let reservable = || stated(" reserved, and ");
            let largest_free_bytes = stated("largest contiguous region of free memory is ").or_else(reservable);
            return Some(alloc::vec![ReportedAmount { largest_free_bytes, ..requested }]);
        }
    }
    // `Total hbm usage >= 22.47G:` and `Program vmem requirement 29.95M:`
    let total = text.split_once("Total ").and_then(|(_, rest)| rest.split_once(" usage >= "));
    let program = text.split_once("Program ").and_then(|(_, rest)| rest.split_once(" requirement "));
    let (space, bytes) = total.or(program).filter(|(space, _)| !space.contains(' '))?;
    let whose = if total.is_some() { "total" } else { "program" };
    Some(alloc::vec![amount(&alloc::format!("{space}, {whose}"), size(bytes)?, None)])
}

/// The figures of a `CompiledMemoryStats(generated_code_size_in_bytes=34816, argument_size_in_bytes=6656, …)`, as Python prints it.
pub(super) fn statistics(line: u64, text: &str) -> Option<Vec<ReportedAmount>> {
    let stated = |name: &str| {
        let at = text
            .match_indices(name)
            .find(|(at, _)| text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', ','])));
        let digits = text.get(at?.0.checked_add(name.len())?..)?;
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    let names = [
        ("argument_size_in_bytes=", "arguments"),
        ("output_size_in_bytes=", "outputs"),
        ("temp_size_in_bytes=", "temporaries"),
        ("generated_code_size_in_bytes=", "generated code"),
        ("alias_size_in_bytes=", "outputs in the memory of arguments"),
        ("host_argument_size_in_bytes=", "arguments on the host"),
        ("host_output_size_in_bytes=", "outputs on the host"),
        ("host_temp_size_in_bytes=", "temporaries on the host"),
    ];
    let [arguments, outputs, temporaries, code, aliases, ..] = names.map(|(name, _)| stated(name));
    let all = [outputs, temporaries, code].into_iter().flatten().try_fold(arguments?, u64::checked_add)?;
    let whole = all.checked_sub(aliases.unwrap_or(0))?;
    let cause = AmountCause::Statistics;
    let amount = |what: &str, is_part, bytes| ReportedAmount {
        line,
        what: what.to_owned(),
        is_part,
        bytes,
        cause,
        ..ReportedAmount::default()
    };
    let parts = names.iter().filter_map(|(name, what)| Some((what, stated(name)?)));
    // Memory of the host is shown if there is some.
    let parts = parts.filter(|(what, bytes)| *bytes > 0 || !what.ends_with("host"));
    let mut amounts = alloc::vec![amount("program", false, whole)];
    amounts.extend(parts.map(|(what, bytes)| amount(what, true, bytes)));
    Some(amounts)
}

/// The size in `Exceeded hbm capacity by 33.24M` or `exceeded scoped vmem limit by 1.00M`.
pub(super) fn exceeded_by(text: &str) -> Option<u64> {
    text.split("xceeded ").skip(1).find_map(|rest| {
        let (_, bytes) = rest.split_once(" by ").filter(|(what, _)| what.split(' ').count() <= 3)?;
        size(bytes.split_whitespace().next()?)
    })
}

/// The first size in parentheses, and the text before it.
pub(super) fn in_brackets(text: &str) -> Option<(&str, &str)> {
    text.match_indices('(').find_map(|(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at.checked_add(1)?..)?);
        let (inside, _) = rest.split_once(')')?;
        size(inside).map(|_| (before, inside))
    })
}

/// The size at the beginning of a sentence, with or without a space before its unit.
pub(super) fn sentence_size(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';']));
    let (number, unit) = (words.next()?, words.next().unwrap_or(""));
    size(&alloc::format!("{number} {unit}")).or_else(|| size(number))
}

/// Parses a size, with or without punctuation after it.
pub(super) fn size(text: &str) -> Option<u64> {
    first_byte_count(text.trim().trim_end_matches([':', '.', ',', ';', ')', '`', '"', '\'']))
}

/// The memory space in the purpose of an amount: HBM in `hbm, total`. Scoped memory is a kernel's memory, so it is in VMEM.
pub(super) fn space_of(what: &str) -> Option<u8> {
    what.split([',', ' ']).find_map(|word| match word {
        "scoped" => Some(memory_space::GENERIC_FAST),
        "sflag" => Some(memory_space::SEMAPHORE),
        name => memory_space::from_name(name),
    })
}
