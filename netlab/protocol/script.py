"""A run is a lab that a script drives: build, let time pass, end the traffic, read the tables."""

from __future__ import annotations

from collections.abc import Callable

from netlab.protocol.messages import Message
from netlab.protocol.plan import AgentPlan, Counters
from netlab.protocol.session import OnWait, Session

PROGRESS_STEPS = 50


def run(
    session: Session,
    plan: AgentPlan,
    on_progress: Callable[[float], None] | None = None,
    on_wait: OnWait | None = None,
) -> Counters:
    """Run a plan with all its traffic to its end, in a lab in which nothing was built.

    `on_progress` gets the network time that has passed, in s, fifty times or less; `on_wait` is called some times a
    second, and the run stops with what it raises.
    """

    def heard(message: Message) -> None:
        if on_progress is not None and "progress_s" in message:
            on_progress(message["progress_s"])

    lab = session.request(heard, on_wait)
    lab.build(plan=plan, programs=False)
    # To the end of the last interval, which a duration that is no multiple of it leaves open.
    intervals = max(1, round(plan["duration_s"] / plan["interval_s"]))
    until_s = round(intervals * plan["interval_s"], 9)
    lab.advance(until_s=until_s, progress_s=plan["duration_s"] / PROGRESS_STEPS)
    lab.finish(until_s=plan["duration_s"] + plan["drain_s"])
    return lab.tables(streams=0, queues=0)
