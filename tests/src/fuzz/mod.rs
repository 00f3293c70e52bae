//! The fuzz targets. `fuzz/` runs them with arbitrary bytes, and `tests/fuzz.rs` with earlier findings. Each target panics if what its documentation
//! says is not true.

mod arrays;
mod check;
mod decisions;
mod dump;
mod ffi_call;
mod frame;
mod guard;
mod guarded;
mod kernel_dump;
mod plugin;
mod rustc;
mod seeds;
mod terminal;
mod walkers;

pub use check::check;
pub use decisions::decisions;
pub use dump::dump;
pub use ffi_call::ffi_call;
pub use guarded::guarded;
pub use kernel_dump::kernel_dump;
pub use plugin::plugin;
pub use rustc::rustc;
pub use seeds::{Seed, seeds};
pub use terminal::terminal;
pub use walkers::walkers;

use crate::differential::{relayout_agrees, tables_agree};
use arbitrary::Unstructured;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use xla_shape::hlo::dump::BufferAssignment;
use xla_shape::hlo::{Module, Severity, find_shapes, instruction_shapes, utf8};
use xla_shape::notations::{AnyLayout, Notation, Obstacle};
use xla_shape::proto::{decode_shape, encode_shape};
use xla_shape::relayout::Stores;
use xla_shape::shard::Sharding;
use xla_shape::tpu::Generation;
use xla_shape::tpu::vector::VectorLayout;
use xla_shape::{ArrayShape, Layout, ProgramShape, Shape};
use xla_shape_answers::kernel::TooLarge;
use xla_shape_mlir::bytecode_functions;
use xla_shape_mosaic::called_kernels;
use xla_shape_parity::legacy::LegacyShape;

/// A target.
#[derive(Debug)]
pub struct Target {
    /// The name of the target.
    pub name: &'static str,
    /// The function that runs it.
    pub run: fn(&[u8]),
    /// The limit on its steps: a constant, and a number for each byte of the input.
    steps: [u64; 2],
}

impl Target {
    /// The limit on its steps for an input of this many bytes, for `scripts/steps.sh`, which counts them.
    #[must_use]
    pub const fn most_steps(&self, bytes: usize) -> u64 {
        self.steps[0] + self.steps[1] * bytes as u64
    }
}

const fn target(name: &'static str, run: fn(&[u8]), steps: [u64; 2]) -> Target {
    Target { name, run, steps }
}

/// Every target; `fuzz/fuzz_targets` has a program for each. Targets that read texts and messages have limits in proportion to the input; targets
/// that make arrays or compare layouts have larger, constant limits. `scripts/steps.sh` counts.
pub const TARGETS: &[Target] = &[
    target("bytecode", bytecode, [20_000, 500]),
    target("check", check, [500_000, 2_000]),
    target("decisions", decisions, [400_000_000, 1_000]),
    target("dump", dump, [100_000, 500]),
    target("ffi_call", ffi_call, [50_000, 200]),
    target("guarded", guarded, [500_000, 500]),
    target("hlo_module", hlo_module, [100_000, 1_000]),
    target("kernel_dump", kernel_dump, [100_000, 5_000]),
    target("layout_text", layout_text, [10_000, 500]),
    target("plugin", plugin, [200_000, 1_000]),
    target("proto", proto, [50_000, 1_000]),
    target("relayout", relayout, [100_000_000, 0]),
    target("rustc", rustc, [200_000, 5_000]),
    target("scan", scan, [100_000, 2_000]),
    target("serde", serde, [50_000, 1_000]),
    target("shape_text", shape_text, [50_000, 1_000]),
    target("sharding_text", sharding_text, [100_000, 2_000]),
    target("stride_table", stride_table, [200_000_000, 0]),
    target("terminal", terminal, [20_000, 500]),
    target("vector_layout", vector_layout, [20_000, 500]),
    target("walkers", walkers, [20_000_000, 0]),
    target("notation_text", notation_text, [400_000_000, 20_000]),
];

/// Any text: the part that can be read as a module is printed as a text that reads back as the same module, and can be checked and measured.
///
/// # Panics
/// If one of these checks fails.
pub fn hlo_module(bytes: &[u8]) {
    let Ok(text) = utf8(bytes) else { return };
    let (module, errors) = Module::parse_with_errors(text);
    for error in &errors {
        assert!(text.get(error.span().start..error.span().end).is_some(), "{error}");
    }
    assert_eq!(Module::parse(text).is_ok(), errors.is_empty());
    let findings = module.check();
    for finding in &findings {
        assert!(!finding.to_string().is_empty());
    }
    let memory = module.memory();
    let early = module.instructions().find(|found| {
        found.operands().any(|operand| operand.instruction().is_some_and(|made| made.number() >= found.number()))
    });
    if let Some(early) = early {
        assert!(memory.timeline_on(None).is_none());
        let is_told = findings.iter().any(|finding| finding.severity() == Severity::Error);
        assert!(is_told || early.computation().is_fragment());
    }
    let _ = (memory.usage(), memory.most_padded(10), memory.tile_formats(), memory.layout_changes(), memory.peaks());
    if errors.is_empty() {
        let printed = module.to_string();
        let again = Module::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(again.to_string(), printed);
    }
}

/// Any bytes: MLIR's bytecode becomes a text that is not much longer, or is refused at a position in the bytes; and a program can call it as a kernel.
///
/// # Panics
/// If one of these checks fails.
pub fn bytecode(bytes: &[u8]) {
    match bytecode_functions(bytes) {
        Ok(text) => assert!(text.len() <= bytes.len() * 64),
        Err(error) => assert!(error.position() <= bytes.len(), "{error}"),
    }
    for computes in [false, true] {
        let program = calling(bytes, computes);
        for kernel in called_kernels(&program, 1) {
            assert!(kernel.is_alone != computes && kernel.vmem_limit == Some(4096));
        }
        for kernel in TooLarge::find(&program, Generation::V5e) {
            assert!(!computes && kernel.needed.vmem_bytes > 4096 && !kernel.to_string().is_empty());
        }
    }
}

/// A program that calls a kernel with this code, and may compute one of its operands.
fn calling(code: &[u8], computes: bool) -> String {
    let code = BASE64_STANDARD.encode(code);
    let config = format!(
        r#"{{\22custom_call_config\22: {{\22body\22: \22{code}\22}}, \22scoped_memory_configs\22: [{{\22memory_space\22:1, \22size\22: 4096}}]}}"#
    );
    let types = "(tensor<8x128xf32>, tensor<1024x1024xbf16>) -> (tensor<8x128xf32>, tensor<1024x1024xbf16>)";
    let (sine, x) = if computes { ("%0 = s.sin %x : tensor<8x128xf32>\n", "%0") } else { ("", "%x") };
    format!(
        "func.func @main(%x: tensor<8x128xf32>, %y: tensor<1024x1024xbf16>) {{\n{sine}%1:2 = s.custom_call @tpu_custom_call({x}, %y) \
         {{backend_config = \"{config}\"}} : {types}\nreturn %1#0, %1#1 : tensor<8x128xf32>, tensor<1024x1024xbf16>\n}}\n"
    )
}

/// Any text is read as a layout or refused: a layout prints as text that reads back as the same layout; an error
/// points into the text.
///
/// # Panics
/// If one of these checks fails.
pub fn layout_text(bytes: &[u8]) {
    let text = beginning(bytes);
    match text.parse::<Layout>() {
        Ok(layout) => assert_eq!(layout.to_string().parse().as_ref(), Ok(&layout)),
        Err(error) => assert!(text.get(error.span().start..error.span().end).is_some(), "{error}"),
    }
}

/// Any text: a vector layout prints as a text that reads back as the same layout, and counts the registers of a vector; an error points into the
/// text.
///
/// # Panics
/// If one of these checks fails.
pub fn vector_layout(bytes: &[u8]) {
    let text = beginning(bytes);
    match text.parse::<VectorLayout>() {
        Ok(layout) => {
            assert_eq!(layout.to_string().parse().as_ref(), Ok(&layout));
            for sizes in [&[][..], &[1], &[u64::MAX], &[3, 130], &[1 << 40, 1 << 40, 8, 8]] {
                if let Ok(registers) = layout.registers(sizes) {
                    assert_eq!(layout.grid(sizes).expect("a grid").iter().product::<u64>(), registers);
                    assert_eq!(layout.relayout(&layout, sizes), Ok(Vec::new()));
                }
            }
        }
        Err(error) => assert!(text.get(error.span().start..error.span().end).is_some(), "{error}"),
    }
}

/// Any text as a layout of another notation, which its first byte names: it has an answer; a map is written in every notation that can express it,
/// and reads back as the same map; an error points into the text.
///
/// # Panics
/// If one of these checks fails.
pub fn notation_text(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let text = beginning(text);
    let notation = Notation::ALL[usize::from(*first) % Notation::ALL.len()];
    let layout = match AnyLayout::read(notation, text) {
        Ok(layout) => layout,
        Err(error) => return assert!(text.get(error.span().start..error.span().end).is_some(), "{error}"),
    };
    let _ = (layout.sharing(), layout.nearest(notation));
    for &notation in Notation::ALL {
        match layout.write(notation) {
            Ok(written) => {
                let back =
                    AnyLayout::read(notation, &written).unwrap_or_else(|error| panic!("{notation} {written}: {error}"));
                match back.first_moved(&layout) {
                    Ok(moved) => assert_eq!(moved, None, "{notation} {written}"),
                    Err(obstacle) => assert!(
                        matches!(obstacle, Obstacle::StrideTable(_) | Obstacle::Replicated { .. }),
                        "{notation} {written}: {obstacle}"
                    ),
                }
            }
            Err(obstacle) => assert!(!obstacle.to_string().is_empty()),
        }
    }
}

/// Any bytes are read as a message or refused: a shape is written as a message that reads back as the same shape,
/// a module has a text.
///
/// # Panics
/// If one of these checks fails.
pub fn proto(bytes: &[u8]) {
    match decode_shape(bytes) {
        Ok(shape) => {
            assert_eq!(decode_shape(&encode_shape(&shape)).as_ref(), Ok(&shape));
            assert_eq!(shape.to_string().parse().as_ref(), Ok(&shape));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(Some(assignment)) = BufferAssignment::from_proto(bytes) {
        let _ = (assignment.account(), assignment.constant_bytes());
    }
    match Module::from_proto(bytes) {
        Ok(module) => assert_eq!(Module::parse(module.text()).map(|again| again.to_string()), Ok(module.to_string())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any two layouts, any content: every element goes to its place, and no other byte is written.
///
/// # Panics
/// If one of these checks fails.
pub fn relayout(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(element_type) = arrays::element_type(&mut input) else { return };
    let Ok(sizes) = arrays::sizes(&mut input) else { return };
    let narrowest = element_type.bits();
    let Ok(any) = input.int_in_range(narrowest..=300) else { return };
    let Ok(&bits) = input.choose(&[0, narrowest, any]) else { return };
    let Ok(from) = arrays::shape(&mut input, sizes.clone(), bits) else { return };
    let Ok(to) = arrays::shape(&mut input, sizes, bits) else { return };
    let Ok(&stores) = input.choose(&[Stores::Auto, Stores::Regular, Stores::Streaming]) else { return };
    let content = match input.take_rest() {
        [] => &[0x5a, 0xc3, 0x17][..],
        rest => rest,
    };
    relayout_agrees(&from, &to, element_type, content, stores).unwrap();
}

/// Any bytes: every shape that is found in them equals the one that is parsed from its span.
///
/// # Panics
/// If one of these checks fails.
pub fn scan(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut end = 0;
    for found in find_shapes(&text) {
        assert!(found.span.start >= end, "found shapes overlap");
        end = found.span.end;
        assert_eq!(text[found.span.start..end].parse::<Shape>().as_ref(), Ok(&found.shape));
    }
    for span in instruction_shapes(&text) {
        assert!(text.get(span.start..span.end).is_some());
    }
}

/// Any bytes are read as JSON and by postcard, or refused: a value that was read is written, and reads back as the same value.
///
/// # Panics
/// If one of these checks fails.
pub fn serde(bytes: &[u8]) {
    there_and_back::<Shape>(bytes);
    there_and_back::<Layout>(bytes);
    there_and_back::<LegacyShape>(bytes);
    there_and_back::<ProgramShape>(bytes);
}

fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<T>(bytes) {
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<T>(&text).unwrap(), value);
    }
    if let Ok(value) = postcard::from_bytes::<T>(bytes) {
        let bytes = postcard::to_allocvec(&value).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&bytes).unwrap(), value);
    }
}

/// Any text is read as a shape or refused: a shape prints as text that reads back as the same shape; an error
/// points into the text.
///
/// # Panics
/// If one of these checks fails.
pub fn shape_text(bytes: &[u8]) {
    let text = beginning(bytes);
    match text.parse::<Shape>() {
        Ok(shape) => {
            assert_eq!(shape.to_string().parse().as_ref(), Ok(&shape));
            let _ = shape.byte_size();
            if let Shape::Array(array) = &shape {
                let _ = (array.stride_table(), array.padding_byte_size());
            }
        }
        Err(error) => {
            assert!(text.get(error.span().start..error.span().end).is_some(), "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Any layout: the run-time table and the table of a `const` agree with the reference about places, padding and sizes.
///
/// # Panics
/// If one of these checks fails.
pub fn stride_table(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(element_type) = arrays::element_type(&mut input) else { return };
    let Ok(sizes) = arrays::sizes(&mut input) else { return };
    let Ok(bits) = input.int_in_range(0..=40) else { return };
    let Ok(shape) = arrays::shape(&mut input, sizes, bits) else { return };
    tables_agree(&shape, element_type).unwrap();
}

/// The longest beginning of the bytes that is UTF-8.
fn beginning(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap(),
    }
}

/// Any text has an answer; a sharding prints as a text that reads back as the same sharding, and divides an array, or the error says why not.
///
/// # Panics
/// If one of these checks fails.
pub fn sharding_text(bytes: &[u8]) {
    let text = beginning(bytes);
    let sharding = match text.parse::<Sharding>() {
        Ok(sharding) => sharding,
        Err(error) => return assert!(text.get(error.span().start..error.span().end).is_some(), "{error}"),
    };
    let printed = sharding.to_string();
    assert_eq!(printed.parse().as_ref(), Ok(&sharding), "{printed}");
    for array in ["f32[]", "f32[7]", "bf16[16,100]{1,0:T(8,128)(2,1)}", "s4[2,3,4,5]", "f32[0,3]"] {
        let array: ArrayShape = array.parse().expect("a shape");
        let Ok(partition) = sharding.partition(&array) else { continue };
        let _ =
            (partition.device_count(), partition.bytes_per_device(), partition.bytes_total(), partition.check_even());
        for (device, region) in partition.regions().take(64) {
            assert_eq!(partition.region(device).as_ref(), Ok(&region), "{printed} of {array}");
        }
    }
    if let Ok(tiled) = sharding.to_tiled() {
        assert_eq!(tiled.to_string().parse().as_ref(), Ok(&*tiled));
    }
}
