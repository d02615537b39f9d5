"""`netlab kernel build | info | pack | unpack`."""

import argparse
import platform
import sys
from pathlib import Path

from netlab.base.errors import KernelError
from netlab.engines import MACHINES
from netlab_engines.kernels import library_kernel, pocket_kernel
from netlab_engines.kernels.background_build import BuildProgress
from netlab_engines.kernels.builds import REBUILD_HINT
from netlab_engines.kernels.parts import PARTS
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_kernel import apt, archive, building, library_build
from netlab_kernel.edits import recipe_hash
from netlab_kernel.progress import ProgressLine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands build, info, pack and unpack, with their options, to the parser of `netlab kernel`."""
    commands = parser.add_subparsers(dest="kernel_command", metavar="build|info|pack|unpack", required=True)

    build = commands.add_parser(
        "build", help="build the pocket and the library kernel, unless they exist (about 5 minutes)"
    )
    build.add_argument(
        "--source",
        type=Path,
        help="a linux-*.tar.xz, a linux-source package or a kernel tree (default: apt downloads a package)",
    )
    build.add_argument(
        "--newest", action="store_true", help="look for a newer source with apt even if the kernels exist"
    )
    build.add_argument(
        "--cross",
        choices=MACHINES,
        help="build only the library kernel, for another processor, with its cross compiler",
    )
    build.add_argument(
        "--wasm", action="store_true", help="build only the library kernel, as WebAssembly for any machine"
    )
    build.add_argument("--quiet", action="store_true", help="show no progress")

    commands.add_parser("info", help="show the kernels that netlab uses, and their features")

    pack = commands.add_parser("pack", help="pack the built kernels into one file for other machines")
    pack.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIRECTORY",
        help="the directory of the file (default: the current directory)",
    )
    pack.add_argument(
        "--machine",
        choices=[*MACHINES, library_kernel.WASM],
        help="pack only the library kernel that 'build --cross' or 'build --wasm' made for this processor",
    )

    unpack = commands.add_parser("unpack", help="check packed kernels and install them for this user")
    unpack.add_argument("file", type=Path, help="a file that 'netlab kernel pack' wrote")
    unpack.add_argument(
        "--sha256", help="the checksum that the file must have (default: the one in FILE.sha256, if any)"
    )


def main(args: argparse.Namespace) -> int:
    """Run the subcommand of `netlab kernel` in `args.kernel_command`, print its result or error, and return the exit
    status: 0, 1 after a KernelError, 130 after Ctrl-C; other exceptions are raised.
    """
    try:
        if args.kernel_command == "build":
            _build(args)
        elif args.kernel_command == "info":
            _info()
        elif args.kernel_command == "pack":
            target = archive.pack(_kernels_to_pack(args.machine), args.output)
            print(f"{target}: {target.stat().st_size / 1e6:.1f} MB\nSHA-256 {apt.sha256_of(target)}")
            print(f"On the other machine: netlab kernel unpack {target.name}")
        else:
            for kernel in archive.unpack(args.file, args.sha256):
                print(f"Linux {kernel.release} is installed in {kernel.path.parent}.")
                current = (
                    recipe_hash() if isinstance(kernel, PocketKernel) else library_build.recipe_hash(kernel.machine)
                )
                if kernel.build.get("recipe") != current:
                    print("It was built by another version of netlab; pack a kernel that this version has built.")
    except KernelError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nnetlab: stopped; unfinished files were removed.", file=sys.stderr)
        return 130
    return 0


def _build(args: argparse.Namespace) -> None:
    """Build the kernels that `args`, the options of `netlab kernel build`, ask for (or find them in the cache), with a
    progress line unless `args.quiet`, and print where they are; a failure of the library kernel with a pocket kernel
    is only printed. Raises KernelError if another step fails.
    """
    line = ProgressLine()

    def show(moment: BuildProgress) -> None:
        """Show the progress `moment` of the build, as text, in the progress line."""
        line.show(str(moment), moment.phase)

    progress = None if args.quiet else show
    pocket, own, failed = None, None, ""
    try:
        if args.wasm or args.cross:
            own = building.build_for(library_kernel.WASM if args.wasm else args.cross, args.source, progress)
        else:
            made = building.build(args.source, progress, newest=args.newest)
            pocket, own, failed = made.pocket, made.library, made.why_no_library
    finally:
        line.close()
    if pocket:
        print(f"Linux {pocket.release} is ready: {pocket.path}")
    if own:
        print(f"Linux {own.release} as a library is ready: {own.path}")
    if failed:
        print(
            f"netlab: engine='library' is not available, because its kernel could not be built: {failed}",
            file=sys.stderr,
        )


def _kernels_here() -> tuple[PocketKernel | None, library_kernel.LibraryKernel | None, KernelError | None]:
    """Return a tuple of the pocket kernel and the library kernel that netlab uses here, each None if there is none, and
    the error of the search for a library kernel (None if it was found). Raises KernelError if there is neither.
    """
    own, missing = None, None
    try:
        own = library_kernel.find()
    except KernelError as error:
        missing = error
    try:
        return pocket_kernel.find(), own, missing
    except KernelError:
        if missing:
            if platform.machine() != pocket_kernel.POCKET_MACHINE:
                raise missing from None
            raise
        return None, own, None


def _kernels_to_pack(machine: str | None) -> list[PocketKernel | library_kernel.LibraryKernel]:
    """Return the kernels to pack in a list: for None or this machine's processor those that netlab uses here, with the
    WebAssembly kernel if this version's is built; for another processor `machine`, such as "aarch64", or "wasm" only
    the best library kernel built for it. Raises KernelError if there is none.
    """
    if machine is None or machine == platform.machine():
        pocket, own, _missing = _kernels_here()
        portable = library_kernel.ready(library_kernel.WASM)
        return [one for one in (pocket, own, portable if portable != own else None) if one]
    option = "--wasm" if machine == library_kernel.WASM else f"--cross {machine}"
    made = library_kernel.builds(machine)
    if not made:
        raise KernelError(
            f"There is no library kernel for {machine} yet. Build it with 'netlab kernel build {option}'."
        )
    return [made[0]]


def _info() -> None:
    """Print the descriptions of the kernels that netlab uses here, and of this version's WebAssembly kernel if it is
    built. Raises KernelError if there is no pocket and no library kernel.
    """
    pocket, own, missing = _kernels_here()
    parts = [describe(pocket)] if pocket else []
    parts.append(describe(own) if own else f"library kernel: none. {missing}")
    portable = library_kernel.ready(library_kernel.WASM)
    if portable and portable != own:
        parts.append(describe(portable))
    print("\n\n".join(parts))


def describe(kernel: PocketKernel | library_kernel.LibraryKernel) -> str:
    """Return the text of several lines that `netlab kernel info` prints about a kernel: release, file, size, build, and
    the parts that it has and lacks.
    """
    own = isinstance(kernel, library_kernel.LibraryKernel)
    what, whose = ("library", getattr(kernel, "machine", "")) if own else ("kernel", "User-Mode Linux")
    lines = [f"{f'{what}:':15}Linux {kernel.release} ({whose})", f"file:          {kernel.path}"]
    lines.append(f"size:          {kernel.path.stat().st_size / 1e6:.1f} MB")
    if build := kernel.build:
        source, when = build["source"], "for a wheel, which does not say when"
        if "built_at" in build:
            compiling = "" if own else f" (compiling {build['compile_s']:.0f} s)"
            when = f"{build['built_at']} in {build['build_s']:.0f} s{compiling}"
        lines += [
            f"built:         {when}",
            f"source:        {source['name']} {source['version']}",
            f"compiler:      {build['compiler']}",
        ]
    if isinstance(kernel, PocketKernel):
        static = "yes" if build["static"] else "no; it needs the same C library as on the machine that built it"
        lines.append(f"static:        {static}")
        if pocket_kernel.by_another_version(kernel):
            lines.append(f"recipe:        of another version of netlab. {REBUILD_HINT}")
    else:
        lines.append("clock:         virtual")
    names = sorted({*PARTS} - {"hostfs", "overlay"} if own else {*PARTS, "seccomp"})
    lines.append("has:           " + " ".join(name for name in names if name in kernel.capabilities))
    lacking = " ".join(name for name in names if name not in kernel.capabilities)
    lacks = f"programs (engine='pocket' has them) {lacking}" if own else lacking or "nothing that netlab uses"
    return "\n".join([*lines, f"lacks:         {lacks}"])


def _run(argv: list[str] | None = None) -> int:
    """Run `netlab kernel` with its arguments `argv` (None: those of the process) without netlab's dependencies, and
    return the exit status.
    """
    parser = argparse.ArgumentParser(prog="netlab kernel")
    add_arguments(parser)
    return main(parser.parse_args(argv))


if __name__ == "__main__":
    raise SystemExit(_run())
