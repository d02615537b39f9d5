"""Run the library kernel's program as WebAssembly next to Pyodide, in the same worker of the browser.

There are no threads: the program runs within `listen`, until it has read all requests. Data is exchanged in a shared
buffer, because passing an object between Python and JavaScript takes several times as long as a call.
"""

import functools
from importlib import resources
from pathlib import Path
from typing import Any

from pyodide.code import run_js  # type: ignore[import-not-found]
from pyodide.ffi import create_proxy, to_js  # type: ignore[import-not-found]

from netlab_engines.library.kernel_program import OnAnswers
from netlab_engines.protocol.session import OnWait

BUFFER_BYTES = 1 << 16
START = """(host, module, buffer, onOutput) => {
  let view = buffer.getBuffer("u8");
  const seen = () => {
    // The view is empty after Python's memory has grown; get a new one.
    if (!view.data.length) {
      view.release();
      view = buffer.getBuffer("u8");
    }
    return view.data;
  };
  const program = host.start(module, (data) => {
    let at = 0;
    do {
      const part = data.subarray(at, (at += view.shape[0]));
      seen().set(part);
      if (!onOutput(part.length)) throw new Error("netlab stops the program");
    } while (at < data.length);
  });
  return { run: program.run, send: (bytes) => program.send(seen().subarray(0, bytes)), close: () => view.release() };
}"""


class BrowserProgram:
    """The library kernel's program as WebAssembly in the browser's worker, next to Pyodide; see
    `kernel_program.KernelProgram`.
    """

    confined = True

    def __init__(self, path: Path) -> None:
        """Load the WebAssembly module in the file `path` in the browser's worker; it runs only within `listen`."""
        self._buffer = bytearray(BUFFER_BYTES)
        self._proxies = [create_proxy(each) for each in (self._buffer, self._on_output)]
        self._module: Any = run_js(START)(_host(), _compile_module(path, path.stat().st_mtime_ns), *self._proxies)
        # Keep the function, because each look-up makes a new object.
        self._send = self._module.send
        self._unread = b""
        self._on_answers: OnAnswers | None = None
        self._on_wait: OnWait | None = None
        self._error: BaseException | None = None
        self._ending = ""

    def send(self, requests: bytes) -> None:
        """Give the program requests, as bytes of whole frames; it reads them within the next `listen`."""
        for at in range(0, len(requests), BUFFER_BYTES):
            part = requests[at : at + BUFFER_BYTES]
            self._buffer[: len(part)] = part
            self._send(len(part))

    def listen(self, on_answers: OnAnswers, on_wait: OnWait | None) -> None:
        """Run the program and pass its answers, as bytes, to `on_answers` until the program has read all requests or
        has ended. After `on_answers` returned True the program runs on, and its answers are kept for the next call; if
        kept answers already make it return True, the program is not run. `on_wait` is called at each answer (None:
        nothing is). An exception of either ends the program and is raised.
        """
        self._on_answers, self._on_wait, self._error = on_answers, on_wait, None
        unread, self._unread = self._unread, b""
        if unread and on_answers(unread):
            self._on_answers = None
        if self._on_answers is None or self._ending:
            return
        try:
            self._ending = self._module.run() or ""
        except Exception:
            if self._error is None:
                raise
            self._ending = "it was stopped"
            raise self._error from None

    def close(self) -> str:
        """Free the module and its buffers, and return how the program ended, as a part of a sentence such as "it was
        stopped"; may be called again.
        """
        if self._module is not None:
            self._module.close()
            self._module = self._send = None
            for proxy in self._proxies:
                proxy.destroy()
        return self._ending or "it was stopped"

    def _on_output(self, count: int) -> bool:
        """Pass the answers in the first `count` bytes of the shared buffer to `on_answers`, or keep them for the next
        `listen` if it has returned True; called by JavaScript when the program writes, after `on_wait`. Return False if
        the program must stop, because one of the two raised an exception, which `listen` raises.
        """
        # Do not raise here: Pyodide would print the exception (sys.excepthook) even if it is caught later.
        try:
            if self._on_wait is not None:
                self._on_wait()
            data = bytes(self._buffer[:count])
            if data and self._on_answers is None:
                self._unread += data
            elif data and self._on_answers and self._on_answers(data):
                self._on_answers = None
        except BaseException as error:  # noqa: BLE001 (it is raised in listen)
            self._error = error
        return self._error is None


@functools.cache
def _host() -> Any:
    """Return the JavaScript object of host.js that starts the module; made once."""
    return run_js(resources.files("netlab_engines.library").joinpath("javascript/host.js").read_text(encoding="utf-8"))


@functools.cache
def _compile_module(path: Path, _mtime_ns: int) -> Any:
    """Return the compiled WebAssembly module in the file `path`, a JavaScript object; kept for the file's modification
    time `_mtime_ns` in ns.
    """
    return run_js("(code) => new WebAssembly.Module(code)")(to_js(path.read_bytes()))
