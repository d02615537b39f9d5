"""Experiments that student code requests: the student describes a scenario, and the grader measures it outside the sandbox."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from netlab import engines
from netlab.base.errors import NetlabError, RunCancelled
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT
from netlab.measure.results import Run
from netlab.runs import cache as run_cache
from netlab.runs import experiment
from netlab.runs.cache import RunCache
from netlab.runs.replications import table_of
from netlab.runs.scenario import Scenario
from netlab.theory import MSS_BYTES
from netlab.traffic import Command, Ping, Program, Requests, Tcp, Udp
from netlab_classroom.grading.helper import POLL_S, stop_requested
from netlab_user_code.method_calls import RemoteObject

MAX_RUNS = 120
MAX_NETWORK_S = 3600.0
MAX_NODES = 64
MAX_FLOWS = 200
MAX_PACKETS = 20e6
WALL_S = 240.0
"""The limit of wall-clock time for all runs of a submission together."""
_WORDS = r"(?: +[A-Za-z0-9][A-Za-z0-9_.:%+-]*)*"
COMMAND = re.compile(
    rf" *(?:tc(?: +-[sdjp])* +qdisc(?: +(?:add|change|replace|del|delete|show|list){_WORDS})?"
    rf"|ip(?: +-[46sdj])* +(?:route|addr|address|link|neigh)(?: +(?:show|list|get){_WORDS})?"
    rf"|ping(?: +-[nq46]| +-[ciIsWw] +[A-Za-z0-9.-]+)*{_WORDS}"
    rf"|ss(?: +-[tuaineomp]+)*{_WORDS}) *"
)
"""The commands of a graded run: a few that configure or inspect the network, with plain words as arguments. A shell
could forge the run's own numbers, and a path, or an option with one, could show the grader's files; therefore `/`,
quotes, pipes and other options are refused.
"""
COMMANDS = "tc qdisc ..., ip route|addr|link|neigh show, ping ... and ss"


class RefusedError(NetlabError):
    """An experiment was refused; the text says why."""


class Laboratory:
    """Measurements for one submission, within a budget of runs, network time, packets and wall-clock time.

    The seeds of graded runs follow from `seed`; a graded run never has the seed that the student chose.
    """

    def __init__(self, seed: str) -> None:
        """Begin the measurements for one submission with an unused budget; the seeds of graded runs follow from the
        text `seed`.
        """
        self.seed = seed
        self._runs, self._network_s, self._packets, self._wall_s = 0, 0.0, 0.0, 0.0
        self._with_own: dict[str, Run] = {}

    def measure(
        self, description: Mapping[str, Any], *, graded: bool, own: Mapping[tuple[int, str], RemoteObject] | None = None
    ) -> Run:
        """Run a scenario (in the form of its JSON, untrusted) within the budget, or return its cached run (which counts
        in the budget, too); with `graded` its seed is the grader's. `own` has proxies of the student's classes by
        (index of the traffic item, name of the field) (None: no classes); a graded run with them is kept, and returned
        when the marking, which has no such classes, asks for it. Raises NetlabError when the scenario has mistakes,
        exceeds the budget, or does not end.
        """
        requested = _name(description)
        if requested in self._with_own and not own:
            return self._with_own[requested]
        # This validates it.
        scenario = Scenario.from_dict(_insert_proxies(description, own or {}))
        self._charge_budget(scenario)
        if graded:
            scenario = replace(scenario, seed=self.seed_of(scenario))
        began_s = time.monotonic()
        try:
            run = measure_scenario(scenario, WALL_S - self._wall_s)
        finally:
            self._wall_s += time.monotonic() - began_s
        # The packets of UDP flows are in the budget since before the run.
        others = run.flows[run.flows["kind"] != "udp"]
        self._packets += float(others["sent_bytes"].sum()) / MSS_BYTES
        if own and graded:
            self._with_own[requested] = self._with_own[_name(run.settings["scenario"])] = run
        return run

    def repeat(self, description: Mapping[str, Any], seeds: Sequence[int]) -> pd.DataFrame:
        """Run a scenario (in the form of its JSON, untrusted) with each of the seeds, replaced by the grader's own, and
        return the table of `netlab.repeat` of these runs, with the given seeds. Raises NetlabError when there is no
        seed, the scenario has mistakes, exceeds the budget, or does not end.
        """
        if not seeds:
            raise RefusedError("The table of a repeated measurement has no seeds.")
        runs = {seed: self.measure({**description, "seed": seed}, graded=True) for seed in seeds}
        return table_of(dict(description), runs)

    def seed_of(self, scenario: Scenario) -> int:
        """Return the grader's seed for a run of this scenario: another than the student's, from which it follows, and
        the same each time.
        """
        digest = hashlib.sha256(f"{self.seed}\n{scenario.seed}".encode()).digest()
        found = int.from_bytes(digest[:4], "big")
        return found if found != scenario.seed else found + 1

    def _charge_budget(self, scenario: Scenario) -> None:
        """Add a valid scenario's run, network time and UDP packets to the part of the budget that the submission has
        used. Raises RefusedError if that is above MAX_RUNS, MAX_NETWORK_S or MAX_PACKETS, or the scenario is larger
        than an answer's may be or has traffic that is not allowed.
        """
        self._runs += 1
        self._network_s += scenario.duration_s
        if self._runs > MAX_RUNS or self._network_s > MAX_NETWORK_S:
            raise RefusedError(
                f"The answers of a submission may make {MAX_RUNS} runs of {MAX_NETWORK_S:g} s of network time in all."
            )
        if len(scenario.topology.nodes) > MAX_NODES or len(scenario.traffic) > MAX_FLOWS:
            raise RefusedError(f"An answer's network has at most {MAX_NODES} nodes and {MAX_FLOWS} flows.")
        for item in scenario.traffic:
            if not isinstance(item, (Command, Ping, Program, Requests, Tcp, Udp)):
                raise RefusedError(
                    f"A graded run has no {item.kind}: describe what is sent with Udp, Tcp, Requests and Ping."
                )
            if isinstance(item, Udp):
                lasts_s = min(scenario.duration_s, item.duration_s or scenario.duration_s)
                self._packets += item.rate_mbps * BITS_PER_MEGABIT / BITS_PER_BYTE / item.payload_bytes * lasts_s
            if isinstance(item, Command) and not is_plain(item):
                raise RefusedError(
                    f"A graded run does not run {item.command[:80]!r}: it takes {COMMANDS}, in one line of plain words each."
                )
        if self._packets > MAX_PACKETS:
            raise RefusedError(f"The runs of a submission may send {MAX_PACKETS / 1e6:g} million packets in all.")


def is_plain(item: Command) -> bool:
    """Return whether a command can only shape or inspect the run's own network, so that it may run for a student: a few
    tools with plain words as arguments.

    >>> is_plain(Command("h1", "tc qdisc add dev h1-eth0 root netem delay 300ms limit 2000"))
    True
    >>> is_plain(Command("h1", "tc qdisc show; cat /etc/passwd")), is_plain(Command("h1", "tc -b key"))
    (False, False)
    """
    return not item.saves and COMMAND.fullmatch(item.command) is not None


def _name(description: Mapping[str, Any]) -> str:
    """Return a text that is equal for equal scenarios, given as data for JSON, whatever the order of their keys."""
    return json.dumps(description, sort_keys=True)


def _insert_proxies(description: Mapping[str, Any], own: Mapping[tuple[int, str], RemoteObject]) -> dict[str, Any]:
    """Return a copy of a scenario (in the form of its JSON) with the proxies in `own`, by (index of the traffic item,
    name of the field), in the places of a student's classes; without them, or without valid traffic, the copy is
    unchanged.
    """
    traffic = description.get("traffic")
    if not (own and isinstance(traffic, list) and all(isinstance(item, dict) for item in traffic)):
        return dict(description)
    items = [dict(item) for item in traffic]
    for (number, name), stands in own.items():
        items[number][name] = stands
    return {**description, "traffic": items}


def measure_scenario(scenario: Scenario, max_s: float = WALL_S) -> Run:
    """Return the cached run of a scenario, or run it in the engine that netlab chooses within `max_s` seconds of
    wall-clock time and cache it. Raises RefusedError when it takes longer or grading is stopped, another NetlabError
    when it fails.
    """
    engine = engines.choose(None, [scenario.plan()])
    key = run_cache.key(scenario, run_cache.conditions(engine))
    cache = RunCache()
    kept = None if key is None else cache.load(key)
    if kept is not None:
        return kept
    cancel = threading.Event()
    over = threading.Event()
    threading.Thread(target=_cancel, args=(cancel, over, time.monotonic() + max_s), daemon=True).start()
    try:
        run = experiment.run(scenario, engine=engine, progress=False, cancel=cancel)
    except RunCancelled:
        raise RefusedError(f"The runs of a submission may take {WALL_S:g} s of wall-clock time in all.") from None
    finally:
        over.set()
    if key is not None:
        cache.store(key, run)
    return run


def _cancel(run: threading.Event, over: threading.Event, until_s: float) -> None:
    """Wait until the event `over` is set, and return; but set the event `run`, which cancels a run, and return when the
    monotonic time `until_s` (s) has passed or all grading is stopped.
    """
    while not over.wait(POLL_S):
        if stop_requested.is_set() or time.monotonic() > until_s:
            run.set()
            return
