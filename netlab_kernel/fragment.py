"""The fragment of a kernel's configuration: parse it, select the options for a kernel version, and configure a source
tree with them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.kernels.versions import Version, parse_version, read_config
from netlab_kernel import programs

_LINE = re.compile(r"(?P<name>CONFIG_[A-Z0-9_]+)=(?P<value>\"[^\"]*\"|[^\s#\"]+)\s*(?:#\s*(?P<note>.*))?")
_BOUND = re.compile(r"\b(?P<kind>from|before)\s+(?P<version>\d+\.\d+)\b")


@dataclass(frozen=True)
class Option:
    """An option of the configuration fragment, `name=value` such as CONFIG_VETH=y, for kernel versions from `since`
    (included) to `before` (excluded); None means no bound.
    """

    name: str
    value: str
    since: Version | None = None
    before: Version | None = None

    def in_force(self, version: Version) -> bool:
        """Return whether the option applies to a kernel of this version.

        >>> Option("CONFIG_FD_CHAN", "y", before=(7, 3)).in_force((7, 3, 4))
        False
        """
        return (self.since is None or version >= self.since) and (self.before is None or version < self.before)

    @property
    def line(self) -> str:
        """The option as a line of the kernel's `.config` file, such as "CONFIG_VETH=y"; the value "n" gives "#
        CONFIG_VETH is not set".
        """
        return f"# {self.name} is not set" if self.value == "n" else f"{self.name}={self.value}"


def parse(text: str) -> list[Option]:
    """Parse the text of a configuration fragment, with lines `CONFIG_NAME=value`, comments and empty lines, and return
    its options in that order. A comment after a value may bound the versions to which the option applies: `# from 7.3`
    (included), `# before 7.3` (excluded), or both. Raises KernelError for a line of another form, and for an option
    named twice with overlapping bounds.
    """
    options: list[Option] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if not found:
            raise KernelError(
                f"Line {number} of the kernel configuration fragment is {raw!r}; "
                "a line is CONFIG_NAME=value, with a comment such as '# from 7.3' behind it if need be."
            )
        bounds = {m["kind"]: parse_version(m["version"]) for m in _BOUND.finditer(found["note"] or "")}
        option = Option(found["name"], found["value"], bounds.get("from"), bounds.get("before"))
        for other in options:
            if other.name == option.name and _overlap(other, option):
                raise KernelError(
                    f"Line {number} of the kernel configuration fragment sets {option.name} again; "
                    "one line may hold for a version."
                )
        options.append(option)
    return options


def _overlap(one: Option, two: Option) -> bool:
    """Return whether there is a kernel version to which both options, `one` and `two`, apply."""
    start = max(one.since or (), two.since or ())
    ends = [bound for bound in (one.before, two.before) if bound is not None]
    return not ends or start < min(ends)


def render(options: Iterable[Option], version: Version) -> str:
    """Return those options that apply to a kernel version as text, a line for each, to append to the kernel's `.config`
    before `make olddefconfig`.
    """
    return "".join(option.line + "\n" for option in options if option.in_force(version))


def missing_lines(options: Iterable[Option], version: Version, config: str) -> list[str]:
    """Return the lines, such as "CONFIG_VETH=y", of those options for a kernel version that its finished configuration,
    the text `config`, does not have; [] if it has all. An option that must be off may also be absent from the
    configuration.

    >>> missing_lines([Option("CONFIG_VETH", "y"), Option("CONFIG_IPV6", "n")], (7, 3), "CONFIG_NET=y\\n")
    ['CONFIG_VETH=y']
    """
    values = read_config(config)
    return [
        option.line for option in options if option.in_force(version) and values.get(option.name, "n") != option.value
    ]


def configure(
    tree: Path,
    options: Sequence[Option],
    version: Version,
    make: Sequence[str],
    variables: Mapping[str, str | None],
    log: Path,
) -> None:
    """Write the file `.config` of the source tree `tree` with the options that apply to its version. `make` has the
    first words of its make commands, `variables` the environment variables of the build (None removes one); output is
    appended to the file `log`. Raises KernelError if the finished configuration lacks an option, or make fails.
    """
    doing = "configure the kernel"
    programs.run([*make, "tinyconfig"], cwd=tree, log=log, env=variables, doing=doing)
    config = tree / ".config"
    with config.open("a") as file:
        file.write(render(options, version))
    programs.run([*make, "olddefconfig"], cwd=tree, log=log, env=variables, doing=doing)
    refused = missing_lines(options, version, config.read_text())
    if refused:
        raise KernelError(
            f"Linux {'.'.join(map(str, version))} does not take {len(refused)} of the options that netlab needs: "
            f"{', '.join(refused)}. Build from linux-source 6.12 or 7.x, or report this version."
        )
