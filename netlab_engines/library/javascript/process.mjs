// node process.mjs MODULE: as the native program, a process: requests on standard input, answers on standard output.
// node process.mjs MODULE SYMBOLS LIST FOUND: the same, and checks each stack that is swapped. If a function on one is in
// LIST, its name is written to FOUND; SYMBOLS is the module's table of functions.
import fs from 'node:fs';

const source = fs.readFileSync(new URL('host.js', import.meta.url), 'utf8');
const host = (0, eval)(source);
const [module, symbols, list, found] = process.argv.slice(2);
const lines = (path) => fs.readFileSync(path, 'utf8').split('\n');
const buffer = Buffer.alloc(1 << 16);
const atomic = new Map();
if (found) {
  const listed = new Set(lines(list));
  for (const [number, name] of lines(symbols).map((line) => line.split(':'))) {
    if (listed.has(name)) atomic.set(number, name);
  }
}

function checkStack() {
  for (const [, number] of new Error().stack.matchAll(/wasm-function\[(\d+)\]/g)) {
    if (atomic.has(number)) fs.appendFileSync(found, `${atomic.get(number)}\n`);
  }
}

function write(data) {
  for (let at = 0; at < data.length; ) at += fs.writeSync(1, data, at);
}

const program = host.start(
  new WebAssembly.Module(fs.readFileSync(module)),
  (data) => (data.length ? write(data) : found && checkStack()),
);
if (found) {
  Error.stackTraceLimit = 300;
  program.exports.check_every_swap();
}
let ending;
while (!ending) {
  const bytes = fs.readSync(0, buffer);
  if (!bytes) break;
  program.send(buffer.subarray(0, bytes));
  ending = program.run();
}
process.exitCode = Number(ending?.match(/status is (\d+)/)?.[1] ?? 1);
