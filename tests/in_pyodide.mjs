// node in_pyodide.mjs FOLDER PROGRAM: what a page's worker does: load Pyodide from a folder, then what a program imports, and run it.
import fs from 'node:fs';
import path from 'node:path';

const folder = path.resolve(process.argv[2]);
const { loadPyodide } = await import(path.join(folder, 'pyodide.mjs'));
const quiet = { messageCallback: () => {} };
const pyodide = await loadPyodide({ indexURL: folder });
const program = fs.readFileSync(process.argv[3], 'utf8');
await pyodide.loadPackagesFromImports(program, quiet);
await pyodide.runPythonAsync(program);
