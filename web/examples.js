// Examples: real shapes, messages and programs. Files are in the project's directory `examples`; `about` says what is in them.

const kernel = (name, files) => files.map(file => `kernels/${name}/${file}`);

export const EXAMPLES = [
  { title: 'Out of memory', about: '32 GiB for an array of 1 GiB', text: `jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm. Exceeded hbm capacity by 25.74G.

Total hbm usage >= 41.74G:
    reserved        528.00M
    program          41.22G
    arguments            0B

Largest program allocations in hbm:

  1. Size: 32.00G
     Operator: op_name="jit(paint)/jit(main)/rem"
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)
     XLA label: copy.40488 = copy(get-tuple-element.32429)
     Allocation type: HLO temp
     ==========================

  2. Size: 8.00G
     Operator: op_name="jit(paint)/jit(main)/psum"
     Shape: f32[256,512,128,2]{3,2,1,0:T(8,128)}
     Unpadded size: 128.00M
     Extra memory due to padding: 7.88G (64.0x expansion)
     XLA label: all-reduce = all-reduce(fusion.12)
     Allocation type: HLO temp
     ==========================
` },
  { title: 'A shape', text: 'bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}' },
  { title: 'Two shapes', text: 'bf16[32,2,192]{2,1,0:T(2,128)(2,1)} -> bf16[64,192]{1,0:T(8,128)(2,1)}' },
  { title: 'A sharding', text: 'bf16[8192,4096]{1,0:T(8,128)(2,1)} {devices=[4,2]<=[8]}' },
  { title: 'A layout of CuTe', text: '((2,4),128):((1,256),2)' },
  { title: 'A program', about: 'HLO of a scan on v5e: memory, cycles', files: ['hlo/v5e__rnn_scan.hlo'] },
  { title: 'Two programs', about: 'one step, before and after a change', files: ['hlo/v5e__gather_step.hlo'], against: ['hlo/v5e__gather_step_transposed.hlo'] },
  {
    title: 'A kernel', about: 'Pallas: relayouts and bundles, by line', files: [...kernel('first', [
      'llo.TLP.vmem_report.html', 'llo.name.1.final_bundles.txt', 'llo.name.1.final_hlo-static-per-bundle-utilization.txt',
      'llo.name.1.schedule-analysis_final_bundles.txt', 'mosaic.first.post-apply-vector-layout.txt', 'mosaic.first.post-relayout-insertion.txt',
    ]), 'kernels/shifted_sum.py'],
  },
];
