"""The native engine: the same agent with root on this machine's own kernel, in real time."""

import os
import platform
import subprocess
import threading
from contextlib import closing

from netlab.base.errors import NotHereError
from netlab.engines import OnProgress, Requirement, require
from netlab.plan import Clock, Outcome, Plan
from netlab_engines import host_kernel
from netlab_engines.base import needed_parts, refuse_media, refuse_own, run_in
from netlab_engines.fingerprint import fingerprint
from netlab_engines.native_guest import NAMESPACES, NativeGuest
from netlab_engines.paths import system_path, tool

PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "mnexec": "mininet, or run `netlab kernel build`: each kernel brings one",
}
"""The package of each program that the agent calls."""


class NativeEngine:
    """The engine that runs plans in network namespaces on this machine's own kernel, in real time, as root or through
    sudo without a password.
    """

    name = "native"
    clock: Clock = "real"

    def requirements(self) -> list[Requirement]:
        """Return the engine's requirements (root, four programs, namespaces, the kernel's parts for links), met or not,
        in a list; namespaces and parts are tested, and in the list, only if all earlier ones are met.
        """
        prefix = host_kernel.privilege()
        found = [
            Requirement(
                "root",
                prefix is not None,
                "yes" if prefix is not None else "neither root nor sudo without a password",
                "Run as root, or allow this user to use sudo without a password; the pocket and the library engine need neither.",
            )
        ]
        found += [tool(name, f"Install the package {package}.") for name, package in PACKAGES.items()]
        for ask in (_namespaces, host_kernel.links):
            if all(requirement.ok for requirement in found):
                found.append(ask())
        return found

    def fingerprint(self) -> str:
        """Return a text that differs whenever this engine may give other numbers for the same plan: the release of this
        machine's kernel, a hash of netlab's code, and Mininet's version.
        """
        return fingerprint(platform.release())

    def differences(self) -> list[str]:
        """Return sentences about this engine for a user who compares engines: real time, repeatability, and features
        that this machine's kernel lacks.
        """
        missing = ["Wi-Fi links", *host_kernel.missing_parts()]
        return [
            "a run takes as long as its network time, so long runs are shortened, and their results vary more.",
            "results differ from run to run, even with the same seed, and depend on other work of this computer.",
            f"not available: {', '.join(missing)}.",
        ]

    def refuse(self, plan: Plan) -> None:
        """Raise NotHereError if the plan needs a queue discipline or congestion control that this machine's kernel does
        not have, a Wi-Fi link, or a class of the user's own. Raises EngineError if the kernel's parts cannot be
        determined.
        """
        refuse_own(plan["traffic"], self.name)
        refuse_media(plan, self.clock, self.name)
        missing = sorted(needed_parts(plan) & set(host_kernel.missing_parts()))
        if missing:
            raise NotHereError(
                f"This experiment needs {', '.join(missing)}, which this machine's own kernel does not have. "
                + host_kernel.remedy(missing)
            )

    def open(self, plan: Plan | None) -> NativeGuest:
        """Start the agent of a lab as root on this machine's own kernel and return its session, when it is ready. A
        plan is only checked; the session's request `build` builds it. None is for a script. Raises EngineError if a
        requirement is not met, and NotHereError if the plan is not supported.
        """
        require(self.requirements())
        if plan is not None:
            self.refuse(plan)
        agent = NativeGuest()
        agent.wait_until_ready()
        return agent

    def execute(
        self, plan: Plan, *, on_progress: OnProgress | None = None, cancel: threading.Event | None = None
    ) -> Outcome:
        """Run a plan as root in real time to its end, end the agent, and return the counters. `on_progress` gets the
        network time in s about fifty times, and the run stops with RunCancelled when the event `cancel` is set; None
        omits either. Raises EngineError if a requirement is not met, and NotHereError if the plan is not supported.
        """
        with closing(self.open(plan)) as agent:
            return run_in(agent, plan, on_progress, cancel)


def _namespaces() -> Requirement:
    """Return the requirement that root can create network, mount and process namespaces on this machine, met or not;
    some are created to test it.
    """
    command = [*(host_kernel.privilege() or []), *NAMESPACES, "true"]
    environment = {**os.environ, "PATH": ":".join(system_path())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    remedy = "The pocket and the library engine need no namespaces."
    if host_kernel.is_in_container():
        remedy = f"A container's root can create namespaces only with `docker run --privileged`. {remedy}"
    works = done.returncode == 0
    return Requirement("namespaces", works, "can be made" if works else done.stderr.strip() or "cannot be made", remedy)
