// The page: takes the input, asks the worker, shows the answer, and keeps the link.

import { EXAMPLES } from './examples.js';
import { LONGEST, fromFragment, toFragment } from './link.js';

const $ = id => document.getElementById(id);
const sides = [{ box: $('text'), note: $('files') }, { box: $('against'), note: $('against-files') }];
for (const side of sides) side.files = null;

let choice = {}, answered = null, fragment = null;

// The worker. It is ended when the input changes while it works, and starts again with the compiled module.

const compiled = WebAssembly.compileStreaming(fetch('xla_shape_web.wasm'));
// A worker from a blob has the policy of this page.
const code = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL('worker.js', location).href)};`], { type: 'text/javascript' }));
let worker = null, asked = 0, running = false;

async function post(question) {
  const id = asked += 1;
  const module = await compiled;
  if (id !== asked) return;
  if (running) { worker.terminate(); worker = null; }
  if (!worker) {
    worker = new Worker(code, { type: 'module' });
    worker.onmessage = ({ data }) => receive(data);
    worker.onerror = event => receive({ id: asked, error: event.message ?? 'the worker does not start' });
    worker.postMessage({ module });
  }
  running = true;
  worker.postMessage({ id, ...question });
}

function receive({ id, progress, answer, error }) {
  if (id !== asked) return;
  if (progress !== undefined) {
    $('progress').hidden = progress === 1;
    $('progress').value = progress;
    say(progress === 1 ? 'Working …' : 'Reading …');
    return;
  }
  running = false;
  $('progress').hidden = true;
  show(answer ?? { error, readings: [], views: [] });
}

// The input.

const isText = side => side.files === null;
const list = side => isText(side) ? (side.box.value === '' ? [] : [{ name: '-', source: new TextEncoder().encode(side.box.value) }]) : side.files;

function ask() {
  const [files, against] = sides.map(list);
  if (!files.length && !against.length) {
    asked += 1;
    $('answer').hidden = true;
    $('answer').removeAttribute('aria-busy');
    say('Nothing is given yet. The examples are real ones.');
    keepLink();
    return;
  }
  $('answer').setAttribute('aria-busy', 'true');
  post({ files, against, ...choice, width: innerWidth < 700 ? 60 : 100 });
}

let timer;
for (const side of sides) {
  side.box.addEventListener('input', () => {
    setFiles(side, null);
    choice = {};
    clearTimeout(timer);
    timer = setTimeout(ask, 150);
  });
}

function setFiles(side, files) {
  side.files = files;
  side.note.hidden = files === null;
  if (files) {
    side.box.value = '';
    const bytes = files.reduce((sum, { source }) => sum + (source.size ?? source.length), 0);
    side.note.textContent = files.length === 1 ? `${files[0].name}, ${size(bytes)}` : `${files.length} files, ${size(bytes)}`;
  }
}

const size = bytes => bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;

function take(files, side = sides[0]) {
  if (!files.length) return;
  choice = {};
  setFiles(side, files);
  ask();
}

const named = file => ({ name: file.webkitRelativePath || file.name, source: file });
for (const id of ['open', 'folder']) {
  $(id).addEventListener('change', event => {
    // With the second box open and the first one in use, the files are what is compared.
    const second = !$('second').hidden && list(sides[0]).length > 0 && list(sides[1]).length === 0;
    take([...event.target.files].map(named), sides[second ? 1 : 0]);
    event.target.value = '';
  });
}

addEventListener('dragover', event => { event.preventDefault(); document.body.classList.add('over'); });
addEventListener('dragleave', event => { if (!event.relatedTarget) document.body.classList.remove('over'); });
addEventListener('drop', async event => {
  event.preventDefault();
  document.body.classList.remove('over');
  const side = sides[event.target.closest?.('#second') ? 1 : 0];
  const text = event.dataTransfer.getData('text/plain');
  const entries = [...event.dataTransfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = entries.length ? (await Promise.all(entries.map(entry => inside(entry, '')))).flat() : [...event.dataTransfer.files].map(named);
  if (files.length) take(files, side);
  else if (text) { setFiles(side, null); side.box.value = text; choice = {}; ask(); }
});

// The files of a dropped directory.
async function inside(entry, path) {
  const name = path + entry.name;
  if (entry.isFile) return new Promise((resolve, reject) => entry.file(file => resolve([{ name, source: file }]), reject));
  const reader = entry.createReader(), found = [];
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return (await Promise.all(found.map(child => inside(child, `${name}/`)))).flat();
    found.push(...part);
  }
}

function showSecond(shown) {
  $('second').hidden = !shown;
  $('compare').setAttribute('aria-expanded', String(shown));
}
$('compare').addEventListener('click', () => {
  showSecond($('second').hidden);
  if ($('second').hidden) { setFiles(sides[1], null); sides[1].box.value = ''; ask(); } else sides[1].box.focus();
});
$('clear').addEventListener('click', () => {
  for (const side of sides) { setFiles(side, null); side.box.value = ''; }
  showSecond(false);
  choice = {};
  ask();
  sides[0].box.focus();
});
$('input').addEventListener('submit', event => event.preventDefault());

// Examples: texts, and files beside this page.

for (const example of EXAMPLES) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = example.title;
  button.addEventListener('click', () => load(example));
  $('examples').append(button);
}
$('examples').prepend('Examples:');

async function load({ text, files, against }) {
  const fetched = async names => Promise.all(names.map(async name => {
    const response = await fetch(`examples/${name}`);
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return { name, source: new Uint8Array(await response.arrayBuffer()) };
  }));
  choice = {};
  try {
    const [first, second] = [files && await fetched(files), against && await fetched(against)];
    setFiles(sides[0], first ?? null);
    setFiles(sides[1], second ?? null);
    if (text !== undefined) [sides[0].box.value, sides[1].box.value] = [text, ''];
    showSecond(Boolean(second));
    ask();
  } catch (error) {
    say(`The example cannot be loaded: ${error.message}`);
  }
}

// The answer.

const say = text => { $('status').textContent = text; };

function buttons(place, label, choices, current, choose) {
  place.replaceChildren(label, ...choices.map(({ name, title }) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = title;
    button.setAttribute('aria-pressed', String(name === current));
    button.addEventListener('click', () => choose(name));
    return button;
  }));
}

function show(answer) {
  answered = answer;
  $('answer').removeAttribute('aria-busy');
  $('answer').hidden = !answer.view;
  if (!answer.view) { say(`error: ${answer.error}`); keepLink(); return; }
  const { reading, readings, views, view } = answer;
  say(`This is ${reading.title}.`);
  $('readings').hidden = readings.length < 2;
  const focused = document.activeElement?.textContent;
  buttons($('readings'), 'Read it as', readings, reading.name, name => { choice = { reading: name }; ask(); });
  $('views').hidden = views.length < 2;
  buttons($('views'), 'Show', views, answer.shown, name => { choice = { reading: reading.name, view: name }; ask(); });
  // The buttons are new ones; the keyboard stays where it was.
  for (const button of document.querySelectorAll('#readings button, #views button')) if (button.textContent === focused) button.focus();
  $('shell').textContent = answer.shell;
  $('said').textContent = view.said;
  $('said').hidden = view.said === '';
  $('output').textContent = view.text;
  $('output').hidden = view.text === '';
  $('json').textContent = view.json;
  $('data').hidden = view.json === '';
  $('page').title = views.find(({ name }) => name === answer.shown)?.title ?? 'Page';
  // A picture says more than its text: the text of a drawing is below. The frame is not moved for that, because Chromium shows a moved frame empty.
  $('answer').classList.toggle('drawing', Boolean(view.svg));
  showPage();
  for (const [what, has] of [['svg', view.svg], ['png', view.svg], ['json', view.json], ['markdown', view.text]]) {
    document.querySelector(`[data-copy=${what}]`).hidden = !has;
  }
  $('copied').textContent = '';
  keepLink();
}

// The program's own page, in a new frame each time. It has a policy of its own that allows no requests at all, and no access to this page.
function showPage() {
  const frame = $('page').cloneNode(), page = answered?.view?.page, theme = document.documentElement.dataset.theme;
  frame.hidden = !page;
  frame.srcdoc = page ? page.replace('<html lang="en">', theme ? `<html lang="en" data-theme="${theme}">` : '<html lang="en">') : '';
  $('page').replaceWith(frame);
}

$('theme').addEventListener('click', () => {
  const root = document.documentElement, isDark = matchMedia('(prefers-color-scheme:dark)').matches;
  root.dataset.theme = (root.dataset.theme ?? (isDark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
  showPage();
});

// The link: in the address, so that it can be copied there too.

let linkTrouble = '';
async function keepLink() {
  const state = { ...choice };
  const texts = await Promise.all(sides.map(async side => {
    const files = list(side);
    if (files.length > 1) return null;
    const [file] = files;
    if (!file) return '';
    const { source } = file;
    if ((source.size ?? source.length) > 64 * LONGEST) return null;
    const bytes = source instanceof Uint8Array ? source : new Uint8Array(await source.arrayBuffer());
    try { return new TextDecoder('utf-8', { fatal: true }).decode(bytes); } catch { return null; }
  }));
  linkTrouble = '';
  fragment = '';
  if (texts.includes(null)) linkTrouble = 'A link holds one small text on each side; this input has several files, or is too large or no text.';
  else if (texts.some(text => text !== '')) {
    const made = await toFragment({ text: texts[0], ...(texts[1] && { against: texts[1] }), ...state });
    if (made.length <= LONGEST) fragment = made;
    else linkTrouble = `A link holds at most ${LONGEST} characters; this input takes ${made.length}.`;
  }
  history.replaceState(null, '', fragment ? `#${fragment}` : location.pathname + location.search);
}

async function restore() {
  const given = location.hash.slice(1);
  if (given === fragment) return;
  if (!given) { ask(); return; }
  try {
    const { text, against, reading, view } = await fromFragment(given);
    choice = { reading, view };
    for (const side of sides) setFiles(side, null);
    [sides[0].box.value, sides[1].box.value] = [text, against ?? ''];
    showSecond(Boolean(against));
    ask();
  } catch (error) {
    say(`error: ${error.message}`);
  }
}
addEventListener('hashchange', restore);

// Copies.

const fences = text => '`'.repeat(Math.max(3, 1 + Math.max(0, ...(text.match(/`+/g) ?? []).map(run => run.length))));

function markdown() {
  const { view, shell } = answered;
  const text = view.text.trim(), fence = fences(text + shell);
  const link = fragment ? `\n[Open in the explorer](${location.href})\n` : '';
  return `${fence}sh\n${shell}\n${fence}\n\n${fence}text\n${text}\n${fence}\n${link}`;
}

async function png(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    await image.decode();
    const canvas = document.createElement('canvas');
    const scale = Math.min(2, 8000 / Math.max(image.naturalWidth, image.naturalHeight));
    [canvas.width, canvas.height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

const COPIES = {
  link: async () => {
    if (!fragment) throw new Error(linkTrouble || 'Nothing is given yet.');
    await navigator.clipboard.writeText(location.href);
  },
  markdown: () => navigator.clipboard.writeText(markdown()),
  json: () => navigator.clipboard.writeText(answered.view.json),
  svg: () => navigator.clipboard.writeText(answered.view.svg),
  png: async () => navigator.clipboard.write([new ClipboardItem({ 'image/png': png(answered.view.svg) })]),
};
for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', async () => {
    try {
      await COPIES[button.dataset.copy]();
      $('copied').textContent = 'Copied.';
    } catch (error) {
      $('copied').textContent = error.message;
    }
  });
}

compiled.catch(error => say(`error: the program cannot be loaded: ${error.message}`));
restore();
if ('serviceWorker' in navigator && location.protocol !== 'file:') navigator.serviceWorker.register('service.js').catch(() => {});
