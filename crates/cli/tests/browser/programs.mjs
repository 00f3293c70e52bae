// Programs made for tests, screenshots and measurements.

// A scheduled program with this many instructions: layers with loops of dependencies, fusions, copies and cycles. `width` changes a size.
export function program(count, width = 128) {
  const lines = ['HloModule made, is_scheduled=true', ''];
  const array = `f32[512,${width}]{1,0:T(8,128)}`;
  for (let n = 0; n < Math.min(40, Math.ceil(count / 12)); n += 1) {
    lines.push(`fused_${n} {`, `  a${n} = ${array} parameter(0)`, `  b${n} = ${array} parameter(1)`, `  m${n} = ${array} multiply(a${n}, b${n})`,
      `  ROOT s${n} = ${array} add(m${n}, a${n})`, '}', '');
  }
  lines.push('ENTRY main {', `  v0 = ${array} parameter(0)`);
  for (let n = 1; n < count; n += 1) {
    const name = `jit(step)/layer_${n % 48}/block_${n % 7}/dot_general`;
    const where = `metadata={op_name="${name}" source_file="model.py" source_line=${n % 300 + 1}}, ` +
      `backend_config={"window_config":{"estimated_cycles":"${100 + n * 37 % 900}"}}`;
    const before = `v${n - 1}`, older = `v${Math.max(0, n - 1 - n * 13 % 29)}`;
    const kind = n % 12 === 0 ? `fusion(${before}, ${older}), kind=kLoop, calls=fused_${(n / 12 - 1) % 40}`
      : n % 12 === 5 ? `copy(${before})` : n % 2 ? `add(${before}, ${older})` : `custom-call(${before}, ${older}), custom_call_target="f"`;
    lines.push(`  v${n} = ${array} ${kind}, ${where}`);
  }
  lines.push(`  ROOT r = ${array} negate(v${count - 1})`, '}', '');
  return lines.join('\n');
}
