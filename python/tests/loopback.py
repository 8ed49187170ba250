"""A small server for tests that need other answers than a model's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Recorded:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form."""
        return dict(parse_qsl(self.body.decode()))


class Loopback:
    """Where the server is, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Recorded] = []


@contextmanager
def loopback(answer: Callable[[Recorded], tuple[int, str]]) -> Iterator[Loopback]:
    """A server that answers each request with a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            recorded = Recorded(self.command, self.path, headers, self.rfile.read(length))
            server.requests.append(recorded)
            status, body = answer(recorded)
            self.send_response(status)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_PUT = respond

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Loopback(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
