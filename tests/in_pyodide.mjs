// node in_pyodide.mjs PYODIDE PACKS PROGRAM: what a page's worker does: start Pyodide with the files of the page's packs, and run a program.
import fs from 'node:fs';
import path from 'node:path';

const [pyodide, packs, program] = process.argv.slice(2).map((name) => path.resolve(name));
const { loadPyodide } = await import(path.join(pyodide, 'pyodide.mjs'));
const names = fs.readdirSync(packs);
const read = (use) => fs.readFileSync(path.join(packs, names.find((name) => name.startsWith(`${use}.`))));

const script = fs.readFileSync(path.join(packs, 'pyodide.js'), 'utf8');
const [zstandard] = script.match(/^function zstandard\(\) {\n[^]*?^}$/m);
const decoder = new Function(`${zstandard}; return zstandard();`)();
await decoder.init();

function install(FS, use) {
  const bytes = Buffer.from(decoder.decode(read(use)));
  let end = bytes.indexOf(10);
  for (const [name, size] of JSON.parse(bytes.subarray(0, end++))) {
    FS.mkdirTree(path.dirname(name));
    FS.writeFile(name, bytes.subarray(end, (end += size)));
  }
}

const python = await loadPyodide({
  indexURL: pyodide,
  stdLibURL: path.join(packs, 'python_stdlib.zip'),
  fsInit: async (FS) => ['python', 'netlab'].forEach((use) => install(FS, use)),
});
globalThis.netlabOthers = () => decoder.decode(read('others'));
python.runPython('import _others; _others.install()');
await python.runPythonAsync(fs.readFileSync(program, 'utf8'));
