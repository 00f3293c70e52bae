//! What happened to memory, in words.

use crate::numbers::InUnits;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::{AmountCause, ReportedAmount};

/// The names of generations, such as `v5e and v6e`.
pub(super) fn names(generations: &[Generation]) -> String {
    let names = generations.iter().map(|generation| generation.name()).collect::<Vec<_>>();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Sentences about a limit of VMEM: the generations whose default or maximum it is, and how far it can be raised.
fn vmem_limits(limit: u64) -> Vec<String> {
    // Messages round the limit to a hundredth of a MiB.
    let is_limit = |bytes: u64| bytes.abs_diff(limit) <= limit / 5000;
    let with = |is_so: &dyn Fn(u64, u64) -> bool| {
        let all = Generation::ALL.iter().copied();
        all.filter(|generation| generation.kernel_vmem().is_some_and(|vmem| is_so(vmem.default, vmem.most)))
            .collect::<Vec<_>>()
    };
    let mut sentences = Vec::new();
    let whole = with(&|_, most| is_limit(most));
    let default = with(&|default, most| is_limit(default) && !is_limit(most));
    if !whole.is_empty() {
        sentences.push(format!(
            "{} is all that a kernel can have on {}: there, a higher vmem_limit_bytes does not help.",
            InUnits(limit),
            names(&whole)
        ));
    }
    if !default.is_empty() {
        sentences.push(format!(
            "{} is the limit on {} if the kernel does not set vmem_limit_bytes.",
            InUnits(limit),
            names(&default)
        ));
    }
    let is_default = !default.is_empty();
    let others = if default.is_empty() { with(&|_, most| most > limit && !is_limit(most)) } else { default };
    let most = |generation: &Generation| Some(InUnits(generation.kernel_vmem()?.most).to_string());
    let mut ranges: Vec<String> = Vec::new();
    for text in others.iter().filter_map(most) {
        let alike = others.iter().copied().filter(|other| most(other).as_ref() == Some(&text));
        let range = format!("{text} on {}", names(&alike.collect::<Vec<_>>()));
        if !ranges.contains(&range) {
            ranges.push(range);
        }
    }
    // If the limit is the whole VMEM of a generation, the program is probably for that one, and cannot raise it.
    if !ranges.is_empty() && (whole.is_empty() || is_default) {
        sentences.push(format!("vmem_limit_bytes can be at most {}.", ranges.join(", ")));
    }
    sentences
}

/// What happened to memory, and what is known about it; `None` if the message does not say what its amount is about, as in statistics.
pub(super) fn amount_words(amount: &ReportedAmount) -> Option<(String, Vec<String>)> {
    let needed = InUnits(amount.bytes);
    let over = amount.over.map(|over| format!(", {} too much", InUnits(over))).unwrap_or_default();
    let there_are = |words: &str| amount.limit.map(|limit| format!("; {words} {}", InUnits(limit))).unwrap_or_default();
    let is_free = || amount.limit.map(|limit| format!("; {} are free", InUnits(limit))).unwrap_or_default();
    let is_in_pieces = amount.largest_free_bytes.zip(amount.limit).is_some_and(|(largest, free)| largest < free);
    let largest = amount.largest_free_bytes.map(|bytes| match is_in_pieces {
        true => format!("The free memory is in pieces; the largest has {}.", InUnits(bytes)),
        false => format!("The largest free piece has {}.", InUnits(bytes)),
    });
    let kernel = amount.name.as_ref().map_or("a kernel".to_owned(), |name| format!("the kernel %{name}"));
    let program = amount.name.as_ref().map_or("a program".to_owned(), |name| format!("the program {name}"));
    Some(match amount.cause {
        AmountCause::ScopedVmem => {
            let may_use = there_are("it may use");
            let limits = amount.limit.map(vmem_limits).unwrap_or_default();
            (format!("{kernel} needs {needed} of VMEM{over}{may_use}."), limits)
        }
        AmountCause::Vmem => {
            let limits = amount.limit.map(vmem_limits).unwrap_or_default();
            let there_are = there_are("there are");
            (format!("the blocks, buffers and values of {kernel} need {needed} of VMEM{over}{there_are}."), limits)
        }
        AmountCause::Smem => {
            let there_are = there_are("there are");
            (
                format!("the scalars of {kernel} need {needed} of SMEM{over}{there_are}."),
                vec![
                    "SMEM holds the operands of scalar prefetch, and the blocks and scratch buffers in SMEM."
                        .to_owned(),
                ],
            )
        }
        AmountCause::Flags => {
            let there_are = there_are("there are");
            let what = format!("{program} needs {needed} of synchronization flags{over}{there_are}.");
            (what, vec!["Copies and collectives that run at the same time take flags.".to_owned()])
        }
        AmountCause::InstructionVmem => {
            let name =
                amount.name.as_ref().map_or("an instruction".to_owned(), |name| format!("the instruction %{name}"));
            let may_use = there_are("it may use");
            let what = format!("{name} needs {needed} of VMEM{over}{may_use}.");
            (what, vec!["XLA made it; it is not a Pallas kernel.".to_owned()])
        }
        AmountCause::SparseCore => {
            let there_are = there_are("there are");
            let what = format!("the TensorCore and SparseCore together need {needed} of HBM{over}{there_are}.");
            (what, Vec::new())
        }
        AmountCause::Unnamed => {
            let what = format!("the runtime has no room for a buffer of {needed}{over}.");
            (what, vec!["The message does not name the device; it can be the host.".to_owned()])
        }
        AmountCause::Array if amount.is_fragmented() => {
            let free = is_free();
            (
                format!("the runtime has no room for an array of {needed} in one piece{free}."),
                vec![
                    "The free memory is in pieces: it is fragmented. Arrays that are alive are between them."
                        .to_owned(),
                ],
            )
        }
        AmountCause::Program => {
            let may_use = there_are("a program may use");
            (format!("the compiler finds that {program} needs {needed} of HBM{over}{may_use}."), Vec::new())
        }
        AmountCause::Array => {
            let free = is_free();
            (
                format!("the runtime has no room for an array of {needed}{over}{free}."),
                vec!["The memory is held by arrays that are alive and by programs that are loaded.".to_owned()],
            )
        }
        AmountCause::Loading => {
            let free = is_free();
            let held = "That is its code, its constants and its temporaries. Arrays that are alive take the rest.".to_owned();
            (
                format!("the runtime cannot load {program}, which needs {needed} in one piece{over}{free}."),
                largest.filter(|_| is_in_pieces).into_iter().chain([held]).collect(),
            )
        }
        AmountCause::Gpu => {
            let program = amount.name.as_ref().map(|name| format!(", for {name}")).unwrap_or_default();
            (format!("the runtime of the GPU has no room for {needed}{over}{program}."), Vec::new())
        }
        AmountCause::Dispensable => (
            format!("the runtime of the GPU has no room for {needed}{over}, which its caller can do without."),
            vec!["This is a warning: nothing failed, but the program can be slower.".to_owned()],
        ),
        AmountCause::SharedMemory => {
            let may_use = there_are("a block of threads may use");
            (format!("a kernel for a GPU needs {needed} of shared memory{over}{may_use}."), Vec::new())
        }
        AmountCause::OtherAllocator => {
            let free = is_free();
            (
                format!("an allocator that is not XLA's has no room for {needed}{over}{free}."),
                largest.into_iter().collect(),
            )
        }
        AmountCause::Driver => (
            format!("the driver of the GPU has no room for {needed}{over}, which XLA asked it for."),
            vec![
                "JAX asks for most of the memory when it starts, and for less after such a message. Other processes, or \
                 libraries outside of XLA's pool, hold the rest."
                    .to_owned(),
            ],
        ),
        AmountCause::Constant => (
            format!("the runtime has no room for a constant of {needed}, which the program contains."),
            vec!["It is outside of the pool that XLA holds.".to_owned()],
        ),
        AmountCause::PinnedHost => (
            format!("the host has no room for {needed} of pinned memory, from which a GPU copies."),
            vec!["This is the memory of the host, not that of the GPU.".to_owned()],
        ),
        AmountCause::HostArray => {
            (format!("NumPy has no room for an array of {needed} in the memory of the host."), Vec::new())
        }
        AmountCause::HostKilled | AmountCause::ContainerKilled => {
            let process = amount.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
            let whose = match amount.cause {
                AmountCause::ContainerKilled => "its container",
                _ => "the host",
            };
            let what = format!("Linux ended the process{process}, which held {needed}: the memory of {whose} ran out.");
            (what, vec!["No memory of a device ran out.".to_owned()])
        }
        AmountCause::Rematerialization => {
            let limit = amount.limit.map(|limit| format!(" It tried to stay below {}.", InUnits(limit)));
            (
                format!("the compiler recomputes values to save memory, and {program} still needs {needed}."),
                vec![format!(
                    "This is a warning, and the reason if memory runs out later.{}",
                    limit.unwrap_or_default()
                )],
            )
        }
        _ => return None,
    })
}
