// Calls the module of crates/web: a question with files goes in, an answer comes out. crates/web/src/message.rs describes both.

// Answers of a module whose memory has grown to more than this come from a new instance, because memory never shrinks.
const KEPT = 256 << 20;

// Splits lists of `{name, source}` into the question and the sources that `Engine.answer` takes.
export function split({ files, against, ...more }) {
  const names = list => list.map(({ name }) => name);
  return [{ files: names(files), against: names(against), ...more }, [...files, ...against].map(({ source }) => source)];
}

export class Engine {
  constructor(module) { this.module = module; }

  // `sources` are the files of `question.files`, then those of `question.against`: bytes, or blobs. Calls `progress` with numbers from 0 to 1.
  async answer({ files, against, reading, view, width }, sources, progress = () => {}) {
    const sizes = sources.map(source => source.size ?? source.length);
    // A name may not be valid Unicode: half of a pair of surrogates has no form in UTF-8.
    const text = name => name.replace(/\p{Surrogate}/gu, '\ufffd');
    const named = (names, from) => names.map((name, at) => [text(name), sizes[from + at]]);
    const head = new TextEncoder().encode(JSON.stringify({
      files: named(files, 0), against: named(against, files.length), reading, view, width,
    }));
    const bytes = sizes.reduce((sum, size) => sum + size, 0), length = 4 + head.length + bytes;
    if (!this.instance || this.instance.memory.buffer.byteLength > KEPT) await this.restart();
    const wasm = this.instance;
    const place = length < 2 ** 31 ? wasm.allocate(length) >>> 0 : 0;
    if (!place) throw new RangeError(`${Math.ceil(length / (1 << 20))} MiB are more than fit into the memory of a page; the program \`xla-shape\` has no such limit`);
    try {
      const memory = new Uint8Array(wasm.memory.buffer, place, length);
      new DataView(wasm.memory.buffer, place).setUint32(0, head.length, true);
      memory.set(head, 4);
      let at = 4 + head.length;
      for (const source of sources) {
        for await (const chunk of chunks(source)) {
          memory.set(chunk, at);
          at += chunk.length;
          progress((at - 4 - head.length) / bytes);
        }
      }
      if (at !== length) throw new RangeError('a file changed while it was read');
      const reply = BigInt.asUintN(64, wasm.reply(place, length));
      const [from, size] = [Number(reply & 0xffffffffn), Number(reply >> 32n)];
      const text = new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, from, size));
      wasm.release(from, size);
      return JSON.parse(text);
    } catch (error) {
      // After a trap, the memory of the instance may be in any state, and another instance takes its place.
      this.instance = null;
      if (wasm.is_out_of_memory()) throw new Error(`this needs more memory than the browser gives a page, which is 4 GiB at most; the program \`xla-shape\` has no such limit`);
      if (error instanceof WebAssembly.RuntimeError) throw new Error(`the answer failed, which is a bug (${error.message})`);
      throw error;
    }
  }

  async restart() {
    this.instance = (await WebAssembly.instantiate(this.module, {})).exports;
  }
}

async function* chunks(source) {
  if (source instanceof Uint8Array) yield source;
  else yield* parts(source.stream());
}

// The parts of a stream. Not every browser can iterate over one.
export async function* parts(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
