//! The VMEM that kernels need, compared with the compiler's own answers.

use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape::tpu::{Block, Generation, InMemory, kernel_bytes, vmem_bytes};
use xla_shape::{ArrayShape, ElementType};
use xla_shape_tests::corpus;

#[derive(Deserialize)]
struct Row {
    tpu: String,
    limit: Option<u64>,
    inputs: Vec<(ArrayShape, ArrayShape, bool)>,
    outputs: Vec<(ArrayShape, ArrayShape, bool)>,
    scratch: Vec<ArrayShape>,
    body: Option<String>,
    used: Option<u64>,
    message: Option<String>,
}

impl Row {
    fn generation(&self) -> Generation {
        self.tpu.parse().unwrap()
    }

    fn blocks(&self) -> impl Iterator<Item = &(ArrayShape, ArrayShape, bool)> {
        self.inputs.iter().chain(&self.outputs)
    }

    /// The bytes of all blocks and scratch buffers.
    fn needed(&self) -> u64 {
        let blocks = self.blocks().map(|(array, block, moves)| {
            let taken = Block::new(self.generation(), array, block).unwrap();
            // A block that does not move is the whole array, so it has one copy.
            assert_eq!(taken.copies(), if *moves { 2 } else { 1 }, "{block} of {array}");
            taken.in_memory()
        });
        let scratch = self.scratch.iter();
        let scratch = scratch.map(|shape| InMemory { copies: 1, bytes: vmem_bytes(self.generation(), shape).unwrap() });
        kernel_bytes(&blocks.chain(scratch).collect::<Vec<_>>())
    }

    fn limit(&self) -> u64 {
        self.generation().kernel_vmem().unwrap().limit(self.limit)
    }

    /// The compiler converts these arrays to `s32` before the kernel, and keeps the result in VMEM if it can. Then the kernel needs less.
    fn converts(&self) -> bool {
        self.blocks().any(|(array, ..)| array.element_type() == ElementType::Pred)
    }
}

fn rows() -> Vec<Row> {
    corpus("tpu_kernels.jsonl.zst")
}

#[test]
fn blocks_take_what_the_compiler_gives_them_and_fit_where_it_takes_them() {
    let mut kernels = BTreeMap::<String, [usize; 3]>::new();
    for row in rows().iter().filter(|row| row.body.is_none()) {
        let (needed, limit) = (row.needed(), row.limit());
        let shapes = || format!("{}: {:?} -> {:?}, {:?}", row.tpu, row.inputs, row.outputs, row.scratch);
        match row.used {
            Some(used) if row.converts() => assert!(used <= needed, "{}", shapes()),
            // The compiler does not align the end of the last buffer.
            Some(used) => {
                assert!(needed <= limit && used <= needed && needed - used < 1024, "{used}, {needed}: {}", shapes());
            }
            None => assert!(needed > limit, "{:?}: {needed} of {limit}: {}", row.message, shapes()),
        }
        let kinds = kernels.entry(row.tpu.clone()).or_default();
        kinds[usize::from(row.used.is_some())] += 1;
        kinds[2] += usize::from(needed.abs_diff(limit) * 20 < limit);
    }
    assert_eq!(kernels.len(), 5);
    for (tpu, [refused, taken, near]) in kernels {
        assert!(refused > 20 && taken > 50 && near > 50, "{tpu}: {refused} {taken}, {near} within 5 % of the limit");
    }
}

#[test]
fn what_a_kernel_computes_can_only_add_to_its_blocks() {
    let rows = rows();
    let computed = rows.iter().filter(|row| row.body.is_some());
    let more = computed.map(|row| {
        let used = row.used.unwrap();
        assert!(used + 1024 > row.needed());
        used.saturating_sub(row.needed()) as f64
            / Block::new(row.generation(), &row.inputs[0].0, &row.inputs[0].1).unwrap().byte_size() as f64
    });
    let more = more.collect::<Vec<_>>();
    // docs/tpu-formats.md has these figures.
    let most = more.iter().copied().fold(0.0, f64::max);
    assert!(more.len() == 250 && (2.6..2.7).contains(&most), "{most}");
    let nothing = more.iter().filter(|more| **more == 0.0).count();
    assert!(nothing * 2 > more.len(), "{nothing}");
}

#[test]
fn the_compilers_own_limit_is_the_default() {
    // "Scoped allocation with size 64.00M and limit 16.00M exceeded".
    let [array, block] = ["bf16[65536,1024]", "bf16[8192,1024]"].map(|text| text.parse::<ArrayShape>().unwrap());
    let block = Block::new(Generation::V5e, &array, &block).unwrap();
    let needed = kernel_bytes(&[block.in_memory(), block.in_memory()]);
    assert_eq!(needed, 64 << 20);
    let vmem = Generation::V5e.kernel_vmem().unwrap();
    assert!(needed > vmem.limit(None) && needed <= vmem.limit(Some(100 << 20)));
}
