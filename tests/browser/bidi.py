"""Browsers driven as a person does, by mouse and keys, over WebDriver BiDi (W3C): Debian's Chromium and Firefox.

Firefox speaks the protocol itself, Chromium by chromedriver. No library that does both is without a browser of its own.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

from tests.browser import chromium

DRIVER = shutil.which("chromedriver")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
FIREFOX_PREFERENCES = {
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "app.update.auto": False,
    "focusmanager.testmode": True,  # the page has the focus also where the window has not
}
WIDTH, HEIGHT = 1366, 768
DIALOG = "document.querySelector('.jp-Dialog')?.textContent ?? ''"
"""The text of a dialog that takes all clicks and keys, in JavaScript."""
GUARD = '"$@" & exec >&- 2>&-; read _; kill -s KILL 0'
"""A program for the shell that runs the words behind it, and kills all of its group when its standard input closes: no browser
outlives a test's process that is killed, as pytest-timeout and a second Ctrl-C do it.
"""
STEP_S = 0.1
PATIENCE_S = 120
DOUBLE_CLICK_MS = 500
"""The longest time between two presses that browsers take for a double-click."""
DOUBLE_CLICK_TRIES = 30
MISSING = {
    "chromium": "" if chromium.PROGRAM and DRIVER else "needs Debian's chromium: apt install chromium chromium-driver",
    "firefox": "" if FIREFOX else "needs Debian's firefox-esr: apt install firefox-esr",
}
"""Why a browser cannot be used here, by its name; "" where it can."""
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008", "Tab": "\ue004", "Space": " ", "Control": "\ue009"}


class Browser:
    """A window of a browser with one page."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket = socket
        self._count = 0
        self._tab = self._ask("browsingContext.getTree")["contexts"][0]["context"]
        if not self.value("document.hasFocus()"):
            # Without a screen Firefox gives the focus to its second window and never to its first.
            self._tab = self._ask("browsingContext.create", type="window")["context"]
        self.resize(WIDTH, HEIGHT)

    def resize(self, width: int, height: int) -> None:
        """Give the page this size in pixels."""
        # A page in a tab that is not in front draws nothing, so JupyterLab does not lay out its parts anew.
        self._ask("browsingContext.activate", context=self._tab)
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._tab, viewport=size, devicePixelRatio=None)

    def go(self, url: str) -> None:
        """Open an address; return when the page has been read, before its scripts are done."""
        self._ask("browsingContext.navigate", context=self._tab, url=url, wait="interactive")

    def reload(self) -> None:
        """Load the page again."""
        self._ask("browsingContext.reload", context=self._tab, wait="interactive")

    def value(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; a promise is awaited.

        Raises AssertionError when it throws.
        """
        text = f"Promise.resolve().then(() => ({expression})).then(value => JSON.stringify(value ?? null))"
        message = self._ask("script.evaluate", expression=text, target={"context": self._tab}, awaitPromise=True)
        assert message["type"] == "success", f"{expression}: {message['exceptionDetails']['text']}"
        return json.loads(message["result"]["value"])

    def until(self, expression: str, patience_s: float = PATIENCE_S, shown: str = DIALOG) -> Any:
        """Wait until an expression is true; return its value.

        Raises AssertionError when it is not after so many seconds of sleep, with the value of the expression `shown`.
        """
        for _ in range(round(patience_s / STEP_S)):
            try:
                found = self.value(expression)
                if found or found == {}:  # an element has no JSON
                    return found
            except (AssertionError, ProtocolError):  # the page is on its way
                pass
            time.sleep(STEP_S)
        raise AssertionError(f"not so after {patience_s:g} s: {expression}; {shown} is {self.value(shown)!r}")

    def click(self, selector: str, times: int = 1) -> None:
        """Click on the middle of the part of the page's first such element that is in sight, so many times at once."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        place = self.value(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            const middle = (low, high, most) => Math.round((Math.max(low, 0) + Math.min(high, most)) / 2);
            return {{x: middle(box.left, box.right, innerWidth), y: middle(box.top, box.bottom, innerHeight)}};
        }})()""")
        down_up = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] * times
        self._act("pointer", [{"type": "pointerMove", **place}, *down_up])

    def double_click(self, selector: str, between: str = "0") -> None:
        """Double-click on the middle of the page's first such element, and evaluate an expression between the two clicks.

        The driver sends a press when the page has handled the one before, which on a busy machine is too late for a double-click:
        such a pair is two clicks, as from a slow hand, and is made again.
        """
        for _ in range(DOUBLE_CLICK_TRIES):
            self.value(f"""(() => {{
                const times = globalThis.presses = [];
                addEventListener("pointerdown", ({{ timeStamp }}) => times.push(timeStamp), {{ capture: true, once: true }});
                addEventListener("pointerup", () => ({between}), {{ once: true }});
                addEventListener("pointerup", ({{ timeStamp }}) => times.push(timeStamp), true);
            }})()""")
            self.click(selector, times=2)
            first, *_, last = self.until("presses.length >= 3 && presses")
            if last - first < DOUBLE_CLICK_MS:
                return
            time.sleep(2 * DOUBLE_CLICK_MS / 1000)
            if not self.value(f"!!document.querySelector({json.dumps(selector)})"):
                return  # the second press came in time, only its release did not
        raise AssertionError(
            f"{DOUBLE_CLICK_TRIES} times the second click came more than {DOUBLE_CLICK_MS} ms after the first"
        )

    def type(self, text: str) -> None:
        """Press and release the key of each character."""
        self._act("key", [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")])

    def press(self, *names: str) -> None:
        """Press keys by their names (`KEYS`) together."""
        keys = [KEYS.get(name, name) for name in names]
        down = [{"type": "keyDown", "value": key} for key in keys]
        self._act("key", [*down, *({"type": "keyUp", "value": key} for key in reversed(keys))])

    def picture(self, path: Path) -> Path:
        """Write what the window shows as PNG."""
        text = self._ask("browsingContext.captureScreenshot", context=self._tab)
        path.write_bytes(base64.b64decode(text["data"]))
        return path

    def _act(self, kind: str, actions: Sequence[dict[str, Any]]) -> None:
        # A tab of Firefox's own that opens meanwhile takes the focus, and a notebook without it opens no text.
        self._ask("browsingContext.activate", context=self._tab)
        source = {"type": kind, "id": kind, "actions": list(actions)}
        self._ask("input.performActions", context=self._tab, actions=[source])

    def _ask(self, method: str, **words: Any) -> Any:
        self._count += 1
        words = {name: value for name, value in words.items() if value is not None}
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": words}))
        while (answer := json.loads(self._socket.recv())).get("id") != self._count:
            pass
        if answer["type"] == "error":
            raise ProtocolError(f"{method}: {answer['message']}")
        return answer["result"]


class ProtocolError(Exception):
    """The browser did not do what it was asked for; the text says what it said."""


@contextmanager
def start_browser(name: str, patience_s: float = PATIENCE_S) -> Iterator[Browser]:
    """Start "chromium" or "firefox" without a window on the screen, in a profile of its own; end it afterwards.

    An answer of the browser may take `patience_s` of wall-clock time.
    """
    with tempfile.TemporaryDirectory(prefix="netlab-browser-", ignore_cleanup_errors=True) as folder:
        start = {"chromium": _chromium, "firefox": _firefox}[name]
        with start(Path(folder), patience_s) as socket:
            yield Browser(socket)


@contextmanager
def _firefox(profile: Path, patience_s: float) -> Iterator[websocket.WebSocket]:
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in FIREFOX_PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [str(FIREFOX), "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with _running_program(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        place = _first_match(process, process.stderr, r"ws://\S+")
        socket = websocket.create_connection(f"{place}/session", suppress_origin=True, timeout=patience_s)
        socket.send(json.dumps({"id": 0, "method": "session.new", "params": {"capabilities": {}}}))
        assert json.loads(socket.recv())["type"] == "success"
        yield socket


@contextmanager
def _chromium(profile: Path, patience_s: float) -> Iterator[websocket.WebSocket]:
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--force-device-scale-factor=1",
    ]
    options += [f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}"]
    chrome = {"binary": chromium.PROGRAM, "args": options}
    expected = {"capabilities": {"alwaysMatch": {"webSocketUrl": True, "goog:chromeOptions": chrome}}}
    with _running_program([str(DRIVER), "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        created = _new_session(_first_match(process, process.stdout, r"successfully on port (\d+)"), expected)
        yield websocket.create_connection(
            created["capabilities"]["webSocketUrl"], suppress_origin=True, timeout=patience_s
        )


@contextmanager
def _running_program(command: list[str], **streams: int) -> Iterator[subprocess.Popen[str]]:
    """Run a program in a group of processes of its own, which ends with this block, or with this process if that is killed."""
    words = ["sh", "-c", GUARD, "sh", *command]
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True, start_new_session=True, **streams) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _new_session(port: str, wanted: Any) -> Any:
    """Ask chromedriver for a browser with these capabilities; return its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE_S)
    try:
        connection.request("POST", "/session", json.dumps(wanted))
        return json.load(connection.getresponse())["value"]
    finally:
        connection.close()


def _first_match(process: subprocess.Popen[str], stream: Any, pattern: str) -> str:
    """The first match in what a program says; what it says afterwards is read and thrown away, or it would stop."""
    found = next((match for line in stream if (match := re.search(pattern, line))), None)
    if found is None:
        raise RuntimeError(f"{process.args!r} does not tell where it listens")
    threading.Thread(target=stream.read, daemon=True).start()
    return found[1] if found.groups() else found[0]
