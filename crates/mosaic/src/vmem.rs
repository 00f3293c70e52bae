//! The compiler's report of vector memory (`vmem_report.html`): what each HLO instruction allocates there.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;
use xla_shape_hlo::{OutOfMemory, ReportedAllocation};

/// The vector memory that an HLO instruction takes, and its parts.
///
/// ```
/// let text = r#"const DATA = {"hlo_breakdowns": {"k.1": {"total_size": 4120, "blocks": [{"allocations": [
///     {"tag": "SPILL", "size": 24}, {"tag": "input window", "size": 4096}]}]}}};"#;
/// let (_, uses) = xla_shape_mosaic::vmem_report(text).unwrap();
/// assert_eq!((uses[0].instruction.as_str(), uses[0].bytes), ("k.1", 4120));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VmemUse {
    /// The instruction.
    pub instruction: String,
    /// The bytes of all parts.
    pub bytes: u64,
    /// The parts, in the order of the report.
    pub parts: Vec<VmemPart>,
}

/// A part of the vector memory of an instruction.
///
/// ```
/// let text = r#"const DATA = {"hlo_breakdowns": {"k.1": {"total_size": 4120, "blocks": [{"allocations": [
///     {"tag": "SPILL", "size": 24}, {"tag": "input window", "size": 4096}]}]}}};"#;
/// let (_, uses) = xla_shape_mosaic::vmem_report(text).unwrap();
/// let spilled: u64 = uses[0].parts.iter().filter(|part| part.tag == "SPILL").map(|part| part.bytes).sum();
/// assert_eq!(spilled, 24);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VmemPart {
    /// What it is for, in the compiler's words; spilled registers are `SPILL`.
    pub tag: String,
    /// The bytes of one buffer.
    pub bytes: u64,
}

/// The vector memory of an instruction, as the back end's text lists it: `#allocation2 [shape = 'u8[3145728]{0}', space=vmem, size = 0x300000,
/// scoped, tag = 'scoped memory for k.1']`. `None` if it lists none.
pub(crate) fn listed_vmem(instruction: &str, text: &str) -> Option<VmemUse> {
    let mut found = OutOfMemory::default();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("#allocation")) {
        found.read_line(number, line);
    }
    let is_vmem = |kind: &str| kind.split(',').next() == Some("vmem");
    let listed = found.allocations.into_iter().filter(|found| found.kind.as_deref().is_some_and(is_vmem));
    let part = |found: ReportedAllocation| VmemPart { tag: found.tag.unwrap_or_default(), bytes: found.bytes };
    let parts = listed.map(part).collect::<Vec<_>>();
    let bytes = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    (!parts.is_empty()).then(|| VmemUse { instruction: instruction.to_string(), bytes, parts })
}

/// The vector memory of each instruction in the report, and the bytes that a core has. `None` if the text has no report.
///
/// ```
/// let text = r#"<script> const DATA ={"global_info": {"vmem_capacity": 4096}, "hlo_breakdowns": {"k.1": {"total_size": 24,
///     "blocks": [{"allocations": [{"tag": "SPILL", "size": 24}]}]}}};"#;
/// let (capacity, uses) = xla_shape_mosaic::vmem_report(text).unwrap();
/// assert_eq!((capacity, uses[0].bytes, uses[0].parts[0].tag.as_str()), (Some(4096), 24, "SPILL"));
/// ```
#[must_use]
pub fn vmem_report(text: &str) -> Option<(Option<u64>, Vec<VmemUse>)> {
    let (_, data) = text.split_once("const DATA =")?;
    let report = serde_json::Deserializer::from_str(data).into_iter::<Value>().next()?.ok()?;
    let capacity = report.get("global_info").and_then(|info| info.get("vmem_capacity")).and_then(Value::as_u64);
    let mut uses = Vec::new();
    for (instruction, entry) in report.get("hlo_breakdowns")?.as_object()? {
        let list = |value: &Value, key| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let allocations = list(entry, "blocks").into_iter().flat_map(|block| list(&block, "allocations"));
        let part = |allocation: Value| {
            let tag = allocation.get("tag").and_then(Value::as_str).unwrap_or("").to_string();
            Some(VmemPart { tag, bytes: allocation.get("size").and_then(Value::as_u64)? })
        };
        let bytes = entry.get("total_size").and_then(Value::as_u64).unwrap_or(0);
        uses.push(VmemUse { instruction: instruction.clone(), bytes, parts: allocations.filter_map(part).collect() });
    }
    Some((capacity, uses))
}

/// The limit in `"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"33554432"}]` of a custom call.
pub(crate) fn vmem_limit(call: &str) -> Option<u64> {
    let (_, configs) = call.split_once("\"scoped_memory_configs\":[")?;
    let configs = configs.split(']').next()?;
    let config = configs.split('}').find(|config| config.contains("\"memory_space\":\"1\""))?;
    let (_, size) = config.split_once("\"size\":\"")?;
    size.split('"').next()?.parse().ok()
}
