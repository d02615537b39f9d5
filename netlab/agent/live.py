"""The agent of a live network: it builds once and then does what it is asked, a request at a time.

Between requests the guest stands still. While one is worked on, programs and flows of earlier requests go on too.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from netlab.agent import routing, stand_ins
from netlab.agent.artifacts import Keeper
from netlab.agent.capture import Capture
from netlab.agent.files import ARTIFACTS
from netlab.agent.flows import FIRST_PORT, Flow, Place, runner_of
from netlab.agent.gate import Gate
from netlab.agent.main import queue_readers, segment_bytes_by_host
from netlab.agent.namespaces import visit
from netlab.agent.network import Network, batch
from netlab.agent.settings import FIRST_S
from netlab.agent.shaping import (
    has_wire,
    hosts_without_offload,
    queue_qdiscs,
    redirection,
    shape_network,
    wire_device,
    wire_qdisc,
)
from netlab.agent.terminals import Terminals, read_now
from netlab.base.errors import RunError, ThroughputError
from netlab.netlink.qdiscs import Attached, Queueing, Removed
from netlab.protocol.plan import AgentPlan, Item, Shape
from netlab.sockets.streams import forbid_timer_slack

GRID_S = 0.01
ENDLESS_S = 1e6
HOMES = "/run/netlab"
BINARIES = f"{HOMES}/bin"
PROMPT = "import sys; sys.path.extend({packages!r}); from netlab.agent.prompt import main; main({path!r}, {commands!r})"

# Directory, variables and functions of a host's shell outlive the command that set them.
SHELL = """
state=$HOME/.netlab-shell
[ -f "$state" ] && . "$state"
trap 'code=$?; trap - EXIT; { export -p; declare -f; printf "cd %q\\n" "$PWD"; } >"$state"; exit $code' EXIT
"""

Words = dict[str, Any]


class Background:
    """A program that goes on between requests; what it prints goes to a file."""

    def __init__(self, process: subprocess.Popen[bytes], path: str) -> None:
        self.process = process
        self.path = path


class Live:
    """A network that was built and waits.

    Parameters
    ----------
    gate : Gate
        Where what commands print is sent while they run.
    folder : str
        Directory of the host's in which captures are written.
    packages : list of str
        Where Python finds netlab and Mininet.
    """

    def __init__(self, gate: Gate, folder: str, packages: list[str]) -> None:
        self._gate = gate
        self._folder = folder
        self._packages = packages
        self._flows: dict[str, Flow[Any]] = {}
        self._items: list[Words] = []
        self._streams: list[Any] = []
        self._queues: list[Words] = []
        self._background: dict[int, Background] = {}
        self._terminals = Terminals(gate.foreground)
        self._captures: dict[str, list[Capture]] = {}
        self._lock = threading.Lock()
        self._port = FIRST_PORT
        self._keeper = Keeper(Path(folder) / ARTIFACTS)
        self.requests = {
            "build": self.build,
            "run": self.run,
            "start": self.start,
            "process": self.process,
            "signal": self.signal,
            "advance": self.advance,
            "flow": self.flow,
            "stop_flow": self.stop_flow,
            "tables": self.tables,
            "shape": self.shape,
            "link": self.link,
            "capture": self.capture,
            "stop_capture": self.stop_capture,
            "terminal": self.terminal,
            "turn": self.turn,
            "prompt": self.prompt,
            "read": self.read,
            "write": self.write,
        }

    # The network --------------------------------------------------------------------------------------------

    def build(self, plan: AgentPlan, seed: int) -> Words:
        """Build the network of a plan; its time begins at a round moment."""
        self._gate.new_seed(seed)
        # Threads inherit it: every flow then starts on time, not up to 50 us later.
        forbid_timer_slack()
        self.plan = plan
        self._network = Network(plan)
        directions = plan["directions"]
        self._without_offload = hosts_without_offload(directions, plan["hosts"], plan["clock"], {})
        ip_lines, queueing = shape_network(directions, plan["clock"], self._without_offload, seed)
        self._network.configure(ip_lines, queueing)
        with open("/etc/hosts", "w") as hosts:
            hosts.write("127.0.0.1 localhost\n")
            named = set()
            for item in plan["addresses"]:
                if item["node"] not in named:
                    named.add(item["node"])
                    hosts.write(f"{item['address'].partition('/')[0]} {item['node']}\n")
        os.makedirs(HOMES, exist_ok=True)
        for node in self._network.nodes:
            os.makedirs(f"{HOMES}/{node}", exist_ok=True)
        stand_ins.install(BINARIES, self._packages)
        self._readers = queue_readers(self.plan, self._network)
        time.sleep(max(0.0, FIRST_S - time.monotonic()))
        self._origin_s = math.ceil(time.monotonic() / GRID_S) * GRID_S
        time.sleep(max(0.0, self._origin_s - time.monotonic()))
        threading.Thread(target=self._sample, daemon=True).start()
        origin_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - round((time.monotonic() - self._origin_s) * 1e9)
        return {"origin_ns": origin_ns, **self._now()}

    def advance(self, s: float) -> Words:
        """Let `s` seconds of network time pass."""
        time.sleep(s)
        return self._now()

    def _now(self) -> Words:
        return {"now_s": time.monotonic() - self._origin_s}

    def shape(self, number: int, shape: Shape) -> Words:
        """Give the direction of this number another shape; queues and wires that go on keep what they hold."""
        direction = self.plan["directions"][number]
        old, clock = direction["shape"], self.plan["clock"]
        src, dst = self._network.pid(direction["src"]), self._network.pid(direction["dst"])
        interface, arriving = direction["interface"], direction["dst_interface"]
        device = wire_device(arriving)
        with self._lock:
            direction["shape"] = shape
            _change(src, interface, queue_qdiscs(interface, old, clock), queue_qdiscs(interface, shape, clock))
            before = [wire_qdisc(device, old, clock)] if has_wire(old) else []
            after = [wire_qdisc(device, shape, clock)] if has_wire(shape) else []
            if after and not before:
                batch("ip", [f"link add name {device} type ifb", f"link set dev {device} up"], dst)
                _make(dst, [*after, *redirection(arriving, device)])
            elif before and not after:
                _make(dst, [Removed(arriving, ingress=True)])
                batch("ip", [f"link del dev {device}"], dst)
            else:
                _change(dst, device, before, after)
            self._send_frame_by_frame(*self._items)
            self._readers = queue_readers(self.plan, self._network)
        return self._now()

    def _send_frame_by_frame(self, *items: Words) -> None:
        """Switch offload off where the links as they are or what these items of traffic send ask for it."""
        plan = self.plan
        small = segment_bytes_by_host(cast("list[Item]", items))
        for name in hosts_without_offload(plan["directions"], plan["hosts"], plan["clock"], small):
            if name not in self._without_offload:
                self._without_offload.append(name)
                own = [d["interface"] for d in plan["directions"] if d["src"] == name]
                batch("ip", [f"link set dev {interface} gso_max_segs 1" for interface in own], self._network.pid(name))

    def link(self, numbers: list[int], up: bool) -> Words:
        """Cut the link whose two directions these are, or mend it; its routes and neighbours come back with it."""
        for number in numbers:
            direction = self.plan["directions"][number]
            pid = self._network.pid(direction["src"])
            batch("ip", [f"link set dev {direction['interface']} {'up' if up else 'down'}"], pid)
        if up:
            for name in {self.plan["directions"][number]["src"] for number in numbers}:
                lines = [f"route replace {r['to']} via {r['via']}" for r in self.plan["routes"] if r["node"] == name]
                lines += [
                    f"neighbour replace {n['address']} lladdr {n['mac']} dev {n['interface']} nud permanent"
                    for n in self.plan["neighbours"]
                    if n["node"] == name
                ]
                # What leads over another link that is still down cannot be set yet.
                with visit(self._network.pid(name)):
                    subprocess.run(
                        ["ip", "-force", "-batch", "-"], input="\n".join(lines), text=True, capture_output=True
                    )
        return self._now()

    # Programs -----------------------------------------------------------------------------------------------

    def run(self, node: str, command: str) -> Words:
        """Run a command in a node's shell until it ends; what it prints is sent as it comes."""
        reading, writing = os.pipe()
        process = self._popen(node, command, writing)
        os.close(writing)
        return {"code": self._finish(process, reading), **self._now()}

    def _finish(self, process: subprocess.Popen[bytes], reading: int) -> int:
        self._gate.foreground(process.pid)
        try:
            self._relay(reading, process.pid)
            return process.wait()
        finally:
            self._gate.foreground(0)
            os.close(reading)

    def _relay(self, reading: int, pid: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # A program in the background may hold the pipe open for ever; the command ends with its shell.
        ended = os.pidfd_open(pid)
        os.set_blocking(reading, False)
        try:
            while True:
                ready, _, _ = select.select([reading, ended], [], [])
                while (data := read_now(reading)) is not None:
                    if not data:
                        return
                    self._gate.put(text=decoder.decode(data))
                if ended in ready:
                    return
        finally:
            os.close(ended)

    def start(self, node: str, command: str) -> Words:
        """Start a command in the background."""
        path = f"{HOMES}/output-{len(self._background)}"
        with open(path, "wb") as out:
            process = self._popen(node, command, out.fileno())
        self._background[process.pid] = Background(process, path)
        # Until it is asleep or gone, so that a server that was just started listens.
        time.sleep(GRID_S)
        return {"pid": process.pid, **self._now()}

    def process(self, pid: int, offset: int = 0, wait_s: float = 0.0) -> Words:
        """What a background command printed from byte `offset` on, and its exit code, after at most `wait_s`."""
        found = self._background[pid]
        with contextlib.suppress(subprocess.TimeoutExpired):
            found.process.wait(wait_s)
        with open(found.path, "rb") as file:
            file.seek(offset)
            data = file.read()
        return {
            "text": data.decode(errors="replace"),
            "offset": offset + len(data),
            "code": found.process.poll(),
            **self._now(),
        }

    def signal(self, pid: int, number: int) -> Words:
        """Send a signal to a background command and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        return self._now()

    def _popen(self, node: str, command: str, out: int) -> subprocess.Popen[bytes]:
        home = f"{HOMES}/{node}"
        # mnexec joins the namespaces: Python would have to fork without vfork for that, which takes four times as long.
        return subprocess.Popen(
            ["mnexec", "-a", str(self._network.pid(node)), "bash", "-c", SHELL + command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=home,
            env=_environment(home),
            start_new_session=True,
        )

    def read(self, node: str, path: str) -> Words:
        """The bytes of a file, as a node's shell would name it."""
        with _file(node, path, "rb") as file:
            return {"hex": file.read().hex()}

    def write(self, node: str, path: str, hex: str) -> Words:  # noqa: A002 (the word of the message)
        """Write a file."""
        with _file(node, path, "wb") as file:
            file.write(bytes.fromhex(hex))
        return {}

    def terminal(self, node: str, rows: int, columns: int) -> Words:
        """Open an interactive shell."""
        home = f"{HOMES}/{node}"
        command = ["mnexec", "-a", str(self._network.pid(node)), "setsid", "-c", "bash", "--norc", "-i"]
        environment = _environment(home) | {"TERM": "xterm-256color", "PS1": f"{node}:\\w# "}
        return {"pid": self._terminals.open(command, home, environment, rows, columns), **self._now()}

    def prompt(self, rows: int, columns: int, keys: str | None = None) -> Words:
        """Open Mininet's prompt on a terminal; with `keys`, run it on them and send what it prints instead."""
        path = f"{HOMES}/prompt.json"
        with open(path, "w") as file:
            json.dump(
                {"plan": self.plan, "pids": {name: self._network.pid(name) for name in self._network.nodes}}, file
            )
        commands = f"{HOMES}/commands"
        programs = stand_ins.install(BINARIES, self._packages)
        command = [
            sys.executable,
            "-S",
            "-c",
            PROMPT.format(packages=self._packages, path=path, commands=None if keys is None else commands),
        ]
        environment = _environment(HOMES) | {"TERM": "xterm-256color", "PATH": programs}
        if keys is None:
            return {
                "pid": self._terminals.open(["setsid", "-c", *command], HOMES, environment, rows, columns),
                **self._now(),
            }
        reading, writing = os.pipe()
        with open(commands, "w") as file:
            file.write(keys or "")
        # An input that never ends: Mininet looks at it while a command runs, and one that ended would keep it busy.
        given, kept = os.pipe()
        process = subprocess.Popen(
            command, stdin=given, stdout=writing, stderr=writing, cwd=HOMES, env=environment, start_new_session=True
        )
        os.close(given)
        os.close(writing)
        try:
            return {"code": self._finish(process, reading), **self._now()}
        finally:
            os.close(kept)

    def turn(self, **words: Any) -> Words:
        """Give a terminal keys and let a little time pass; see `Terminals.turn`."""
        return {**self._terminals.turn(**words), **self._now()}

    # Traffic ------------------------------------------------------------------------------------------------

    def flow(self, item: Words) -> Words:
        """Start netlab's own traffic."""
        with self._lock:
            self._send_frame_by_frame(item)
        start_s = math.ceil((time.monotonic() - self._origin_s) / GRID_S) * GRID_S
        item = {**item, "start_s": start_s + item["start_s"]}
        plan: AgentPlan = {**self.plan, "traffic": [cast("Item", item)], "duration_s": ENDLESS_S}
        runner = runner_of(plan["traffic"][0])
        try:
            flow = runner(
                plan["traffic"][0], Place(plan, self._network, self._keeper, len(self._items) + 1, self._port)
            )
        except (OSError, ThroughputError) as error:
            raise RunError(f"{item['label']} could not be set up: {error}") from None
        self._port += runner.ports(item)
        self._items.append(item)
        flow.launch(self._origin_s)
        with self._lock:
            self._flows[item["label"]] = flow
        return {"start_s": item["start_s"], **self._now()}

    def stop_flow(self, label: str) -> Words:
        """End a flow now."""
        with self._lock:
            self._flows[label].stop()
        return self._now()

    def tables(self, streams: int, queues: int) -> Words:
        """Counters of all flows so far; of the series, what came after the first `streams` and `queues` rows."""
        with self._lock:
            now_s = time.monotonic()
            begun = [flow for flow in self._flows.values() if self._origin_s + flow.start_s < now_s]
            return {
                "items": self._items,
                "flows": [flow.so_far() for flow in begun],
                "streams": self._streams[streams:],
                "datagrams": [row for flow in begun for row in flow.intervals()],
                "queues": self._queues[queues:],
                "stations": [row for medium in self._network.media for row in medium.totals()],
                **self._now(),
            }

    def _sample(self) -> None:
        step = 0
        while True:
            step += 1
            t_s = round(step * self.plan["interval_s"], 9)
            left_s = self._origin_s + t_s - time.monotonic()
            if left_s > 0:
                time.sleep(left_s)
            with self._lock:
                for flow in self._flows.values():
                    self._streams.extend(flow.sample(t_s))
                for reader in self._readers:
                    for interface, queue in reader.read().items():
                        self._queues.append(
                            {
                                "t_s": t_s,
                                "interface": interface,
                                "backlog_bytes": queue.backlog_bytes,
                                "backlog_packets": queue.backlog_packets,
                                "drops": queue.drops,
                                "marks": queue.marks,
                                "sent_bytes": queue.sent_bytes,
                                "sent_packets": queue.sent_packets,
                            }
                        )

    # Captures -----------------------------------------------------------------------------------------------

    def capture(self, name: str, numbers: list[int], snap_bytes: int) -> Words:
        """Write every packet of a link, given by its two directions, from now on."""
        folder = f"{self._folder}/{ARTIFACTS}"
        os.makedirs(folder, exist_ok=True)
        directions = [self.plan["directions"][number] for number in numbers]
        self._captures[name] = [
            capture
            for d in directions
            for capture in Capture.of_direction(self._network.pid, d, f"{folder}/{name}", snap_bytes)
        ]
        return self._now()

    def stop_capture(self, name: str) -> Words:
        """End a capture and write what is still in its rings; returns the packets lost, which should be none."""
        captures = self._captures.pop(name)
        return {"lost": sum(capture.stop() for capture in captures), **self._now()}


def _file(node: str, path: str, mode: str) -> IO[bytes]:
    try:
        return open(os.path.join(HOMES, node, path), mode)
    except OSError as error:
        raise RunError(
            f"{node}: {path} cannot be opened ({error.strerror}). A path that does not begin with / begins in the host's home "
            f"directory; lab[{node!r}].run('ls') shows what is there."
        ) from None


def _change(pid: int, interface: str, old: Sequence[Attached], new: Sequence[Attached]) -> None:
    """Lead from old qdiscs of an interface to new ones, in place where they are of the same kinds."""
    if old == new:
        return
    if [each.qdisc.kind for each in old] == [each.qdisc.kind for each in new]:
        routing.tell(pid, lambda index: [(each.line, each.message(index, changed=True)) for each in new])
    else:
        _make(pid, [*([Removed(interface)] if old else []), *new])


def _make(pid: int, queueing: Sequence[Queueing]) -> None:
    routing.tell(pid, lambda index: [(each.line, each.message(index)) for each in queueing])


def _environment(home: str) -> dict[str, str]:
    return {
        # What a plain machine lacks (ifconfig, iptables, telnet) is stood in for.
        "PATH": stand_ins.search_path(BINARIES),
        "HOME": home,
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        # bash itself would ask the host's user for it, whom the guest may not know.
        "USER": "root",
    }
