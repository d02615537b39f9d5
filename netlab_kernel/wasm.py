"""Build the library kernel as WebAssembly, for machines without a native one: the same source and recipe with other
tools.

Clang compiles it for 64-bit WebAssembly, so that all structures, and with them TCP's buffers, have the same sizes as in
the native kernels. Binaryen lowers that to 32-bit memory, which every engine supports, and adds stacks that can be
swapped ("asyncify").
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

from netlab.base import cache as base_cache
from netlab.base import location
from netlab.base.errors import KernelError
from netlab_engines.kernels import library_kernel
from netlab_engines.kernels.versions import Version
from netlab_kernel import fragment, library_build, programs

HOME = library_build.HOME / "wasm"
JAVASCRIPT = location.IMPORT_ROOT / "netlab_engines" / "library" / "javascript"


def flags(tool: str) -> list[str]:
    """Return the command-line options of a tool in the recipe's file flags.txt; `tool` is "target", "program",
    "kernel", "link" or "optimize", and an unknown one has none.
    """
    lines = [line.split() for line in (HOME / "flags.txt").read_text().splitlines()]
    return [word for first, *words in lines if first == tool for word in words]


class Tools:
    """The pinned programs that make the WebAssembly module: `zig` is the folder of Clang and the C library's headers,
    `optimizer` the path of `wasm-opt`, both in a folder of the cache.

    Clang, its linker and a C library's headers come from PyPI's `ziglang`, and Binaryen's `wasm-opt` from npm's
    `binaryen`; both are checked with the hashes in the recipe's lock files.
    """

    def __init__(self, log: Path) -> None:
        """Set the paths of the pinned compiler `zig` and of Binaryen below a folder of the cache; nothing is downloaded
        yet. The output of later downloads is appended to the file `log`.
        """
        digest = hashlib.sha256(b"".join((HOME / name).read_bytes() for name in ("tools.lock", "package-lock.json")))
        self._home = base_cache.root() / "tools" / digest.hexdigest()[:12]
        self._log = log
        self.zig = self._home / "python" / "ziglang"
        self.optimizer = self._home / "node_modules" / "binaryen" / "bin" / "wasm-opt"

    def fetch(self) -> None:
        """Download the compiler `zig` with pip and Binaryen with npm to the cache, each unless it is there. Raises
        KernelError if Node.js or npm is not installed (even if nothing is to be downloaded) or a download fails.
        """
        if not shutil.which("node") or not shutil.which("npm"):
            raise KernelError(
                "Before the WebAssembly kernel can be built, Node.js and npm must be installed. On Debian or Ubuntu: "
                "sudo apt-get install nodejs npm. Or install a kernel that was built elsewhere: 'netlab kernel unpack FILE'."
            )
        self._home.mkdir(parents=True, exist_ok=True)
        if not (self.zig / "zig").is_file():
            partial = self._home / "partial"
            shutil.rmtree(partial, ignore_errors=True)
            programs.run(
                [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--require-hashes",
                 "--target", str(partial), "-r", str(HOME / "tools.lock")],
                log=self._log, doing="fetch clang",
            )  # fmt: skip
            partial.rename(self._home / "python")
        if not self.optimizer.is_file():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HOME / name, self._home / name)
            programs.run(
                ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"],
                cwd=self._home, log=self._log, doing="fetch Binaryen",
            )  # fmt: skip

    def wrap(self, folder: Path) -> Path:
        """Make the folder `folder`, which must not exist yet, write to it the scripts clang, ld.lld, wasm-ld and
        llvm-ar, by which a kernel's build calls the pinned tools, and return `folder`.
        """
        folder.mkdir()
        for name, word in (("clang", "clang"), ("ld.lld", "ld.lld"), ("wasm-ld", "wasm-ld"), ("llvm-ar", "ar")):
            (folder / name).write_text(f'#!/bin/sh\nexec "{self.zig / "zig"}" {word} "$@"\n')
            (folder / name).chmod(0o755)
        return folder

    def headers(self) -> list[str]:
        """Return the compiler's options (`-isystem FOLDER` for each folder) that add the headers of the pinned C
        library.
        """
        home = self.zig / "lib" / "libc" / "include"
        places = [home / name for name in ("x86_64-linux-musl", "generic-musl", "x86-linux-any", "any-linux-any")]
        return [word for place in places for word in ("-isystem", str(place))]


def compile_into(
    tree: Path,
    target: Path,
    version: Version,
    *,
    variables: dict[str, str | None],
    log: Path,
    on_object: programs.OnLine | None = None,
) -> str:
    """Configure and compile the kernel in the source tree of a version as WebAssembly with pinned tools, which are
    downloaded if needed, write the module, the names of its functions and its `config` to the folder `target`, boot it
    once, and return the tools with their versions as one text, such as "ziglang==0.16.0, binaryen==132.0.0".
    `variables` change the environment (None removes a variable); output is appended to the file `log`, and lines of the
    compilation go to `on_object`. Raises KernelError if a tool is missing or a step fails.

    The parameters are those of `library_build.compile_into`.
    """
    tools = Tools(log)
    tools.fetch()
    folder = tools.wrap(tree / "library-tools")
    clang = f"{folder}/clang"
    if shutil.which("ccache"):
        clang = f"ccache {clang}"
    make = [
        *programs.make(library_build.ARCHITECTURE), f"CC={clang}", f"LD={folder}/ld.lld", f"AR={folder}/llvm-ar",
        f"CLANG_TARGET_FLAGS_{library_build.ARCHITECTURE}={' '.join(flags('target'))}", f"KCFLAGS={' '.join(flags('kernel'))}",
    ]  # fmt: skip
    fragment.configure(tree, library_build.options(), version, make, variables, log)
    programs.run(
        [*make, "vmlinux_a"],
        cwd=tree, log=log, env=variables, doing="compile the WebAssembly kernel", on_line=on_object,
    )  # fmt: skip
    linked = _link(tree, folder, tools, log)
    _optimize(linked, target / library_kernel.WASM_PROGRAM, tools, log)
    shutil.copy(tree / ".config", target / "config")
    library_build.smoke_test(target / library_kernel.WASM_PROGRAM, ("node", str(JAVASCRIPT / "process.mjs")))
    pins = [line.split()[0] for line in (HOME / "tools.lock").read_text().splitlines() if not line.startswith("#")]
    optimizer = json.loads((HOME / "package.json").read_text())["dependencies"]
    return ", ".join([*pins, *(f"{name}=={version}" for name, version in optimizer.items())])


def _link(tree: Path, folder: Path, tools: Tools, log: Path) -> Path:
    """Compile the C and assembly sources of the program around the kernel, link them with the compiled kernel in the
    folder `tree`, and return the path of the linked module, a new file there. `folder` has the wrapper scripts of the
    compiler and linker, `tools` the C library's headers; output is appended to `log`. Raises KernelError if a step
    fails.
    """
    doing = "link the WebAssembly kernel"
    headers = library_build.write_headers(tree)
    target = [f"--target={word}" for word in flags("target")]
    words = [*target, *flags("program"), *tools.headers(), f"-ffile-prefix-map={library_build.HOME}=."]
    objects = {}
    for source in [*sorted((library_build.HOME / "host").glob("*.c")), *sorted(HOME.glob("*.c")), *HOME.glob("*.s")]:
        objects[source.stem] = made = tree / f"library-{source.stem}.o"
        # Without -fno-builtin, clang would turn the copying loop in the C library's memcpy() into a call of memcpy().
        own = ["-fno-builtin"] if source.stem == "libc" else ["-Wall", "-Wextra", f"-I{headers}"]
        programs.run([f"{folder}/clang", *words, *own, "-c", str(source), "-o", str(made)], log=log, doing=doing)
    first, last = objects.pop("first"), objects.pop("last")
    # The order of the objects determines that of the segments: see first.c.
    whole = [first, *objects.values(), tree / "vmlinux.a", last]
    libraries = [path for path in (tree / "lib/lib.a",) if path.exists()]
    linked = tree / "library-linked.wasm"
    programs.run(
        [f"{folder}/wasm-ld", *flags("link"), "--whole-archive", *map(str, whole),
         "--no-whole-archive", *map(str, libraries), "-o", str(linked)],
        log=log, doing=doing,
    )  # fmt: skip
    return linked


def _optimize(linked: Path, program: Path, tools: Tools, log: Path) -> None:
    """Convert the linked module `linked` to the file `program` with Binaryen, one of `tools`: 32-bit memory and stacks
    that can be swapped. The names of its functions are written to a file next to `program`, output is appended to
    `log`. Raises KernelError if that fails.
    """
    listed = [line for line in (HOME / "atomic.txt").read_text().splitlines() if line and not line.startswith("#")]
    programs.run(
        ["node", str(tools.optimizer), str(linked), *flags("optimize"), f"--pass-arg=asyncify-removelist@{','.join(listed)}",
         f"--symbolmap={program.parent / library_build.SYMBOLS}", "-o", str(program)],
        log=log, doing="give the WebAssembly kernel its threads",
    )  # fmt: skip
