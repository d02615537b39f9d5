"""Call the methods of a user's own objects during a run, while the kernel waits and no network time passes."""

import re
import traceback
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, NoReturn, Protocol

from netlab.base.errors import NetlabError, RunError, one_of
from netlab.base.location import PACKAGES, is_own_file
from netlab.base.units import NS_PER_S
from netlab.base.values import short_repr
from netlab.traffic.own import new_object, own_name
from netlab_user_code.time_limit import TimeIsUpError, call_often_within, call_within

MAX_CALL_S = 10.0
Part = Literal["control", "sender", "receiver", "rule"]
"""The role of a user's object."""
PARAMETERS = {"FlowInterface": "flow", "Ack": "ack", "Loss": "loss", "ProgramInterface": "program"}
"""The documentation's name for the parameter of a user's method, by the class of the argument."""
NAMES = {
    "FlowInterface": ("now_s", "mss_bytes", "cwnd_segments", "ssthresh_segments", "pacing_mbps", "ect"),
    "Ack": (
        "now_s", "rtt_ms", "rtt_min_ms", "delivered_segments", "in_flight_segments", "marked_segments", "delivery_rate_mbps",
        "app_limited", "may_grow",
    ),
    "Loss": ("now_s", "lost_segments", "in_flight_segments", "is_new"),
    "ProgramInterface": ("now_s", "read", "send", "set_timer", "deliver"),
}  # fmt: skip
"""The attributes that a user's methods may use, by class of the object."""


class MethodCaller(Protocol):
    """An object that calls the methods of a user's object for one connection."""

    def has(self, method: str) -> bool:
        """Return whether the user's object has a method of this name."""

    def call(self, method: str, now_ns: int, *arguments: Any) -> None:
        """Call a method with `arguments` at a network time in ns. Raises RunError, with the user's line, if it fails."""

    def close(self) -> None:
        """Free the caller's resources."""


class RemoteObject(ABC):
    """A proxy for a user's object in another process, in which its methods are called."""

    @abstractmethod
    def caller(self, label: str, part: Part) -> MethodCaller:
        """Return the object that calls the methods of the user's object, in the role `part`, for the flow `label`."""

    @abstractmethod
    def has(self, method: str) -> bool:
        """Return whether the user's object has this method; False until `caller` has opened a connection to it."""


def has_method(own: object, method: str) -> bool:
    """Return whether a user's class or object has a method, in this or another process; see `RemoteObject.has`."""
    return own.has(method) if isinstance(own, RemoteObject) else hasattr(own, method)


def caller(label: str, own: object, part: Part) -> MethodCaller:
    """Return the object that calls the methods of a user's class or object `own`, in this role, for flow `label`."""
    return own.caller(label, part) if isinstance(own, RemoteObject) else LocalCaller(label, own)


class LocalCaller:
    """Calls the methods of a user's object in this process; an error in one of them ends the run with a RunError."""

    def __init__(self, label: str, own: object) -> None:
        """Make an object of the user's class or object `own` for the flow `label`. Raises RunError if that fails."""
        self._label, self._name = label, own_name(own)
        try:
            self.object = new_object(own)
        except Exception as error:  # noqa: BLE001 (every error of the user's class is reported)
            self._raise_run_error(error, "__init__", "before it began")

    def has(self, method: str) -> bool:
        """Return whether the user's object has a method of this name."""
        return hasattr(self.object, method)

    def call(self, method: str, now_ns: int, *arguments: Any) -> None:
        """Call a method with `arguments` at the network time `now_ns`; raise RunError if it fails or computes for 10 s."""
        try:
            call_often_within(MAX_CALL_S, getattr(self.object, method), *arguments)
        except (Exception, SystemExit, TimeIsUpError) as error:  # noqa: BLE001 (the same)
            self._raise_run_error(error, method, f"at {now_ns / NS_PER_S:.4g} s", _parameters(arguments))

    def value(self, method: str, **parameters: Any) -> Any:
        """Return the value of a method, called with arguments by position, which have the names of its parameters;
        raise RunError if it fails or computes for 10 s.
        """
        try:
            return call_within(MAX_CALL_S, getattr(self.object, method), *parameters.values())
        except (Exception, SystemExit, TimeIsUpError) as error:  # noqa: BLE001 (the same)
            arguments = ", ".join(f"{name}={short_repr(value)}" for name, value in parameters.items())
            self._raise_run_error(error, method, f"when called with {arguments}", tuple(parameters))

    def close(self) -> None:
        """Do nothing: a local caller has no resources."""

    def _raise_run_error(
        self, error: BaseException, method: str, moment: str, parameters: Sequence[str] = ()
    ) -> NoReturn:
        """Raise RunError with the reason why the call of `method`, which has these `parameters`, ended the run; `moment` says
        at which time or with which arguments it was called.
        """
        traced = traceback.extract_tb(error.__traceback__)
        frames = [each for each in traced if not is_own_file(each.filename)]
        line = f" In line {frames[-1].lineno}: {frames[-1].line}" if frames and frames[-1].line else ""
        if isinstance(error, TimeIsUpError):
            reason = f"it did not return within {MAX_CALL_S:g} s of computing"
        elif isinstance(error, NetlabError):
            reason = str(error).rstrip(".")
        else:
            reason = _attribute_explanation(error) or f"{type(error).__name__}: {error}".rstrip(": .")
            if isinstance(error, TypeError) and not frames:
                reason += f"; write def {method}({', '.join(['self', *parameters])})"
        reason += "" if reason.endswith("?") else "."
        raise RunError(f"{self._label}: {self._name}.{method} ended the run {moment}: {reason}{line}") from None


def _attribute_explanation(error: BaseException) -> str:
    """Return an explanation if the user's code used an attribute that netlab's object lacks, else ""."""
    if type(error) is AttributeError and str(error) == "can't set attribute":
        return "the fields of an acknowledgement or a loss can be read, not set"
    # Until Python 3.12 an error in setting a field does not have its object.
    found = isinstance(error, AttributeError) and re.match(r"'(\w+)' object has no attribute '(\w+)'", str(error))
    owner = getattr(error, "obj", None)
    is_netlabs = owner is None or type(owner).__module__.partition(".")[0] in PACKAGES
    if not found or found[1] not in NAMES or not is_netlabs:
        return ""
    return f"{PARAMETERS[found[1]]}.{found[2]} is unknown: {one_of(found[2], NAMES[found[1]])}"


def _parameters(arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of a method's parameters as in the documentation, from the arguments `arguments`."""
    kinds = [type(each).__name__ for each in arguments]
    return ("now_s", "data")[: len(arguments)] if kinds[:1] == ["float"] else tuple(PARAMETERS[kind] for kind in kinds)
