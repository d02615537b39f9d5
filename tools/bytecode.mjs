// node bytecode.mjs PYODIDE PROGRAM OUTPUT: run a program in Pyodide, and write the bytecode of all that was imported.
import fs from 'node:fs';
import path from 'node:path';

const [pyodide, program, output] = process.argv.slice(2).map((name) => path.resolve(name));
const { loadPyodide } = await import(path.join(pyodide, 'pyodide.mjs'));
const { packages } = JSON.parse(fs.readFileSync(path.join(pyodide, 'pyodide-lock.json'), 'utf8'));
const python = await loadPyodide({ indexURL: pyodide, packages: Object.keys(packages) });
python.runPython(fs.readFileSync(program, 'utf8'));
fs.mkdirSync(output, { recursive: true });
python.FS.mkdirTree('/output');
python.FS.mount(python.FS.filesystems.NODEFS, { root: output }, '/output');
python.runPython(`
import importlib.util, marshal, pathlib, site, sys

HEAD = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")  # with a hash of the source that nobody compares
ROOTS = {"library": pathlib.Path(importlib.__file__).parents[1], "packages": pathlib.Path(site.getsitepackages()[0])}
for spec in [module.__spec__ for module in sys.modules.values() if getattr(module, "__spec__", None)]:
    origin = pathlib.Path(spec.origin or "")
    for name, root in ROOTS.items():
        if origin.suffix == ".py" and origin.is_relative_to(root):
            target = pathlib.Path("/output", name, importlib.util.cache_from_source(origin.relative_to(root)))
            target.parent.mkdir(parents=True, exist_ok=True)
            source = spec.loader.get_data(spec.origin)
            code = compile(source, spec.origin, "exec", dont_inherit=True)
            target.write_bytes(HEAD + importlib.util.source_hash(source) + marshal.dumps(code))
`);
process.exit(0);
