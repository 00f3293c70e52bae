// Builds the site: `node build.mjs WASM DIRECTORY`. Copies files. Writes the hashes of the scripts in the
// program's pages into the policy, and the list of files and a version into the service worker.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { argv, execPath } from 'node:process';
import { gzipSync } from 'node:zlib';
import { Engine } from './engine.js';
import { EXAMPLES } from './examples.js';
import { withNamesInOrder } from './order.mjs';

const MOST = 1_000_000;

// The passes that remove copies of the same function: generic code is compiled in each crate that uses it. Functions that call different copies become
// equal only when these copies are merged, so the pass runs several times. Most other passes that rewrite functions would make the module smaller, but
// larger once it is compressed.
const COPIES = Array(3).fill('duplicate-function-elimination');
const PASSES = [
  ...COPIES, 'remove-unused-names', 'remove-unused-brs', 'remove-unused-names', ...COPIES, 'merge-similar-functions', ...COPIES,
  'rse', 'vacuum', 'optimize-instructions', 'code-folding', 'vacuum', ...COPIES, 'remove-unused-module-elements',
  'remove-unused-brs', 'remove-unused-names', 'vacuum',
  // The alignment of a load or store is a hint that engines do not use.
  'dealign',
];
// Where similar functions stand together, the compressed module is an eighth smaller. After that, the names are removed.
const ORDER = ['reorder-functions-by-name', 'strip-debug'];
// The features of WebAssembly that rustc uses.
const FEATURES = ['bulk-memory', 'bulk-memory-opt', 'multivalue', 'mutable-globals', 'nontrapping-float-to-int', 'reference-types', 'sign-ext'];
function optimize(from, to, passes, ...more) {
  const options = [...FEATURES.map(name => `--enable-${name}`), ...passes.map(name => `--${name}`), ...more];
  execFileSync(execPath, [join(here, 'node_modules/binaryen/bin/wasm-opt'), ...options, from, '-o', to], { stdio: 'inherit' });
}

const here = import.meta.dirname, project = join(here, '..');
const [wasm, site] = argv.slice(2);
mkdirSync(join(site, 'examples'), { recursive: true });
const scripts = readdirSync(here).filter(name => name.endsWith('.js'));
for (const name of ['explorer.css', ...scripts]) copyFileSync(join(here, name), join(site, name));
copyFileSync(join(project, 'crates/render/src/web/style.css'), join(site, 'pages.css'));
const target = join(site, 'xla_shape_web.wasm');
optimize(wasm, target, PASSES, '--debuginfo');
writeFileSync(target, withNamesInOrder(readFileSync(target)));
optimize(target, target, ORDER);
const program = readFileSync(target);
for (const name of new Set(EXAMPLES.flatMap(({ files = [], against = [] }) => [...files, ...against]))) {
  cpSync(join(project, 'examples', name), join(site, 'examples', name));
}

// All pages of a kind have the same script, so one example of each kind is enough.
const engine = new Engine(await WebAssembly.compile(program));
const hashes = new Set();
function addHashes(page) {
  for (const [, script] of page.matchAll(/<script>([^]*?)<\/script>/g)) hashes.add(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
}
for (const { text, files = ['-'], against = [] } of EXAMPLES) {
  const read = name => text === undefined ? new Uint8Array(readFileSync(join(project, 'examples', name))) : new TextEncoder().encode(text);
  const sources = [...files, ...against].map(read);
  const { views } = await engine.answer({ files, against }, sources);
  for (const { name: view } of views) {
    const { page } = (await engine.answer({ files, against, view }, sources)).view;
    addHashes(page ?? '');
  }
}
const page = readFileSync(join(here, 'index.html'), 'utf8');
addHashes(page);
const html = page.replace('HASHES', [...hashes].sort().join(' '))
  // So the browser loads all scripts at once, and not each one only when another imports it.
  .replace('<!-- SCRIPTS -->', scripts.filter(name => !['explorer.js', 'service.js'].includes(name)).map(name => `<link rel="modulepreload" href="${name}">`).join('\n'));
writeFileSync(join(site, 'index.html'), html);

const files = readdirSync(site, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  .map(entry => relative(site, join(entry.parentPath, entry.name))).filter(name => name !== 'service.js').sort();
const version = createHash('sha256');
for (const name of files) version.update(name).update(readFileSync(join(site, name)));
const service = readFileSync(join(here, 'service.js'), 'utf8').replace("'VERSION'", JSON.stringify(version.digest('hex').slice(0, 16)))
  .replace("['FILES']", JSON.stringify(['./', ...files]));
writeFileSync(join(site, 'service.js'), service);

const size = gzipSync(program, { level: 9 }).length;
console.log(`${files.length + 1} files; the program takes ${size} bytes, compressed by gzip, of at most ${MOST}`);
if (size > MOST) process.exitCode = 1;
