//! The files that libtpu dumps about a kernel.

use super::beginning;
use xla_shape_answers::{Answer, kernel::Kernels};
use xla_shape_mlir::Module;
use xla_shape_mosaic::{Bundles, kernels, loops, xla_instructions};
use xla_shape_render::Show;

/// The files of a kernel, in the order of the parts of an input.
const NAMES: [&str; 6] = [
    "llo.k.final_bundles.txt",
    "mosaic.k.post-relayout-insertion.txt",
    "mosaic.k.post-apply-vector-layout.txt",
    "llo.k.schedule-analysis_final_bundles.txt",
    "llo.k.final_hlo-static-per-bundle-utilization.txt",
    "llo.TLP.vmem_report.html",
];

/// Any text as the files of a dump, with a line of `=` before each file: text that is not understood is counted, and the counts agree with each
/// other.
///
/// # Panics
/// If one of these checks fails.
pub fn kernel_dump(bytes: &[u8]) {
    let text = beginning(bytes);
    let files = NAMES.into_iter().zip(text.split("\n=\n")).collect::<Vec<_>>();
    for (_, text) in &files {
        if let Ok(module) = Module::parse(text) {
            for (number, operation) in module.operations().iter().enumerate() {
                assert!(operation.parent().is_none_or(|parent| parent < number));
            }
        }
        let bundles = Bundles::parse(text);
        for found in loops(&bundles) {
            assert!(found.first <= found.last && found.last < bundles.bundles().len(), "{found:?}");
        }
    }
    let (found, own) = (kernels(&files), xla_instructions(&files));
    // Dumps with kernels, without them, and each compared with the other.
    let (mut both, mut xla) = (Kernels::default(), Kernels::default());
    both.add(None, None, &found);
    assert_eq!(both.add_xla(None, None, &own), own.len());
    xla.add_xla(None, None, &own);
    for before in [&xla, &both.clone()] {
        let mut compared = both.clone();
        compared.compare(before);
        assert!(!compared.text(80).to_string().is_empty() && compared.json().starts_with('{'));
    }
    for found in own.iter().chain(&found) {
        let kernel = &found.kernel;
        assert!(kernel.least.zip(kernel.executed).is_none_or(|(least, executed)| least <= executed), "{kernel:?}");
        let [vectors, known] = kernel.vector_slots;
        assert!(known <= vectors);
        for line in kernel.lines.values() {
            assert!(line.moving <= line.relayouts && line.bundles <= line.slots, "{line:?}");
        }
        for relayout in kernel.relayouts.iter().flatten() {
            assert!(
                relayout
                    .instructions
                    .as_ref()
                    .is_none_or(|instructions| relayout.free == Some(instructions.is_empty()))
            );
        }
    }
}

/// The example of `docs/kernel-inside.md`, in the form of an input.
pub(super) fn example() -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kernels/first");
    let of = |end: &str| {
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let path = paths.into_iter().find(|path| path.to_string_lossy().ends_with(end));
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let ends = NAMES
        .map(|name| name.replace("llo.k.", ".1.").replace("mosaic.k.", ".first.").replace(".1.schedule", "schedule"));
    ends.map(|end| of(&end)).join("\n=\n").into_bytes()
}
