// Examples: real shapes, messages and programs. Files are in the project's directory `examples`.

const kernel = (name, files) => files.map(file => `kernels/${name}/${file}`);

export const EXAMPLES = [
  { title: 'A shape', text: 'bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}' },
  { title: 'Two shapes', text: 'bf16[32,2,192]{2,1,0:T(2,128)(2,1)} -> bf16[64,192]{1,0:T(8,128)(2,1)}' },
  { title: 'A sharding', text: 'bf16[8192,4096]{1,0:T(8,128)(2,1)} {devices=[4,2]<=[8]}' },
  { title: 'Out of memory', text: `jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. Exceeded hbm capacity by 17.34G.

Total hbm usage >= 49.34G:
    reserved           0B
    program        49.34G
    arguments          0B

Largest program allocations in hbm:

  1. Size: 16.00G
     Operator: op_name="jit(step)/transpose"
     Shape: bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}
     Unpadded size: 1.00G
     Extra memory due to padding: 15.00G (16.0x expansion)
     XLA label: copy.1 = copy(fusion.7)
     Allocation type: HLO temp
` },
  { title: 'A layout of CuTe', text: '((2,4),128):((1,256),2)' },
  { title: 'A program', files: ['hlo/v5e__rnn_scan.hlo'] },
  { title: 'Two programs', files: ['hlo/v5e__gather_step.hlo'], against: ['hlo/v5e__gather_step_transposed.hlo'] },
  {
    title: 'A kernel', files: [...kernel('first', [
      'llo.TLP.vmem_report.html', 'llo.name.1.final_bundles.txt', 'llo.name.1.final_hlo-static-per-bundle-utilization.txt',
      'llo.name.1.schedule-analysis_final_bundles.txt', 'mosaic.first.post-apply-vector-layout.txt', 'mosaic.first.post-relayout-insertion.txt',
    ]), 'kernels/shifted_sum.py'],
  },
];
