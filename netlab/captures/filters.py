"""Filters of a capture's frames in some of tcpdump's words, applied to all frames at once."""

import functools
import ipaddress
import operator
import re
from collections.abc import Callable, Mapping

import numpy as np

from netlab.base.errors import ScenarioError
from netlab.base.values import short_repr
from netlab.captures.frames import ARP, Heads, Mask

Filter = Callable[[Heads], Mask]
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
FILTER_WORDS = "tcp, udp, icmp, arp, host ADDRESS, port NUMBER, and, or, not, ( )"
_WORD = re.compile(r"\s*([()]|[^\s()]+)")


def parse_filter(text: str, addresses: Mapping[str, str] | None = None) -> Filter:
    """Return the function for a filter such as "tcp and port 80": it takes the headers of many frames and returns an
    array of bool, True for each frame to keep. Raises ScenarioError when a word of `text` is not known or out of place.

    Parameters
    ----------
    text : str
        See `Capture`.
    addresses : mapping, optional
        Addresses of nodes by name, which may then stand behind `host`.
    """
    if not isinstance(text, str):
        raise ScenarioError([f"filter must be a text such as 'tcp and port 80', got {short_repr(text)}"])
    words = _WORD.findall(text)
    if not words:
        return lambda heads: np.ones(len(heads.ip), np.bool_)
    chosen, rest = _parse_expression(words, addresses)
    if rest:
        raise _word_error(rest[0])
    return chosen


def _word_error(word: str) -> ScenarioError:
    """Return, without raising it, the error about a word of a filter that is unknown or out of place."""
    return ScenarioError([f"filter: {word!r} is not expected there; allowed: {FILTER_WORDS}"])


def _parse_expression(words: list[str], addresses: Mapping[str, str] | None) -> tuple[Filter, list[str]]:
    """Parse `words` of a filter up to the end of an expression with `or` and `and`; return the function that chooses
    frames by it, and the words left, or raise ScenarioError. `addresses` has each node's by name, None if unknown.
    """

    def parse_conjunction(rest: list[str]) -> tuple[Filter, list[str]]:
        """Return the function for the terms in `rest` with `and` between them, and the words that follow."""
        return _parse_terms("and", operator.and_, lambda last: _parse_term(last, addresses), rest)

    return _parse_terms("or", operator.or_, parse_conjunction, words)


def _parse_terms(
    word: str,
    join: Callable[[Mask, Mask], Mask],
    read: Callable[[list[str]], tuple[Filter, list[str]]],
    words: list[str],
) -> tuple[Filter, list[str]]:
    """Return the `join` of the functions for terms with `word` between them, each by `read`, and the words left."""
    keep, words = read(words)
    parts = [keep]
    while words[:1] == [word]:
        keep, words = read(words[1:])
        parts.append(keep)
    return (lambda heads: functools.reduce(join, (part(heads) for part in parts))), words


def _parse_term(words: list[str], addresses: Mapping[str, str] | None) -> tuple[Filter, list[str]]:
    """Return the function for the term that `words` begin with, such as `not udp`, and the words that follow;
    `addresses` has the nodes' addresses by name, None if unknown. Raises ScenarioError when a word is wrong.
    """
    if not words:
        raise ScenarioError([f"filter: something is missing at its end; allowed: {FILTER_WORDS}"])
    word, rest = words[0], words[1:]
    if word == "not":
        keep, rest = _parse_term(rest, addresses)
        return (lambda heads: ~keep(heads)), rest
    if word == "(":
        keep, rest = _parse_expression(rest, addresses)
        if rest[:1] != [")"]:
            raise ScenarioError(["filter: a parenthesis is not closed"])
        return keep, rest[1:]
    if word in PROTOCOLS.values():
        (number,) = (number for number, name in PROTOCOLS.items() if name == word)
        return (lambda heads: heads.ip & (heads.protocol == number)), rest
    if word == "arp":
        return (lambda heads: heads.kind == ARP), rest
    if word == "port" and rest and rest[0].isdigit():
        return _port_filter(int(rest[0])), rest[1:]
    if word == "host" and rest:
        return _host_filter(rest[0], addresses), rest[1:]
    raise _word_error(word)


def _port_filter(port: int) -> Filter:
    """Return the filter that keeps TCP segments and UDP datagrams from or to the port number `port`."""

    def has_port(heads: Heads) -> Mask:
        """Return True for each frame from or to the port."""
        found = np.zeros(len(heads.ip), np.bool_)
        for mask, head in ((heads.tcp, heads.tcp_head), (heads.udp, heads.udp_head)):
            found |= mask & ((head["src_port"] == port) | (head["dst_port"] == port))
        return found

    return has_port


def _host_filter(name: str, addresses: Mapping[str, str] | None) -> Filter:
    """Return the filter that keeps IPv4 frames from or to a node's name or an address. `addresses` has the nodes'
    addresses by name; if None, a name that is not an address keeps no frame, otherwise it raises ScenarioError.
    """
    try:
        address = int(ipaddress.IPv4Address((addresses or {}).get(name, name)))
    except ValueError:
        if addresses is not None:
            raise ScenarioError([f"filter: host must be a node or an IPv4 address, got {name!r}"]) from None
        # The nodes are not known yet.
        address = -1
    return lambda heads: heads.ip & ((heads.first["src"] == address) | (heads.first["dst"] == address))
