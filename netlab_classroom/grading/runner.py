"""Run a student's code: provided cells first, then the answer, then the calls that the grader requests.

Untrusted: student code can alter anything in this process. The grader outside decides on points.
"""

import ast
import contextlib
import gc
import importlib
import inspect
import json
import linecache
import operator
import os
import sys
import types
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netlab_classroom.grading import callee, plain

LIGHT_IMPORTS = ("netlab_engines.library.control", "netlab_user_code.delivery", "netlab.traffic.own")
EARLY_IMPORTS = (
    "numpy",
    "pandas",
    "netlab.measure.results",
    "netlab.runs.scenario",
    "netlab.network.topologies",
    "netlab.theory",
    "netlab_course.checks",
)
OWN_FIELDS = {"tcp": ("congestion",), "program": ("sender", "receiver")}
MAX_TEXT_CHARACTERS = 400
ANSWER_NAME = "<your answer>"
ANSWER, READY = b"R", b"B"
"""The first byte of a message to the supervisor: the final answer, or the cell is ready."""

Server = Callable[[callee.MessageStream, Sequence[Any]], bytes]


def ask(
    stream: callee.MessageStream, request: Mapping[str, Any], objects: Sequence[Any] = (), serve: Server = callee.serve
) -> Any:
    """Send the grader a request (plain data with a "kind") and return the value of its reply (data of JSON); until the
    reply comes, `serve` answers the grader's calls of the student's `objects`. Raises NetlabError when the grader
    refuses, with its reason.
    """
    from netlab.base.errors import NetlabError

    stream.send(callee.ASKED, json.dumps(request).encode())
    answer = json.loads(serve(stream, objects))
    if "refused" in answer:
        raise NetlabError(answer["refused"])
    return answer["value"]


class CheckStandIn:
    """Replacement for the check of an exercise without the answers: it accepts every call and knows nothing."""

    at_an_answer = False

    def __call__(self, *_answers: object) -> None:
        """Accept any answers and do nothing: an answer is checked outside the sandbox."""

    def take(self, own: Any, fallback: Any = None) -> Any:
        """Return the student's own value `own`; but if it is the stub of an exercise and there is a fallback, return
        the fallback (None: there is none).
        """
        from netlab_course.answers import is_stub

        return fallback if is_stub(own) and fallback is not None else own

    def hint(self) -> None:
        """Do nothing: a check in the sandbox has no hints."""

    def __getattr__(self, name: str) -> Any:
        """Return None for any other attribute of a check while provided cells run; raise AttributeError while the
        student's answer runs.
        """
        if CheckStandIn.at_an_answer:
            raise AttributeError(f"checks know no answers here, so none has the attribute {name!r}")
        # Provided cells pass it to `take`, which does not need it here.
        return None


class ChecksStandIn:
    """Replacement for the checks of a chapter: each attribute is a `CheckStandIn`."""

    def __init__(self, *_own: object) -> None:
        """Accept the own numbers that a chapter passes to its checks, and do nothing."""

    def __getattr__(self, _name: str) -> Any:
        """Return a new CheckStandIn for any name of an exercise."""
        return CheckStandIn()


def prepare(exercises: Sequence[Mapping[str, Any]]) -> None:
    """Import the modules that the exercises need (dictionaries with "given" and "answer", the sources of their code;
    all of one chapter and one student, or without "topic" for the contest) before processes are forked for them, and
    replace checks, panels and runs of netlab in this process by those of this module. Raises SyntaxError for a "given"
    source that is not valid.
    """
    # After a fork, a garbage collection would copy every page of the imported objects.
    gc.disable()
    alone = [exercise for exercise in exercises if "topic" not in exercise]
    for name in LIGHT_IMPORTS if alone else EARLY_IMPORTS:
        importlib.import_module(name)
    # Replace functions before the chapter is imported: its modules may keep references. Runs are made outside.
    _replace_module("netlab.runs.experiment", run=RemoteLaboratory.run)
    _replace_module("netlab.runs.sweeps", sweep=RemoteLaboratory.sweep)
    if alone:
        # A class of the contest may use a chapter's own modules, but no chapter is opened.
        _replace_module("netlab_course.chapters.opening", opener=_closed_chapter)
    if exercises and not alone:
        from netlab.traffic import program, tcp

        # The grader finds runs by their scenarios, so different objects of a class need different names there.
        tcp.own_name = program.own_name = _distinct_name  # type: ignore[attr-defined]
        _stand_in(exercises[0])
    for name in sorted(
        {name for exercise in exercises for source in exercise["given"] for name in _imported_modules(source)}
    ):
        # Names that are not modules are imported when the cell runs.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    gc.enable()


def _closed_chapter(package: str) -> Callable[..., Any]:
    """Return a replacement for the function `begin` of the chapter's package with this name, for the contest, where no
    chapter is opened: it raises NetlabError.
    """
    from netlab.base.errors import NetlabError

    def begin(*_token: object) -> None:
        """Raise NetlabError, which tells the student to leave out the call that opens a chapter."""
        raise NetlabError(f"{package}.begin() opens a chapter, which a contest does not need: leave it out")

    return begin


def _distinct_name(value: object) -> str:
    """Return the name of a student's class or object, followed by a checksum of an object's attributes, so that
    different objects of a class have different names.
    """
    from netlab.traffic.own import own_name

    inside = vars(value) if hasattr(value, "__dict__") and not isinstance(value, type) else {}
    mark = f"_{zlib.crc32(repr(inside).encode('utf-8', 'replace')):08x}" if inside else ""
    return own_name(value) + mark


def _replace_module(name: str, **content: Any) -> None:
    """Replace the module with this full name, also as an attribute of its package, by a new one that has only the names
    in `content`.
    """
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module
    home, _, last = name.rpartition(".")
    if home in sys.modules:
        setattr(sys.modules[home], last, module)


def _imported_modules(source: str) -> list[str]:
    """Return the full names of the modules that a Python source imports at its top level, or may import: for `from a
    import b`, both "a" and "a.b". Raises SyntaxError for source that is not valid.
    """
    found: list[str] = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import):
            found += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            found += [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return found


def work(exercise: Mapping[str, Any], writer: int, descriptor: int) -> None:
    """Run an exercise (a dictionary with the sources "given" and "answer", the "name" that the answer defines, "calls"
    of a function, and the chapter's "topic", "token" and "numbers") and write its outcome (see `_outcome`) as a line of
    JSON after ANSWER to the file descriptor `writer`; or, if the exercise "serves", answer the grader's calls of the
    class of that name. `descriptor` is the file of the guest's channel.
    """
    stream = callee.MessageStream(descriptor)
    if exercise.get("serves"):
        _serve(exercise, stream)
        return
    RemoteLaboratory.stream = stream
    left = memoryview(ANSWER + json.dumps(_outcome(exercise, stream)).encode() + b"\n")
    while left:
        left = left[os.write(writer, left) :]


def _serve(exercise: Mapping[str, Any], stream: callee.MessageStream) -> None:
    """Run the exercise's code (the sources "given" and "answer"), tell the grader READY, and answer its calls of the
    class "name" that the code defines until the run is over; send FAILED with the reason instead if there is no such
    class. Messages go through the stream.
    """
    space: dict[str, Any] = {}
    failure = _execute(exercise, space)
    # Code after the class may fail: it is not part of the class.
    if exercise["name"] not in space:
        text = (failure or {}).get("error") or (failure or {}).get("provided") or f"it has no {exercise['name']}"
        stream.send(callee.FAILED, text.encode("utf-8", "replace"))
        return
    stream.send(callee.READY)
    callee.serve(stream, [space[exercise["name"]]])


def _execute(exercise: Mapping[str, Any], space: dict[str, Any]) -> dict[str, Any] | None:
    """Run the code of an exercise (the sources "given" of provided cells, then "answer", while netlab's functions in
    "same_as" are withheld), and put all names that it defines into `space` (none if a provided cell fails); return
    None, or a dict with the error as text by "provided" or "error", depending on whether a provided cell or the answer
    raised it.
    """
    sys.setrecursionlimit(1000)
    module = types.ModuleType("__main__" if "topic" in exercise else "handed_in")
    sys.modules[module.__name__] = module
    module.__dict__.update(space)
    try:
        for number, source in enumerate(exercise["given"]):
            exec(compile(source, f"<provided cell {number + 1}>", "exec"), module.__dict__)  # noqa: S102 (the instructor's own)
    except BaseException as error:  # noqa: BLE001 (the grader decides whether the student is responsible)
        return {"provided": _error_text(error)}
    RemoteLaboratory.graded = CheckStandIn.at_an_answer = True
    # Import all before the first is withheld: a chapter's settings may call netlab's own functions.
    for function in [_own_function(module, name) for module, name in exercise.get("same_as", ())]:
        function.__code__ = _refuse.__code__
    # Register the source, so that an error can quote its line.
    answer: str = exercise["answer"]
    linecache.cache[ANSWER_NAME] = (len(answer), None, answer.splitlines(keepends=True), ANSWER_NAME)
    try:
        exec(compile(answer, ANSWER_NAME, "exec"), module.__dict__)  # noqa: S102 (student code, in the sandbox)
    except BaseException as error:  # noqa: BLE001 (whatever a student's code raises is an answer to comment on)
        return {"error": _error_text(error)}
    finally:
        space.update(module.__dict__)
    return None


def _outcome(exercise: Mapping[str, Any], stream: callee.MessageStream) -> dict[str, Any]:
    """Run the code of an exercise and return its outcome for the grader, a dict: the encoded "value" of the exercise's
    "name" and, if that is callable, "calls", the results of the exercise's calls, or only the error as text by
    "provided" or "error". Requests of the code go through the stream.
    """
    space: dict[str, Any] = {}
    failure = _execute(exercise, space)
    if failure is not None:
        return failure
    if exercise["name"] not in space:
        return {"error": f"NameError: the cell gives no value to {exercise['name']}"}
    value = space[exercise["name"]]
    try:
        outcome: dict[str, Any] = {"value": plain.encode(value)}
    except BaseException as error:  # noqa: BLE001 (a student's object may raise in any method)
        return {"error": _error_text(error)}
    if callable(value):
        outcome["calls"] = [call_result(value, call, stream) for call in exercise["calls"]]
    return outcome


def _own_function(module: str, name: str) -> types.FunctionType:
    """Return netlab's function with this module and this qualified name, such as "Wifi.exchange_us", which would solve
    the exercise, so that it can be withheld under all its names.
    """
    function: types.FunctionType = inspect.unwrap(operator.attrgetter(name)(importlib.import_module(module)))
    return function


def _refuse(*_values: Any, **_named: Any) -> None:
    """Raise NetlabError, which tells the student to write the function instead of calling netlab's; its code replaces
    that of such functions.
    """
    from netlab.base.errors import NetlabError

    raise NetlabError("netlab's own function for this is the exercise: write yours out")


def call_result(function: Any, call: Mapping[str, Any], stream: callee.MessageStream) -> dict[str, Any]:
    """Return the encoded result of a student's function for one call (`call` has the arguments by name, or a transfer
    for the grader to make) as {"value": data}, or the error that it raises as {"error": text}; NotImplementedError
    counts as the value `...`. Requests to the grader go through the stream.
    """
    try:
        if callee.TRANSFER in call:
            # The grader outside records the result.
            ends = function.ends(call["window"])
            return {"value": plain.encode(ask(stream, {"kind": "transfer", **call}, ends, callee.serve_apart))}
        arguments = {name: _argument(given, stream) for name, given in call.items()}
        return {"value": plain.encode(function(**arguments))}
    except NotImplementedError:
        return {"value": plain.encode(...)}
    except BaseException as error:  # noqa: BLE001 (whatever a student's code raises is an answer to comment on)
        return {"error": _error_text(error)}


def _argument(given: Any, stream: callee.MessageStream) -> Any:
    """Return an argument of a call from its plain form `given`: for {"probe": number} a function that requests its
    value through the stream, for {"array": list} an array of NumPy, any other value itself.
    """
    if isinstance(given, dict) and "probe" in given:
        return _probe(given["probe"], stream)
    if isinstance(given, dict) and "array" in given:
        import numpy as np

        return np.array(given["array"])
    return given


def _probe(number: int, stream: callee.MessageStream) -> Callable[..., Any]:
    """Return a function of numbers that requests its value from the grader through the stream; `number` is the probe's
    index there.
    """
    from netlab.base.errors import NetlabError

    def probe(*values: Any, **named: Any) -> Any:
        """Return the probe's value, computed by the grader, for these positional and named numbers. Raises RuntimeError
        when the grader refuses.
        """
        try:
            given = [float(value) for value in values]
            return ask(
                stream,
                {
                    "kind": "probe",
                    "number": number,
                    "values": given,
                    "named": {name: float(value) for name, value in named.items()},
                },
            )
        except NetlabError as error:
            # Raise the same error as a probe in the notebook.
            raise RuntimeError(str(error)) from None

    return probe


class RemoteLaboratory:
    """Replacement for `nl.run` and `nl.sweep`: the grader outside makes the experiments."""

    stream: callee.MessageStream | None = None
    graded = False

    @classmethod
    def run(
        cls,
        topology: Any,
        *rest: Any,
        **more: Any,
    ) -> Any:
        """Request a run from the grader, with the arguments of `nl.run` (engine, progress and cancel are ignored), and
        return it as a Run; the grader's calls of the student's own classes in it are answered meanwhile. Raises
        NetlabError when the grader refuses, or no run can be made.
        """
        from netlab.base.errors import NetlabError
        from netlab.measure.results import Run
        from netlab.runs.scenario import Scenario
        from netlab.traffic.own import is_own

        if cls.stream is None:
            raise NetlabError("no experiments are made here, where others call your class")
        for name in ("engine", "progress", "cancel"):
            more.pop(name, None)
        scenario = Scenario.from_arguments(topology, *rest, **more)
        own = [
            (number, name, getattr(item, name))
            for number, item in enumerate(scenario.traffic)
            for name in OWN_FIELDS.get(item.kind, ())
            if is_own(getattr(item, name))
        ]
        request: dict[str, Any] = {"kind": "run", "scenario": scenario.to_dict(), "graded": cls.graded}
        if own:
            request["own"] = [[number, name, _distinct_name(each)] for number, name, each in own]
        return Run.from_dict(ask(cls.stream, request, [each for _, _, each in own]))

    @classmethod
    def sweep(cls, scenarios: Any, **_settings: Any) -> Any:
        """Request the runs of several scenarios from the grader, one after the other; return a dictionary of runs by
        label if the scenarios are given by label, else a list. Other settings are ignored. Raises NetlabError when the
        grader refuses one.
        """
        if isinstance(scenarios, Mapping):
            return {label: cls.run(scenario) for label, scenario in scenarios.items()}
        return [cls.run(scenario) for scenario in scenarios]


def _stand_in(exercise: Mapping[str, Any]) -> None:
    """Replace the modules of the chapter `exercise["topic"]`, so that the chapter opens with the encoded own numbers
    `exercise["numbers"]` of the student, and with replacements of its checks and its panel; `netlab.preflight` then
    returns "".
    """
    from netlab_course.own_numbers import StudentValues

    topic = exercise["topic"]
    numbers = plain.decode(exercise["numbers"])
    own = StudentValues({name: tuple(value) if isinstance(value, list) else value for name, value in numbers.items()})

    def opener(package: str) -> Callable[..., Any]:
        """Return the function `begin` of the chapter's package with this name; it returns the opened chapter, whatever
        the token.
        """
        settings = importlib.import_module(f"{package}.settings")
        opened = types.SimpleNamespace(
            topic=topic, token=exercise["token"], own=own, check=ChecksStandIn(), settings=settings, panel=_do_nothing
        )
        return lambda _token="": opened

    _replace_module(f"netlab_course.chapters.{topic}.check", Checks=ChecksStandIn)
    _replace_module(f"netlab_course.chapters.{topic}.panel", panel=_do_nothing)
    _replace_module("netlab_course.chapters.opening", opener=opener)
    setattr(importlib.import_module("netlab"), "preflight", lambda *_words, **_more: "")  # noqa: B010 (looked up when used)


def _do_nothing(*_words: Any, **_more: Any) -> None:
    """Do nothing with any arguments, in place of a chapter's panel: nobody sees a figure in the sandbox."""


def _error_text(error: BaseException) -> str:
    """Return an error as text: its type, its message of at most MAX_TEXT_CHARACTERS characters and, if it arose in the
    student's answer, the number of the line there.
    """
    where = ""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == ANSWER_NAME:
            where = f" (line {trace.tb_lineno} of the answer)"
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        where = f" (line {error.lineno} of the answer)"
    try:
        text = str(error)[:MAX_TEXT_CHARACTERS]
    except BaseException:  # noqa: BLE001 (an error's text may itself raise)
        text = ""
    return f"{type(error).__name__[:80]}: {text}{where}" if text else f"{type(error).__name__[:80]}{where}"
