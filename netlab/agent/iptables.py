"""`iptables` for guests: it tells the kernel's packet filter (nf_tables) over netlink, and lists as the real one does.

The real program needs another package, and parts of the kernel that netlab's own has not.
"""

from __future__ import annotations

import errno
import os
import shlex
import socket
import struct
import sys

from netlab.netfilter import lines, messages
from netlab.netfilter.lines import Line, LineError, Rule
from netlab.netfilter.messages import BUILT_IN, Chain, Told
from netlab.netlink import wire

RECEIVE_BYTES = 1 << 20
BAD_LINE, REFUSED = 2, 1


class RefusedError(Exception):
    """What the kernel, or the rules that are there, do not allow."""


def ask(request: bytes) -> list[bytes]:
    """Send a request that lists something; returns the messages' bodies."""
    bodies: list[bytes] = []
    with _connect() as kernel:
        kernel.send(request)
        while True:
            for kind, body in wire.messages(kernel.recv(RECEIVE_BYTES)):
                if kind == wire.NLMSG_DONE:
                    return bodies
                if kind == wire.NLMSG_ERROR:
                    _raise(body)
                    return bodies
                bodies.append(body)


def tell(inside: list[bytes]) -> None:
    """Send messages that change something, all of which the kernel does, or none.

    Raises
    ------
    RefusedError
        With the kernel's reason.
    """
    with _connect() as kernel:
        kernel.send(messages.batch(inside))
        # The kernel has done it when `send` returns, and says something only where it refuses.
        kernel.setblocking(False)
        try:
            for kind, body in wire.messages(kernel.recv(RECEIVE_BYTES)):
                if kind == wire.NLMSG_ERROR:
                    _raise(body)
        except BlockingIOError:
            return


def _connect() -> socket.socket:
    try:
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, messages.NETLINK_NETFILTER)
    except OSError as error:
        raise RefusedError("this kernel has no packet filter; the one that 'netlab kernel build' makes has") from error
    kernel.bind((0, 0))
    return kernel


def _raise(body: bytes) -> None:
    (number,) = struct.unpack_from("=i", body)
    if number == 0:
        return
    reasons = {
        errno.EPERM: "only root may do this",
        errno.ENOENT: "the kernel knows no such chain, or has no such part",
        errno.EOPNOTSUPP: "the kernel does not take this rule in this chain",
        errno.EBUSY: "the chain is still used: its rules, or rules that jump there",
        errno.EEXIST: "it is there already",
        errno.ELOOP: "the chains would jump in a circle",
    }
    raise RefusedError(reasons.get(-number, os.strerror(-number)))


# What a line asks for ------------------------------------------------------------------------------------------


class Table:
    """A table as the kernel has it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.chains = {
            chain.name: chain for chain in map(messages.read_chain, ask(messages.list_chains())) if chain.table == name
        }

    def ordered(self) -> list[Chain]:
        """The built-in chains, made or not, then the user's."""
        built_in = [self.chains.get(name, Chain(self.name, name, "ACCEPT", 0, 0, 0)) for name in BUILT_IN[self.name]]
        return [*built_in, *(chain for name, chain in self.chains.items() if name not in BUILT_IN[self.name])]

    def rules(self, chain: str) -> list[Told]:
        """A chain's rules; empty where nothing was ever said of it."""
        if chain not in self.chains:
            return []
        found = map(messages.read_rule, ask(messages.list_rules(self.name, chain=chain)))
        return [rule for rule in found if rule.chain == chain]

    def missing(self) -> list[bytes]:
        """What makes the table and its built-in chains, where they are not there: until then no packet passes them."""
        made = [messages.new_table(self.name)]
        for name, hook in BUILT_IN[self.name].items():
            if name not in self.chains:
                made += [
                    messages.new_chain(self.name, name, hook, "ACCEPT"),
                    messages.zeroed(self.name, name),
                ]
        return made

    def known(self, chain: str) -> None:
        """Raise for a chain that there is not."""
        if chain not in self.chains and chain not in BUILT_IN[self.name]:
            raise RefusedError(f"no chain {chain} in the table {self.name}")


def obey(line: Line) -> list[str]:
    """Do what a line says; returns what is to be printed.

    Raises
    ------
    RefusedError
        When it cannot be done.
    """
    table = Table(line.table)
    if line.action != "-N" and line.chain:
        table.known(line.chain)
    match line.action:
        case "-L" | "-S":
            return (_listed if line.action == "-L" else _written)(line, table)
        case "-A" | "-I":
            _add(line, table)
        case "-D" | "-C":
            _find(line, table)
        case "-P":
            tell([*table.missing(), messages.new_chain(line.table, line.chain, policy=line.policy)])
        case "-F":
            chains = [line.chain] if line.chain else list(table.chains)
            tell([messages.delete_rule(line.table, chain) for chain in chains if chain in table.chains])
        case "-Z":
            for chain in [line.chain] if line.chain else list(table.chains):
                if chain in table.chains:
                    ask(messages.list_rules(line.table, zero=True, chain=chain))
                    tell([messages.zeroed(line.table, chain)] if chain in BUILT_IN[line.table] else [])
        case "-N":
            if line.chain in table.chains or line.chain in BUILT_IN[line.table]:
                raise RefusedError(f"the chain {line.chain} is there already")
            tell([*table.missing(), messages.new_chain(line.table, line.chain)])
        case "-X":
            own = [chain for chain in table.chains if chain not in BUILT_IN[line.table]]
            if line.chain in BUILT_IN[line.table]:
                raise RefusedError(f"{line.chain} is built in and cannot be deleted")
            tell([messages.delete_chain(line.table, chain) for chain in ([line.chain] if line.chain else own)])
    return []


def _rule(line: Line) -> Rule:
    assert line.rule is not None
    return line.rule


def _add(line: Line, table: Table) -> None:
    rule = _rule(line)
    if rule.target and rule.target not in {*lines.VERDICTS, *lines.NAT_TARGETS, "REJECT", *table.chains}:
        raise RefusedError(f"no target or chain {rule.target}. {lines.KNOWN}")
    before = None
    first = line.action == "-I"
    if line.number > 1:
        there = table.rules(line.chain)
        if line.number > len(there) + 1:
            raise RefusedError(f"{line.chain} has {len(there)} rules; one cannot be put at {line.number}")
        before = there[line.number - 1].handle if line.number <= len(there) else None
        first = False
    try:
        made = messages.new_rule(line.table, line.chain, rule.expressions, rule.line(line.chain), before, first)
    except ValueError as error:
        raise RefusedError(str(error)) from error
    tell([*table.missing(), made])


def _find(line: Line, table: Table) -> None:
    there = table.rules(line.chain)
    if line.number:
        if line.number > len(there):
            raise RefusedError(f"{line.chain} has {len(there)} rules and no number {line.number}")
        found = there[line.number - 1]
    else:
        wanted = _rule(line).line(line.chain)
        match = next((rule for rule in there if rule.line == wanted), None)
        if match is None:
            raise RefusedError(f"{line.chain} has no rule '{wanted.partition(line.chain)[2].strip()}'")
        found = match
    if line.action == "-D":
        tell([messages.delete_rule(line.table, line.chain, found.handle)])


# Listing -------------------------------------------------------------------------------------------------------


def _shown(line: Line, table: Table) -> list[Chain]:
    return [chain for chain in table.ordered() if line.chain in ("", chain.name)]


def _written(line: Line, table: Table) -> list[str]:
    chains = _shown(line, table)
    heads = [f"-P {chain.name} {chain.policy}" if chain.policy else f"-N {chain.name}" for chain in chains]
    return [*heads, *(_line(rule) for chain in chains for rule in table.rules(chain.name))]


def _line(rule: Told) -> str:
    return rule.line or f"# {rule.chain}: a rule of another program's"


def saved() -> list[str]:
    """All tables in the form of `iptables-save`."""
    text = []
    for name in BUILT_IN:
        table = Table(name)
        if table.chains:
            heads = [
                f":{chain.name} {chain.policy or '-'} [{chain.packets}:{chain.count_bytes}]"
                for chain in table.ordered()
            ]
            rules = [_line(rule) for chain in table.ordered() for rule in table.rules(chain.name)]
            text += [f"*{name}", *heads, *rules, "COMMIT"]
    return text


def _listed(line: Line, table: Table) -> list[str]:
    text: list[str] = []
    for chain in _shown(line, table):
        if text:
            text.append("")
        counted = f" {amount(chain.packets, line.exact)} packets, {amount(chain.count_bytes, line.exact)} bytes"
        rules = table.rules(chain.name)
        state = (
            f"policy {chain.policy}{counted if line.verbose else ''}"
            if chain.policy
            else f"{chain.uses - len(rules)} references"
        )
        text.append(f"Chain {chain.name} ({state})")
        text.append(_head(line))
        for number, told in enumerate(rules, 1):
            text.append((f"{number:<4} " if line.numbered else "") + _row(told, line))
    return text


def _head(line: Line) -> str:
    number, counts = "num  " if line.numbered else "", " pkts bytes " if line.verbose else ""
    sides = "in     out     " if line.verbose else ""
    return f"{number}{counts}target     prot opt {sides}source               destination         "


def _row(told: Told, line: Line) -> str:
    words = shlex.split(told.line)[2:]
    try:
        rule = lines.read_rule(words, line.table, told.chain)
    except LineError:
        rule = Rule(shown=["[a rule of another program's]"])
    counts = sides = ""
    if line.verbose:
        counts = f"{amount(told.packets, line.exact):>5} {amount(told.count_bytes, line.exact):>5} "
        sides = "".join(f"{_mark(value)}{value.lstrip('!') or '*':<6}" for value in (rule.into, rule.out)) + " "
    ends = "".join(
        f"{_mark(value)}{value.lstrip('!').removesuffix('/32') or ('0.0.0.0/0' if line.numeric else 'anywhere'):<19} "
        for value in (rule.source, rule.destination)
    )
    more = "".join(f" {each}" for each in rule.shown)
    prot = f"{_mark(rule.protocol)}{rule.protocol.lstrip('!') or 'all':<4}"
    return f"{counts}{rule.target:<9} {prot} -- {sides}{ends}{more}"


def _mark(value: str) -> str:
    return "!" if value.startswith("!") else " "


def amount(count: int, exact: bool) -> str:
    """A count as `iptables -v` writes it, in five letters at most.

    >>> amount(99_999, False), amount(1_234_567, False), amount(1_234_567, True)
    ('99999', '1235K', '1234567')
    """
    unit = ""
    for larger in "KMGT":
        if exact or count <= (9999 if unit else 99_999):
            break
        count, unit = (count + 500) // 1000, larger
    return f"{count}{unit}"


def main(name: str, *words: str) -> int:
    """Be `iptables` or `iptables-save`; returns the exit status."""
    try:
        if name == "iptables-save":
            text = saved()
        elif words in (("-V",), ("--version",)):
            text = ["iptables: netlab's stand-in, over nf_tables"]
        else:
            text = obey(lines.read(list(words)))
    except (LineError, RefusedError) as error:
        sys.stderr.write(f"{name}: {error}.\n")
        return BAD_LINE if isinstance(error, LineError) else REFUSED
    sys.stdout.write("".join(f"{each}\n" for each in text))
    return 0
