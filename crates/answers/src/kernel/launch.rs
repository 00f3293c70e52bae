//! The steps that a GPU executes for a program, with the user's lines.

use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use xla_shape_hlo::dump::{Launch, LaunchedKernel};
use xla_shape_hlo::{Instruction, Module};
use xla_shape_program::Program;

/// A step of a program on a GPU, as the compiler's `thunk_sequence.txt` has it.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_program::Program;
///
/// let folder = std::env::temp_dir().join(format!("launches-{}", std::process::id()));
/// std::fs::create_dir(&folder)?;
/// std::fs::write(folder.join("after.hlo"), "HloModule m\nENTRY e { p = f32[9] parameter(0)\n  ROOT n.1 = f32[9] negate(p) }")?;
/// let steps = "001: kCustomKernel [source | sink] n_1 grid: [1, 1, 1] threads: [9, 1, 1]  shared_memory: 0 bytes";
/// std::fs::write(folder.join("thunk_sequence.txt"), steps)?;
/// let mut answer = Kernels::default();
/// answer.add_launches(Some("h100"), &Program::open(&folder)?);
/// std::fs::remove_dir_all(&folder)?;
/// let launch = &answer.launches[0];
/// assert_eq!((launch.instruction.as_deref(), launch.threads), (Some("n.1"), Some([9, 1, 1])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LaunchEntry {
    /// The device that the program was compiled for; null if it is not known.
    #[serde(rename = "for")]
    pub target: Option<String>,
    /// The number of the step.
    pub number: u32,
    /// What it is, in the compiler's words, such as "CustomKernel", "Copy", "Convolution" or "While".
    pub kind: String,
    /// The name of the kernel; null for a step that launches none. Instructions with equal code share a kernel.
    pub kernel: Option<String>,
    /// The name of the HLO instruction; null if the files do not say it.
    pub instruction: Option<String>,
    /// The blocks of threads along x, y and z; null for a step that launches no kernel.
    pub grid: Option<[u64; 3]>,
    /// The threads of a block along x, y and z; null for a step that launches no kernel.
    pub threads: Option<[u64; 3]>,
    /// The bytes of shared memory of a block; null for a step that launches no kernel.
    pub shared_memory: Option<u64>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// The steps of a program; none if its dump lacks them.
pub(super) fn launches(target: Option<&str>, program: &Program) -> Vec<LaunchEntry> {
    let (steps, named) = program.launches();
    let module = program.module();
    let by_name: HashMap<&str, Instruction<'_>> =
        module.instructions().map(|instruction| (instruction.name(), instruction)).collect();
    let by_kernel = by_kernel(module, &steps);
    let sources = module.sources();
    let entry = |step: Launch| {
        let kernel = step.kernel.as_ref();
        let named = named.get(&step.number).and_then(|name| by_name.get(name.as_str()));
        let instruction = named.or_else(|| by_kernel.get(kernel?.name.as_str())).copied();
        let source = instruction.map(|instruction| sources.get(instruction)).unwrap_or_default();
        LaunchEntry {
            target: target.map(str::to_owned),
            number: step.number,
            instruction: instruction.map(|instruction| instruction.name().to_owned()),
            grid: kernel.map(|kernel| kernel.grid),
            threads: kernel.map(|kernel| kernel.threads),
            shared_memory: kernel.map(|kernel| kernel.shared_memory),
            source: source_text(&source),
            op_name: source.op_name.map(std::borrow::Cow::into_owned),
            kind: step.kind,
            kernel: step.kernel.map(|kernel| kernel.name),
        }
    };
    steps.into_iter().map(entry).collect()
}

/// For each kernel that is launched once: its instruction. The kernel has the instruction's name, with `_` for special characters. A kernel that is
/// launched several times is left out, because it may belong to several instructions.
fn by_kernel<'m>(module: &'m Module, steps: &[Launch]) -> HashMap<String, Instruction<'m>> {
    let mut times = HashMap::<&str, usize>::new();
    for LaunchedKernel { name, .. } in steps.iter().filter_map(|step| step.kernel.as_ref()) {
        *times.entry(name).or_default() += 1;
    }
    let mut found = HashMap::<String, Option<Instruction<'m>>>::new();
    for instruction in module.instructions() {
        let is_kept = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let name = instruction.name().replace(|character| !is_kept(character), "_");
        if times.get(name.as_str()) == Some(&1) {
            // If two instructions give the same name, it is not known which one is meant.
            found.entry(name).and_modify(|found| *found = None).or_insert(Some(instruction));
        }
    }
    found.into_iter().filter_map(|(name, instruction)| Some((name, instruction?))).collect()
}
