"""Lines of `iptables`: read, written as `iptables -S` does, and turned into expressions."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, field

from netlab.netfilter import expressions
from netlab.netfilter.expressions import DESTINATION, EQUAL, SOURCE, UNEQUAL
from netlab.netfilter.messages import BUILT_IN

KNOWN = (
    "Known are the tables filter and nat (-t); -A -I -D -C -P -F -Z -L -S -N -X; -s -d -i -o with !; "
    "-p tcp, udp or icmp with --sport, --dport, --syn, --tcp-flags or --icmp-type; -m state --state or -m conntrack --ctstate; "
    "-m limit; -m comment; -j ACCEPT, DROP, RETURN, REJECT, MASQUERADE, SNAT, DNAT, REDIRECT or a chain of yours"
)
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}
STATES = {"INVALID": 1, "ESTABLISHED": 2, "RELATED": 4, "NEW": 8, "UNTRACKED": 64}
FLAGS = {"FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ALL": 63, "NONE": 0}
ICMP_TYPES = {"echo-reply": 0, "destination-unreachable": 3, "redirect": 5, "echo-request": 8, "time-exceeded": 11}
REFUSALS = {
    "icmp-net-unreachable": 0,
    "icmp-host-unreachable": 1,
    "icmp-proto-unreachable": 2,
    "icmp-port-unreachable": 3,
    "icmp-net-prohibited": 9,
    "icmp-host-prohibited": 10,
    "icmp-admin-prohibited": 13,
}
UNITS_S = {
    "second": 1,
    "sec": 1,
    "s": 1,
    "minute": 60,
    "min": 60,
    "m": 60,
    "hour": 3600,
    "h": 3600,
    "day": 86400,
    "d": 86400,
}
VERDICTS = {"ACCEPT": expressions.ACCEPT, "DROP": expressions.DROP, "RETURN": expressions.RETURN}
NAT_TARGETS = {
    "MASQUERADE": ("POSTROUTING",),
    "SNAT": ("POSTROUTING", "INPUT"),
    "DNAT": ("PREROUTING", "OUTPUT"),
    "REDIRECT": ("PREROUTING", "OUTPUT"),
}
MATCHES = ("tcp", "udp", "icmp", "state", "conntrack", "limit", "comment")
SAME = {
    "--append": "-A", "--insert": "-I", "--delete": "-D", "--check": "-C", "--policy": "-P", "--flush": "-F", "--zero": "-Z",
    "--list": "-L", "--list-rules": "-S", "--new-chain": "-N", "--delete-chain": "-X", "--table": "-t", "--source": "-s",
    "--src": "-s", "--destination": "-d", "--dst": "-d", "--in-interface": "-i", "--out-interface": "-o", "--protocol": "-p",
    "--proto": "-p", "--match": "-m", "--jump": "-j", "--numeric": "-n", "--verbose": "-v", "--wait": "-w", "--exact": "-x",
    "--source-port": "--sport", "--destination-port": "--dport", "--line-number": "--line-numbers", "--ipv4": "-4",
}  # fmt: skip
ACTIONS = {"-A": 1, "-I": 1, "-D": 1, "-C": 1, "-P": 2, "-N": 1, "-F": 0, "-Z": 0, "-L": 0, "-S": 0, "-X": 0}
"""Each with how many words it must have."""
LONGEST_CHAIN = 28
_CHAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")


class LineError(ValueError):
    """A line that is wrong, or has a word that is not known here."""


@dataclass
class Rule:
    """One rule: who it is for (`source`, `into` and so on, as `iptables -S` writes them), more that must hold, and what is done."""

    source: str = ""
    destination: str = ""
    into: str = ""
    out: str = ""
    protocol: str = ""
    matches: list[str] = field(default_factory=list)
    target: str = ""
    target_words: str = ""
    shown: list[str] = field(default_factory=list)
    """What `iptables -L` writes behind the addresses."""
    expressions: bytes = b""

    def line(self, chain: str) -> str:
        """The rule as `iptables -S` writes it."""
        words = [f"-A {chain}"]
        for name, value in zip(
            "sdiop", (self.source, self.destination, self.into, self.out, self.protocol), strict=True
        ):
            if value:
                words.append(f"! -{name} {value[1:]}" if value[0] == "!" else f"-{name} {value}")
        words += self.matches
        if self.target:
            words.append(f"-j {self.target}")
        return " ".join([*words, *([self.target_words] if self.target_words else [])])


@dataclass
class Line:
    """What one call of `iptables` asks for."""

    table: str = "filter"
    action: str = "-L"
    chain: str = ""
    policy: str = ""
    number: int = 0
    rule: Rule | None = None
    numeric: bool = False
    verbose: bool = False
    exact: bool = False
    numbered: bool = False


def read(words: list[str]) -> Line:
    """Read the words behind `iptables`.

    Raises
    ------
    LineError
        Says which word is wrong or not known, and what is.

    Examples
    --------
    >>> line = read("-t nat -A POSTROUTING -s 10.0/8 ! -d 10.0/8 -j MASQUERADE".split())
    >>> line.rule.line(line.chain)
    '-A POSTROUTING -s 10.0.0.0/8 ! -d 10.0.0.0/8 -j MASQUERADE'
    """
    line, rest = Line(), _split(words)
    action, spec = "", []
    while rest:
        word = rest.pop(0)
        if word == "-t":
            line.table = _next(rest, word)
        elif word in ACTIONS:
            if action:
                raise LineError(f"one of {action} and {word} at a time")
            action = word
            _read_action(line, word, rest)
        elif word in ("-n", "-v", "-x", "--line-numbers"):
            line.numeric |= word == "-n"
            line.verbose |= word == "-v"
            line.exact |= word == "-x"
            line.numbered |= word == "--line-numbers"
        elif word == "-w":
            if rest and rest[0].isdigit():
                rest.pop(0)
        elif word != "-4":
            spec.append(word)
            if word.startswith("-") and word != "--syn":
                # Its value may look like an option, as a comment's text.
                count = 2 if rest[:1] == ["!"] else 1
                spec += rest[:count]
                del rest[:count]
    if not action:
        raise LineError(f"no command given. {KNOWN}")
    if line.table not in BUILT_IN:
        raise LineError(f"the table {line.table!r} is not offered. {KNOWN}")
    line.action = action
    if line.action in ("-A", "-I", "-C") or (line.action == "-D" and not line.number):
        line.rule = read_rule(spec, line.table, line.chain)
    elif spec:
        raise LineError(f"{spec[0]!r} does not go with {line.action}. {KNOWN}")
    if line.action == "-P" and (line.chain not in BUILT_IN[line.table] or line.policy not in ("ACCEPT", "DROP")):
        chains = ", ".join(BUILT_IN[line.table])
        raise LineError(f"-P takes one of {chains} and ACCEPT or DROP, got {line.chain} {line.policy}")
    if line.action == "-N" and (not _CHAIN.fullmatch(line.chain) or len(line.chain) > LONGEST_CHAIN):
        raise LineError(
            f"a chain's name has at most {LONGEST_CHAIN} letters, digits, '-', '_', '.' or ':', got {line.chain!r}"
        )
    return line


def _split(words: list[str]) -> list[str]:
    """Long names as short ones, and letters that were written together apart."""
    found = []
    for given in words:
        word = given
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found += [SAME.get(name, name), *([value] if equals else [])]
            continue
        if word.startswith("-t") and len(word) > 2:
            found += ["-t", word[2:]]
            continue
        if re.fullmatch(r"-[nvxwLSFZX]{2,}", word):
            letters = [f"-{letter}" for letter in word[1:]]
            # What the action is for comes behind all letters.
            found += sorted(letters, key=lambda letter: letter in ACTIONS)
            continue
        found.append(word)
    return found


def _next(rest: list[str], word: str) -> str:
    if not rest:
        raise LineError(f"{word} wants a value behind it")
    return rest.pop(0)


def _read_action(line: Line, word: str, rest: list[str]) -> None:
    optional = ACTIONS[word] == 0
    if not optional or (rest and not rest[0].startswith("-")):
        line.chain = _next(rest, word)
    if word == "-P":
        line.policy = _next(rest, word)
    if rest and rest[0].isdigit() and word in ("-I", "-D"):
        line.number = int(rest.pop(0))
        if line.number < 1:
            raise LineError("rules are counted from 1")


# A rule ----------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads a rule's words, one option after the other."""

    def __init__(self, words: list[str], table: str, chain: str) -> None:
        self.rest, self.table, self.chain = words, table, chain
        self.rule = Rule()
        self.steps: dict[str, bytes] = {}
        self.matches: list[bytes] = []
        self.options: dict[str, tuple[str, str]] = {}
        self.named: list[str] = []

    def read(self) -> Rule:
        """Read all of it."""
        while self.rest:
            self._option()
        if self.options.keys() & {"--sport", "--dport"} and self.rule.protocol not in ("tcp", "udp"):
            raise LineError("--sport and --dport want '-p tcp' or '-p udp'")
        if "--tcp-flags" in self.options and self.rule.protocol != "tcp":
            raise LineError("--syn and --tcp-flags want '-p tcp'")
        self._transport()
        self._tracking()
        self._limit()
        self._comment()
        step = self._target()
        if self.options:
            raise LineError(f"{next(iter(self.options))!r} is not known here, or not with these options. {KNOWN}")
        order = [self.steps.get(name, b"") for name in ("-i", "-o", "-s", "-d", "-p")]
        self.rule.expressions = b"".join([*order, *self.matches, expressions.counter(), step])
        return self.rule

    def _option(self) -> None:
        word, inverted = self.rest.pop(0), ""
        if word == "!":
            inverted, word = "!", _next(self.rest, "!")
        if word in ("--syn", "--tcp-flags"):
            value = "FIN,SYN,RST,ACK SYN" if word == "--syn" else f"{_next(self.rest, word)} {_next(self.rest, word)}"
            word = "--tcp-flags"
        else:
            value = _next(self.rest, word)
            if value == "!":
                inverted, value = "!", _next(self.rest, word)
        how = UNEQUAL if inverted else EQUAL
        if word in ("-s", "-d"):
            network = _network(value)
            shown = inverted + str(network)
            end = SOURCE if word == "-s" else DESTINATION
            self._once(word)
            if network.prefixlen or inverted:
                self.steps[word] = expressions.address(end, network.network_address.packed, network.prefixlen, how)
                self._put(word, shown)
        elif word in ("-i", "-o"):
            self._once(word)
            key = expressions.IN_NAME if word == "-i" else expressions.OUT_NAME
            if len(value) > 15 or not value:
                raise LineError(f"an interface's name has at most 15 letters, got {value!r}")
            self._check_side(word)
            self.steps[word] = expressions.interface(key, value, how)
            self._put(word, inverted + value)
        elif word == "-p":
            self._once(word)
            self._protocol(value, inverted, how)
        elif word == "-m":
            if value not in MATCHES:
                raise LineError(f"the match {value!r} is not offered. {KNOWN}")
            self.named.append(value)
        elif word == "-j":
            if self.rule.target:
                raise LineError("a rule has one -j")
            self.rule.target = value
        elif word.startswith("--"):
            self._no_twice(word)
            self.options[word] = (inverted, value)
        else:
            raise LineError(f"{word!r} is not known here. {KNOWN}")

    def _once(self, word: str) -> None:
        if word in self.steps:
            raise LineError(f"a rule has one {word}")
        self.steps[word] = b""

    def _no_twice(self, word: str) -> None:
        if word in self.options:
            raise LineError(f"a rule has one {word}")

    def _put(self, word: str, value: str) -> None:
        name = {"-s": "source", "-d": "destination", "-i": "into", "-o": "out", "-p": "protocol"}[word]
        setattr(self.rule, name, value)

    def _check_side(self, word: str) -> None:
        blind = {"-i": ("OUTPUT", "POSTROUTING"), "-o": ("INPUT", "PREROUTING")}[word]
        if self.chain in blind:
            raise LineError(f"{word} cannot be used in {self.chain}: there the packet has no such interface")

    def _protocol(self, value: str, inverted: str, how: int) -> None:
        name = value.lower()
        if name in ("all", "0") and not inverted:
            return
        by_number = {str(number): name for name, number in PROTOCOLS.items()}
        name = by_number.get(name, name)
        if name not in PROTOCOLS:
            raise LineError(f"the protocol {value!r} is not offered. {KNOWN}")
        self.steps["-p"] = expressions.protocol(PROTOCOLS[name], how)
        self.rule.protocol = inverted + name

    def _transport(self) -> None:
        protocol, words, shown = self.rule.protocol, [], []
        for end, word, said in ((SOURCE, "--sport", "spt"), (DESTINATION, "--dport", "dpt")):
            if word in self.options:
                inverted, value = self.options.pop(word)
                first, last = _ports(value, ":", protocol)
                how = UNEQUAL if inverted else EQUAL
                self.matches.append(expressions.ports(end, first, last, how))
                span = f"{first}:{last}" if last != first else f"{first}"
                words.append(f"{'! ' if inverted else ''}{word} {span}")
                shown.append(f"{said}{'s' if last != first else ''}:{inverted}{span}")
        if "--tcp-flags" in self.options:
            inverted, value = self.options.pop("--tcp-flags")
            mask, wanted = (_flags(names) for names in value.split())
            self.matches.append(expressions.tcp_flags(mask, wanted, UNEQUAL if inverted else EQUAL))
            words.append(f"{'! ' if inverted else ''}--tcp-flags {value}")
            shown.append(f"flags:{inverted}0x{mask:02x}/0x{wanted:02x}")
        if "--icmp-type" in self.options:
            if protocol != "icmp":
                raise LineError("--icmp-type wants '-p icmp'")
            inverted, value = self.options.pop("--icmp-type")
            names = {str(number): name for name, number in ICMP_TYPES.items()}
            number = ICMP_TYPES.get(names.get(value, value))
            if number is None:
                raise LineError(f"--icmp-type takes one of {', '.join(ICMP_TYPES)}, got {value!r}")
            self.matches.append(expressions.icmp_type(number, UNEQUAL if inverted else EQUAL))
            words.append(f"{'! ' if inverted else ''}--icmp-type {number}")
            shown.append(f"{inverted}{names[str(number)]}")
        if words:
            self.rule.matches.append(" ".join([f"-m {protocol}", *words]))
            self.rule.shown.append(" ".join([protocol, *shown]))
        for name in self.named:
            if name in PROTOCOLS and name != protocol:
                raise LineError(f"-m {name} wants '-p {name}'")

    def _tracking(self) -> None:
        for match, word, said in (("state", "--state", "state"), ("conntrack", "--ctstate", "ctstate")):
            if word not in self.options:
                continue
            if match not in self.named:
                raise LineError(f"{word} wants '-m {match}' before it")
            inverted, value = self.options.pop(word)
            names = value.upper().split(",")
            unknown = next((name for name in names if name not in STATES), None)
            if unknown is not None:
                raise LineError(f"a connection's state is one of {', '.join(STATES)}, got {unknown!r}")
            # Written in one order, so that a rule is found again however it was typed.
            ordered = ",".join(
                name for name in ("INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED") if name in names
            )
            bits = sum(STATES[name] for name in set(names))
            self.matches.append(expressions.states(bits, UNEQUAL if inverted else EQUAL))
            self.rule.matches.append(f"-m {match} {'! ' if inverted else ''}{word} {ordered}")
            self.rule.shown.append(f"{'! ' if inverted else ''}{said} {ordered}")

    def _limit(self) -> None:
        if "limit" not in self.named:
            return
        _, given = self.options.pop("--limit", ("", "3/hour"))
        _, most = self.options.pop("--limit-burst", ("", "5"))
        rate, _, unit = given.partition("/")
        per_s = UNITS_S.get(unit or "second")
        if not (rate.isdigit() and int(rate) and per_s and most.isdigit() and int(most)):
            raise LineError(f"--limit takes a rate such as 3/second or 10/minute, got {given!r} (burst {most})")
        short = {1: "sec", 60: "min", 3600: "hour", 86400: "day"}[per_s]
        self.matches.append(expressions.limit(int(rate), per_s, int(most)))
        burst = f" --limit-burst {most}" if most != "5" else ""
        self.rule.matches.append(f"-m limit --limit {rate}/{short}{burst}")
        self.rule.shown.append(f"limit: avg {rate}/{short} burst {most}")

    def _comment(self) -> None:
        if "--comment" in self.options:
            _, value = self.options.pop("--comment")
            plain = re.sub(r'["\\]', "", value)
            self.rule.matches.append(f'-m comment --comment "{plain}"')
            self.rule.shown.append(f"/* {plain} */")

    def _target(self) -> bytes:
        target = self.rule.target
        if not target:
            return b""
        if target in VERDICTS:
            if target == "DROP" and self.table == "nat":
                raise LineError(
                    "the table nat is no filter: packets of a connection that is known do not come there. DROP in the table filter"
                )
            return expressions.verdict(VERDICTS[target])
        if target == "REJECT":
            return self._reject()
        if target in NAT_TARGETS:
            return self._translate()
        if target in BUILT_IN[self.table] or not _CHAIN.fullmatch(target):
            raise LineError(f"-j takes no {target!r}. {KNOWN}")
        return expressions.verdict(expressions.JUMP, target)

    def _reject(self) -> bytes:
        if self.table != "filter":
            raise LineError("REJECT works in the table filter only")
        _, how = self.options.pop("--reject-with", ("", "icmp-port-unreachable"))
        self.rule.target_words = f"--reject-with {how}"
        self.rule.shown.append(f"reject-with {how}")
        if how == "tcp-reset":
            if self.rule.protocol != "tcp":
                raise LineError("--reject-with tcp-reset wants '-p tcp'")
            return expressions.reject(expressions.TCP_RESET, 0)
        if how not in REFUSALS:
            raise LineError(f"--reject-with takes one of {', '.join([*REFUSALS, 'tcp-reset'])}, got {how!r}")
        return expressions.reject(expressions.ICMP_UNREACHABLE, REFUSALS[how])

    def _translate(self) -> bytes:
        target = self.rule.target
        chains = NAT_TARGETS[target]
        if self.table != "nat":
            raise LineError(f"{target} works in the table nat only: begin with '-t nat'")
        if self.chain in BUILT_IN["nat"] and self.chain not in chains:
            raise LineError(f"{target} works in {' and '.join(chains)} only, not in {self.chain}")
        word = {"SNAT": "--to-source", "DNAT": "--to-destination"}.get(target, "--to-ports")
        if word not in self.options and target != "MASQUERADE":
            raise LineError(f"{target} wants {word}")
        _, value = self.options.pop(word, ("", ""))
        if not value:
            return expressions.masquerade([])
        self.rule.target_words = f"{word} {value}"
        if word == "--to-ports":
            self.rule.shown.append(f"redir ports {value}" if target == "REDIRECT" else f"masq ports: {value}")
            span = self._to_ports(value)
            return expressions.redirect(span) if target == "REDIRECT" else expressions.masquerade(span)
        self.rule.shown.append(f"to:{value}")
        hosts, _, ports = value.partition(":")
        addresses = [_address(host) for host in hosts.split("-")]
        if len(addresses) > 2:
            raise LineError(f"{word} takes ADDRESS, ADDRESS-ADDRESS or one of them with :PORT, got {value!r}")
        return expressions.translate(
            SOURCE if target == "SNAT" else DESTINATION, addresses, self._to_ports(ports) if ports else []
        )

    def _to_ports(self, value: str) -> list[int]:
        if self.rule.protocol not in ("tcp", "udp"):
            raise LineError("another port wants '-p tcp' or '-p udp'")
        first, last = _ports(value, "-", self.rule.protocol)
        return [first] if first == last else [first, last]


def read_rule(words: list[str], table: str, chain: str) -> Rule:
    """Read a rule's words, those behind `-A CHAIN`.

    Raises
    ------
    LineError
        As `read`.
    """
    return _Reader(list(words), table, chain).read()


def _flags(names: str) -> int:
    """The bits of TCP's flags, by name.

    >>> _flags("SYN,ACK")
    18
    """
    bits = 0
    for name in names.split(","):
        if name not in FLAGS:
            raise LineError(f"TCP's flags are {', '.join(FLAGS)}, got {name!r}")
        bits |= FLAGS[name]
    return bits


def _network(value: str) -> ipaddress.IPv4Network:
    host, slash, mask = value.partition("/")
    if re.fullmatch(r"[\d.]+", host):
        # 10.0/8 is 10.0.0.0/8.
        host += ".0" * (3 - host.count(".")) if slash else ""
    else:
        host = socket.inet_ntoa(_address(host))
    try:
        return ipaddress.IPv4Network(f"{host}/{mask or 32}", strict=False)
    except ValueError as error:
        raise LineError(f"an address is written as 10.0.0.1 or 10.0.0.0/8, got {value!r}") from error


def _address(host: str) -> bytes:
    try:
        return socket.inet_aton(host) if re.fullmatch(r"\d+(\.\d+){3}", host) else socket.inet_aton(_by_name(host))
    except OSError as error:
        raise LineError(f"{host!r} is no IPv4 address and no host's name") from error


def _by_name(host: str) -> str:
    return socket.gethostbyname(host) if re.fullmatch(r"[A-Za-z][\w.-]*", host) else "?"


def _ports(value: str, between: str, protocol: str) -> tuple[int, int]:
    first, span, last = value.partition(between)
    low = _port(first or "0", protocol)
    high = _port(last or "65535", protocol) if span else low
    if low > high:
        raise LineError(f"ports run from the lower to the higher, got {value!r}")
    return low, high


def _port(value: str, protocol: str) -> int:
    try:
        number = int(value) if value.isdigit() else socket.getservbyname(value, protocol)
    except OSError as error:
        raise LineError(f"{value!r} is no port and no service's name") from error
    if number > 65535:
        raise LineError(f"a port is at most 65535, got {value}")
    return number
