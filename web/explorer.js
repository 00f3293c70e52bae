// The page: takes the input, asks the worker, shows the answer, and keeps the link.

import { COPIES } from './copy.js';
import { Engine, split } from './engine.js';
import { EXAMPLES } from './examples.js';
import { LONGEST, fromFragment, toFragment } from './link.js';

const $ = id => document.getElementById(id);
const size = bytes => bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
const count = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
const sides = [{ box: $('text'), note: $('files') }, { box: $('against'), note: $('against-files') }];
for (const side of sides) [side.files, side.placeholder] = [null, side.box.placeholder];

// What the user chose: a reading, a view. `form` is page, text or JSON, and stays for the next answers.
let choice = {}, form = 'page', answered = null, fragment = null;

// The worker. It is ended when the input changes while it works, and starts again with the compiled module, which index.html begins to load.

// A worker from a blob has the policy of this page.
const code = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL('worker.js', location).href)};`], { type: 'text/javascript' }));
let worker = null, isReady = false, asked = 0, running = false;

function start() {
  worker = new Worker(code, { type: 'module' });
  isReady = false;
  const own = worker;
  worker.onmessage = ({ data }) => { if (data.isReady) isReady = own === worker; else receive(data); };
  worker.onerror = event => receive({ id: asked, error: event.message ?? 'the worker does not start' });
  // It starts while the module is compiled.
  compiled.then(module => own.postMessage({ module }), () => {});
}

// The first answer has the processor for itself.
const START_AFTER = 100;
compiled.then(() => setTimeout(() => { if (!worker) start(); }, START_AFTER), () => {});

// A text of at most this many bytes is answered in the page itself while the worker is starting.
const MOST_HERE = 4096;

async function post(question) {
  const id = asked += 1, module = await compiled;
  if (id !== asked) return;
  const sources = [...question.files, ...question.against].map(({ source }) => source);
  if (!isReady && !running && sources.every(source => source instanceof Uint8Array) && sources.reduce((sum, { length }) => sum + length, 0) <= MOST_HERE) {
    return receive({ id, ...await new Engine(module).answer(...split(question)).then(answer => ({ answer }), ({ message }) => ({ error: message })) });
  }
  if (running) worker.terminate();
  if (running || !worker) { start(); await compiled; }
  running = true;
  worker.postMessage({ id, ...question });
  setTimeout(() => { if (id === asked && running) working(); }, 300);
}

// Shows a moving bar until the answer is there. It has no length, because the time is not known.
function working() {
  if (!$('progress').hidden) return;
  $('progress').removeAttribute('value');
  $('progress').hidden = false;
  say('Working …');
}

function receive({ id, progress, answer, error }) {
  if (id !== asked) return;
  if (progress !== undefined) {
    $('progress').hidden = progress === 1;
    if (progress === 1) return working();
    $('progress').value = progress;
    return say('Reading …');
  }
  running = false;
  $('progress').hidden = true;
  show(answer ?? { error, readings: [], views: [] });
}

// The input.

const isText = side => side.files === null;
const list = side => isText(side) ? (side.box.value === '' ? [] : [{ name: '-', source: new TextEncoder().encode(side.box.value) }]) : side.files;

// How many characters fit into a line of the answer.
const columns = () => Math.max(40, Math.min(100, Math.floor(($('result').clientWidth - 36) / (innerWidth < 700 ? 7.3 : 7.9))));

function ask() {
  const [files, against] = sides.map(list);
  const isGiven = files.length > 0 || against.length > 0;
  document.body.classList.toggle('start', !isGiven);
  // On a phone, the examples would stand between the input and the answer.
  $('more').open = !isGiven || innerWidth >= 1000;
  if (!isGiven) {
    asked += 1;
    $('progress').hidden = true;
    $('answer').hidden = true;
    $('answer').removeAttribute('aria-busy');
    say('Nothing is given yet.', false);
    keepLink();
    return;
  }
  $('answer').setAttribute('aria-busy', 'true');
  post({ files, against, ...choice, width: columns() });
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
  side.box.placeholder = files ? 'Paste here instead' : side.placeholder;
  if (files) {
    side.box.value = '';
    const bytes = files.reduce((sum, { source }) => sum + (source.size ?? source.length), 0);
    side.note.textContent = files.length === 1 ? `${files[0].name}, ${size(bytes)}` : `${count(files.length, 'file')}, ${size(bytes)}`;
  }
}

// The side for files that were not dropped on a box. If the second box is open and empty and the first one is in use, the files go to the second.
const free = () => sides[!$('second').hidden && list(sides[0]).length > 0 && list(sides[1]).length === 0 ? 1 : 0];

function take(files, side = free()) {
  if (!files.length) return;
  choice = {};
  setFiles(side, files);
  ask();
}

const named = file => ({ name: file.webkitRelativePath || file.name, source: file });
for (const id of ['open', 'folder']) {
  $(id).addEventListener('change', event => {
    take([...event.target.files].map(named));
    event.target.value = '';
  });
}

// A text that is pasted beside the boxes is meant for the first one.
addEventListener('paste', event => {
  const text = event.clipboardData.getData('text/plain'), files = [...event.clipboardData.files];
  if (event.target.closest?.('textarea') && !files.length) return;
  event.preventDefault();
  if (files.length) take(files.map(named));
  else if (text) give(text);
});

// Puts a text into a box, as if it were typed.
function give(text, side = sides[0], wanted = {}) {
  setFiles(side, null);
  side.box.value = text;
  choice = wanted;
  ask();
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
  else if (text) give(text, side);
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
  const button = document.createElement('button'), title = document.createElement('b'), about = document.createElement('span');
  button.type = 'button';
  title.textContent = example.title;
  about.textContent = example.about ?? example.text;
  about.className = example.about ? '' : 'text';
  about.ariaHidden = 'true';
  button.append(title, about);
  button.addEventListener('click', () => load(example));
  $('examples').append(button);
}

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

// Shows the status. A text with `isSeen` false is only for screen readers.
const say = (text, isSeen = true) => {
  $('status').textContent = text;
  $('status').classList.toggle('quiet', !isSeen);
};

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
  const focused = document.activeElement?.textContent;
  $('readings').hidden = readings.length < 2;
  buttons($('readings'), 'Read it as', readings, reading.name, name => { choice = { reading: name }; ask(); });
  buttons($('views'), '', views, answer.shown, name => { choice = { reading: reading.name, view: name }; ask(); });
  $('shell').textContent = answer.shell;
  $('said').textContent = view.said;
  $('said').hidden = view.said === '';
  showForm();
  // The buttons are new ones, so the one with the same text gets the focus back.
  for (const button of document.querySelectorAll('#readings button, #views button, #forms button')) if (button.textContent === focused) button.focus();
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = !COPIES[button.dataset.copy].of(answer);
  $('copied').textContent = '';
  keepLink();
}

// The answer in one of its forms. A picture or a page says more than the text, so it is the first choice where there is one.
function showForm() {
  const { views, view, shown } = answered;
  const forms = [
    view.page && { name: 'page', title: view.svg ? 'Drawing' : 'Page' },
    view.text && { name: 'text', title: 'Text' },
    view.json && { name: 'json', title: 'JSON' },
  ].filter(Boolean);
  const current = (forms.find(({ name }) => name === form) ?? forms[0])?.name;
  buttons($('forms'), '', forms, current, name => { form = name; showForm(); [...$('forms').children].find(button => button.ariaPressed === 'true').focus(); });
  $('forms').hidden = forms.length < 2;
  for (const [place, name] of [['output', 'text'], ['json', 'json']]) {
    $(place).hidden = current !== name;
    $(place).textContent = current === name ? view[name] : '';
  }
  showNext(current === 'text' ? view.text : '');
  $('page').title = views.find(({ name }) => name === shown)?.title ?? 'Page';
  showPage(current === 'page' ? view.page : '');
}

// The commands that a text recommends, as buttons: those about a shape can be answered here.
function showNext(text) {
  const titles = { explain: 'Explanation', draw: 'Picture', tpu: 'On a TPU', advise: 'Advice', convert: 'Other notations' };
  const found = [...text.matchAll(/`xla-shape\s+(explain|draw|tpu|advise|convert)\s+'([^'`]+)'`/g)].map(([, view, shape]) => ({
    name: JSON.stringify([view, shape.replaceAll(/\s+/g, '')]), title: `${titles[view]}: ${shape.replaceAll(/\s+/g, '')}`,
  }));
  buttons($('next'), 'Next', found, null, name => {
    const [view, shape] = JSON.parse(name);
    give(shape, sides[0], { reading: 'shape', view });
  });
  for (const button of $('next').children) button.removeAttribute('aria-pressed');
  $('next').hidden = !found.length;
}

// The program's own page, in a new frame each time. It has a policy of its own that allows no requests at all, and no access to this page.
function showPage(page) {
  const frame = $('page').cloneNode(), theme = document.documentElement.dataset.theme;
  frame.hidden = !page;
  // The frame has no button for the theme: this page's button sets the theme of both.
  frame.srcdoc = page ? page.replace('<html lang="en">', theme ? `<html lang="en" data-theme="${theme}">` : '<html lang="en">')
    .replace('</head>', '<style>#theme{display:none}</style></head>') : '';
  $('page').replaceWith(frame);
}

$('theme').addEventListener('click', () => {
  const root = document.documentElement, isDark = matchMedia('(prefers-color-scheme:dark)').matches;
  root.dataset.theme = (root.dataset.theme ?? (isDark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
  if (!$('page').hidden) showForm();
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

for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', async () => {
    const { copy } = COPIES[button.dataset.copy];
    try {
      if (button.dataset.copy === 'link' && !fragment) throw new Error(linkTrouble || 'Nothing is given yet.');
      await copy(answered, fragment ? location.href : null);
      $('copied').textContent = 'Copied.';
    } catch (error) {
      $('copied').textContent = error.message;
    }
  });
}

compiled.catch(error => say(`error: the program cannot be loaded: ${error.message}`));
restore();
if ('serviceWorker' in navigator && location.protocol !== 'file:') navigator.serviceWorker.register('service.js').catch(() => {});
sides[0].box.focus();
