// node in_a_page.mjs STORED_FILES LOADING: the page's scripts with a small JupyterLab. A notebook changes while it is saved; another is opened.
import fs from 'node:fs';
import vm from 'node:vm';

const result = { saved: [], together: 0, opened: null };
let content = 'typed';
let under_way = 0;
const changed = [];
const cell = (id, text) => ({ getId: () => id, getSource: () => text, setSource: (other) => (text = other) });
const cells = [cell('a', 'as it was saved'), cell('b', 'the same')];
const drafts = new Map();
const draft = (path, at, text) => drafts.set(`netlab draft ${path}`, JSON.stringify({ at, cells: [['a', text], ['gone', '']] }));
const context = {
  path: 'a.ipynb',
  contentsModel: { last_modified: new Date(1000).toISOString() },
  isReady: true,
  ready: Promise.resolve(),
  model: { dirty: true, sharedModel: { cells }, contentChanged: { connect: (slot) => changed.push(slot) } },
  async save() {
    result.together = Math.max(result.together, ++under_way);
    const text = content;
    await new Promise((done) => setTimeout(done, 600));
    result.saved.push(text);
    this.model.dirty = false; // as JupyterLab does, whatever was typed meanwhile
    under_way--;
  },
};
const change = (text) => {
  content = text;
  context.model.dirty = true;
  for (const slot of changed) slot();
};
const outputs = [{ text: ['one\n', 'two\n'] }, { data: { 'text/html': ['<p>\n', '</p>'], 'application/json': [1, 2] } }];
const slots = {};
const listen = { addEventListener: (event, slot) => (slots[event] ??= []).push(slot) };
const page = {
  ...listen,
  document: { ...listen, head: { append() {} }, currentScript: { src: 'http://page/static/netlab/loading.js' }, createElement: () => ({ setAttribute() {}, style: {}, isConnected: true }) },
  HTMLScriptElement: class { set src(_) {} },
  location: new URL('http://page/notebooks/index.html'),
  matchMedia: () => ({ ...listen, matches: false }),
  fetch: () => new Promise(() => {}),
  setInterval: (call, ms) => setInterval(call, ms).unref(),
  localStorage: { getItem: (key) => drafts.get(key) ?? null, setItem: (...pair) => drafts.set(...pair), removeItem: (key) => drafts.delete(key) },
  URL, WeakSet, WeakMap, setTimeout, clearTimeout,
};
page.window = page;
vm.runInNewContext(process.argv.slice(2).map((name) => fs.readFileSync(name, 'utf8')).join('\n'), page);
const contents = { get: async () => ({ type: 'notebook', content: { cells: [{ outputs }, { source: '' }] } }) };
const file = { id: 'jp-mainmenu-file', items: [{ command: 'docmanager:save' }], addItem(item) { this.items.push(item) } };
page.jupyterapp = {
  serviceManager: { contents },
  shell: { widgets: (area) => (area === 'menu' ? [{ menus: [file] }] : [{ context }]) },
  commands: { commandExecuted: { connect: () => {} }, hasCommand: () => true },
};
result.opened = (await contents.get('a.ipynb')).content.cells[0].outputs;
draft('a.ipynb', 2000, 'typed as the tab was closed');
while (!changed.length) await new Promise((done) => setTimeout(done, 50));
await context.ready;
result.drafts = [cells.map((each) => each.getSource()), drafts.size];
change('a last word');
for (const slot of slots.pagehide) slot();
result.drafts.push(JSON.parse(drafts.get('netlab draft a.ipynb')).cells);
change('an answer');
setTimeout(() => change('another answer'), 400); // while the first is being saved
while (result.saved.at(-1) !== content || under_way) await new Promise((done) => setTimeout(done, 50));
result.file = file.items.map((item) => item.command);

// Request a file twice at a time and once more: with a store, with a full store, and without a store.
const store = new Map();
let queue = Promise.resolve();
const locks = { request: (_, call) => (queue = queue.then(call)) };
const full = { match: async () => {}, put: async () => Promise.reject(new Error('no room')) };
const roomy = { match: async (url) => store.get(url)?.clone(), put: async (url, answer) => void store.set(url, answer) };
for (const [name, cache] of Object.entries({ roomy, full, none: null })) {
  let fetched = 0;
  const fetch = async () => (fetched++, new Response('content'));
  const caches = cache && { open: async () => cache };
  const visit = { caches, fetch, navigator: { locks }, Response, TransformStream, Blob };
  const storedFile = vm.runInNewContext(`${fs.readFileSync(process.argv[2], 'utf8')}; storedFile`, visit);
  const ask = async () => (await storedFile('http://page/python.0a.bin')).text();
  const texts = [...(await Promise.all([ask(), ask()])), await ask()];
  result[name] = { fetched, texts };
}
// The lab opens what was open, which another tab has deleted.
{
  const opened = [];
  const kept = new Map([['netlab open', 'gone.ipynb']]);
  const widgets = [{ context: { path: 'gone.ipynb' }, dispose: () => widgets.shift() }];
  const stored = { getItem: (key) => kept.get(key) ?? null, setItem: (...pair) => kept.set(...pair), removeItem: (key) => kept.delete(key) };
  const lab = {
    ...page,
    location: Object.assign(new URL('http://page/lab/index.html'), { reload: () => opened.push('the page again') }),
    history: { replaceState: (_, __, address) => (lab.location.search = address.search) },
    localStorage: stored, sessionStorage: { ...stored, getItem: () => null }, jupyterapp: undefined,
  };
  lab.window = lab;
  const scripts = process.argv.slice(2).map((name) => fs.readFileSync(name, 'utf8')).join('\n');
  vm.runInNewContext(scripts.replace('FIRST = ""', 'FIRST = "first.ipynb"'), lab);
  const contents = { get: async (path) => Promise.reject(new Error(`no ${path}`)) };
  const commands = { commandExecuted: { connect: () => {} }, execute: async (command, { path }) => opened.push(`${command} ${path}`) };
  lab.jupyterapp = { serviceManager: { contents }, commands, restored: Promise.resolve(), shell: { widgets: (area) => (area === 'main' ? widgets : []) } };
  const address = lab.location.search;
  const answers = ['gone.ipynb', 'gone.ipynb', 'other.ipynb'].map((path) => contents.get(path).catch((error) => error.message));
  result.gone = { address, other: await answers[2], again: await Promise.race([...answers.slice(0, 2), new Promise((done) => setTimeout(done, 200, 'no answer'))]) };
  result.gone = { ...result.gone, opened, widgets, kept: [...kept] };
}
console.log(JSON.stringify(result));
process.exit(0);
