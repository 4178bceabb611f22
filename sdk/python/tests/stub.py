"""A server that gives prepared answers, one for each request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """`cut` closes the connection instead of answering, `silent` leaves the caller waiting."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    silent: bool = False


@dataclass
class Stub:
    url: str
    # Method and path of each request.
    requests: list[str] = field(default_factory=list)


@contextmanager
def stub(*replies: Reply) -> Iterator[Stub]:
    """Answers the requests in turn; the last reply is repeated."""
    left = list(replies)
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            service.requests.append(f"{self.command} {self.path}")
            reply = left.pop(0) if len(left) > 1 else left[0]
            if reply.silent:
                ended.wait(10)
            if reply.cut or reply.silent:
                self.close_connection = True
                return
            text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service = Stub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
