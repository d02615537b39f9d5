"""Replacements for Mininet's `iperf` and `waitListening` that also return when a server does not answer.

Mininet's own `iperf` waits for two reports of the server, the first of them for the connection by which Mininet checks
that the server listens. Since 2.0.14 iperf does not report connections without data
(https://github.com/mininet/mininet/issues/1060). Both of Mininet's functions wait forever for a server that has exited.
"""

import re
import select
import time
from functools import partial, partialmethod
from typing import Any

from mininet.log import debug, error, info, output
from mininet.util import quietRun

from netlab_engines.agent import replacements
from netlab_engines.distributions import not_installed

START_S = 10.0
"""The longest time in s from the start of a server to its first line."""
REPORT_S = 60.0
"""The longest time in s from a client's planned end to its report, and then to the server's: queued data must arrive first."""
INTERRUPTED_S = 1.0
MAX_LISTENING_WAIT_S = 60.0
LISTENS = re.compile(r"Server listening on")
RATE = re.compile(r"[\d.]+ \w+/sec")
UDP_RATE = re.compile(r"[0-9.]+([kmgKMG]|[kmgKMG]?pps)?(,.*)?")
CTRL_C, CTRL_BACKSLASH = chr(3), chr(28)


def iperf(
    self: Any,
    hosts: Any = None,
    l4Type: str = "TCP",  # noqa: N803 (Mininet's names)
    udpBw: str = "10M",  # noqa: N803
    fmt: str | None = None,
    seconds: float = 5,
    port: int = 5001,
) -> list[str]:
    """Run iperf for `seconds` s from the first to the second of `hosts` (None: from the network's first host to its
    last), over `l4Type`, "TCP" or "UDP" (at the rate `udpBw`, as iperf's -b takes it), to the port `port`, and end all
    other iperf servers of the second. Return a list of the rates that server and client report, in this order, as texts
    in iperf's unit `fmt` (None: iperf's choice), "" for a missing one or if iperf is not installed; with UDP, `udpBw`
    comes first. Raises ValueError for a wrong argument.
    """
    client, server = hosts or [self.hosts[0], self.hosts[-1]]
    if l4Type not in ("TCP", "UDP"):
        raise ValueError(f"Unexpected l4 type: {l4Type}")
    if not seconds > 0:
        raise ValueError(f"seconds must be above 0 (iperf would send forever), got {seconds}")
    udp = l4Type == "UDP"
    if udp and not UDP_RATE.fullmatch(str(udpBw)):
        raise ValueError(f"udpBw must be a rate as iperf's -b takes it, such as '10M' or '1000pps', got {udpBw!r}")
    output(f"*** Iperf: testing {l4Type} bandwidth between {client} and {server}\n")
    if replacements.is_missing("iperf"):
        error(f"*** {not_installed('iperf')}\n")
        rates = ["", ""]
    else:
        words = ["iperf", "-p", port, *(["-u"] if udp else []), *(["-f", fmt] if fmt else [])]
        options = [*(["-b", udpBw] if udp else []), "-t", seconds]
        rates = _measure(client, server, words, options, seconds + REPORT_S)
    result = [*([udpBw] if udp else []), *rates]
    output(f"*** Results: {result}\n")
    return result


def _measure(client: Any, server: Any, words: list[Any], options: list[Any], limit_s: float) -> list[str]:
    """Run iperf's server (the command `words` and `-s`) on the Mininet node `server`, where all running iperfs are
    killed first, and its client (`words` and `options`) on the node `client`, end both, and return a list of the rates
    that server and client report, in this order, "" for a missing one. The client may take `limit_s` s of network time;
    it is not started if the server ends at once.
    """
    server.cmd("killall -9 iperf")
    server.sendCmd(*words, "-s")
    received = _read_until(server, LISTENS, START_S)
    if not server.waiting:
        return [_rate(server, received), ""]
    client.sendCmd(*words, *options, "-c", server.IP())
    sent = _read_until(client, None, limit_s) + _end(client)
    debug(f"Client output: {sent}\n")
    received += _read_until(server, RATE, REPORT_S if RATE.search(sent) else INTERRUPTED_S)
    received += _end(server)
    debug(f"Server output: {received}\n")
    return [_rate(server, received), _rate(client, sent)]


def _rate(node: Any, text: str) -> str:
    """Return the last rate in iperf's output `text`, such as "9.62 Mbits/sec". Without one, return "" and log an error
    with the node's name and the last line about a failure, or else the last line, if any.

    >>> _rate("h2", "[  1] 0.0000-5.0123 sec  5.75 MBytes  9.62 Mbits/sec")
    '9.62 Mbits/sec'
    """
    rates: list[str] = RATE.findall(text)
    if not rates:
        lines = [line.strip() for line in text.splitlines() if line.strip(" -")]
        failures = [line for line in lines if "failed" in line or "error" in line]
        output = f"it printed: {(failures or lines)[-1]}" if lines else "it printed nothing"
        error(f"*** {node}: iperf reported no rate; {output}\n")
    return rates[-1] if rates else ""


def _read_until(node: Any, pattern: re.Pattern[str] | None, limit_s: float) -> str:
    """Read the output of the command that runs on a Mininet node, and return it when it has a text that matches
    `pattern` (None: no such text), when the command has ended, or after `limit_s` s of network time.
    """
    text = ""
    deadline_s = time.monotonic() + limit_s
    while node.waiting and not (pattern and pattern.search(text)):
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            break
        # Wait here: the wait in `monitor` returns at once, because the terminal is always ready for writing.
        if select.select([node.stdout], [], [], left_s)[0]:
            text += node.monitor()
    return text


def _end(node: Any) -> str:
    r"""End the command that runs on a Mininet node, if there is one, and return the output meanwhile: with Ctrl-C, if
    needed with a second one (iperf's server needs it for open connections), then with Ctrl-\. Each may take
    INTERRUPTED_S s.
    """
    text = ""
    for key in (CTRL_C, CTRL_C, CTRL_BACKSLASH):
        if node.waiting:
            node.sendInt(key)
            text += _read_until(node, None, INTERRUPTED_S)
    return text


def wait_listening(client: Any = None, server: Any = "127.0.0.1", port: Any = 80, timeout: float | None = None) -> bool:
    """Return True when `server` (a Mininet node or an IP address as text) accepts TCP connections on `port`, as telnet
    tries twice a second on the node `client` (None: on this machine). Return False and log an error without a route, or
    after `timeout` s (None: MAX_LISTENING_WAIT_S).
    """
    run = client.cmd if client else partial(quietRun, shell=True)  # noqa: S604 (a line for a shell, as in Mininet)
    address = server if isinstance(server, str) else server.IP()
    limit_s = MAX_LISTENING_WAIT_S if timeout is None else timeout
    deadline_s = time.monotonic() + limit_s
    while "Connected" not in (output := run(f"echo A | telnet -e A {address} {port}")):
        if "No route" in output:
            error(f"no route to {server}:\n{run('route')}")
            return False
        if time.monotonic() >= deadline_s:
            error(f"could not connect to {server} on port {port} within {limit_s:g} s\n")
            return False
        debug(f"waiting for {server} to listen on port {port}\n")
        info(".")
        time.sleep(0.5)
    return True


def install() -> None:
    """Replace Mininet's method `Mininet.iperf` and its function `waitListening` with `iperf` and `wait_listening` of
    this module, and add the method `Mininet.iperfUdp`, which `mn --test iperfudp` calls and Mininet lacks.
    """
    import mininet.net
    import mininet.util

    mininet.net.Mininet.iperf = iperf
    mininet.net.Mininet.iperfUdp = partialmethod(iperf, l4Type="UDP")
    for module in (mininet.util, mininet.net):
        module.waitListening = wait_listening
