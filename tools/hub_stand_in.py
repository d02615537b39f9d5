"""Start `jupyterhub-singleuser` as a JupyterHub does, with a stand-in for the hub, and send it a browser's requests.

It runs in the image (tools/image.py) with the image's own Python; standard library only. A stranger must be sent to the
hub to log in, a student must get JupyterLab on the first chapter. Its argument is how long to wait for the start, in s.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from typing import Any

HUB_PORT, PORT = 8081, 8888
PREFIX = "/user/ann/"
TOKEN = "students-token"  # noqa: S105 (of the stand-in, for nothing else)
PATIENCE_S = float(sys.argv[1])
FIRST_PAGE = "/lab/tree/netlab-chapters/00_start_here.ipynb"


class Hub(BaseHTTPRequestHandler):
    """The answers of a hub that a student's server asks for: the hub's version, and who has a token."""

    def do_GET(self) -> None:
        known = self.headers.get("Authorization", "").endswith(TOKEN)
        if self.path.rstrip("/") == "/hub/api":
            self._answer(200, {"version": version("jupyterhub")})
        elif self.path.startswith("/hub/api/user") and known:
            scopes = ["access:servers!user=ann", "read:users:name!user=ann"]
            self._answer(200, {"kind": "user", "name": "ann", "admin": False, "groups": [], "scopes": scopes})
        else:
            self._answer(403, {"status": 403, "message": "forbidden"})

    def do_POST(self) -> None:
        self._answer(200, {})

    def _answer(self, status: int, words: dict[str, Any]) -> None:
        data = json.dumps(words).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: Any) -> None:
        """Say nothing of each request."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_words: Any) -> None:
        return None


def ask(path: str, *, known: bool) -> tuple[int, str, str]:
    """Return the status, the target of a redirection, and the beginning of the server's answer."""
    headers = {"Authorization": f"token {TOKEN}"} if known else {}
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", headers=headers)
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=PATIENCE_S / 3) as answer:
            return answer.status, "", answer.read(4000).decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("Location", ""), error.read(4000).decode(errors="replace")


def main() -> int:
    hub = ThreadingHTTPServer(("127.0.0.1", HUB_PORT), Hub)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    environment = {
        "JUPYTERHUB_API_TOKEN": TOKEN,
        "JUPYTERHUB_API_URL": f"http://127.0.0.1:{HUB_PORT}/hub/api",
        "JUPYTERHUB_BASE_URL": "/",
        "JUPYTERHUB_CLIENT_ID": "jupyterhub-user-ann",
        "JUPYTERHUB_HOST": "",
        "JUPYTERHUB_OAUTH_CALLBACK_URL": f"{PREFIX}oauth_callback",
        "JUPYTERHUB_OAUTH_SCOPES": '["access:servers!user=ann"]',
        "JUPYTERHUB_SERVICE_PREFIX": PREFIX,
        "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{PORT}{PREFIX}",
        "JUPYTERHUB_USER": "ann",
    }
    began_s = time.monotonic()
    server = subprocess.Popen(["jupyterhub-singleuser"], env={**os.environ, **environment})
    try:
        while True:
            try:
                ask(f"{PREFIX}api", known=False)
                break
            except OSError:
                if server.poll() is not None or time.monotonic() - began_s > PATIENCE_S:
                    print(f"jupyterhub-singleuser did not answer; its status is {server.poll()}.")
                    return 1
                time.sleep(0.2)
        print(f"It answers after {time.monotonic() - began_s:.1f} s.")
        asked = {
            "a stranger is sent to the hub": (ask(f"{PREFIX}lab", known=False), (302, "/hub/api/oauth2/authorize")),
            "a student is sent to the first chapter": (ask(PREFIX, known=True), (302, FIRST_PAGE)),
            "a student gets JupyterLab": (ask(f"{PREFIX}lab", known=True), (200, "jupyter-config-data")),
            "the first chapter is there": (
                ask(f"{PREFIX}api/contents/netlab-chapters/00_start_here.ipynb?content=0", known=True),
                (200, '"writable": true'),
            ),
        }
        wrong = 0
        for what, ((status, leads_to, said), (wanted, words)) in asked.items():
            right = status == wanted and words in leads_to + said
            wrong += not right
            print(f"{what}: {'yes' if right else f'no ({status} {leads_to} {said[:500]})'}")
        return 1 if wrong else 0
    finally:
        # Jupyter's handler of the signal writes a line, and cannot while the last request's line is being written.
        time.sleep(0.5)
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=PATIENCE_S / 3)


if __name__ == "__main__":
    sys.exit(main())
