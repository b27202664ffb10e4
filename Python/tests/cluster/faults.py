"""A proxy before an S3 server, which does to drawn requests what networks and servers do."""

import http.client
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KINDS = ("500", "503", "cut before", "cut within", "lies about length", "answer lost")


class Proxy:
    def __init__(self, port, seed, share):
        self.random, self.share, self.done, self.lock = random.Random(seed), share, {}, threading.Lock()
        self.expired = self.skewed = False
        # By the end of an object's name: so many times it is handed on with another byte in it.
        self.turned = {}
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                kind = proxy.draw()
                if kind == "500" or kind == "503":
                    extra = {"Retry-After": "1"} if kind == "503" else {}
                    code = "SlowDown" if kind == "503" else "InternalError"
                    return self.answer(int(kind), extra, f"<Error><Code>{code}</Code></Error>".encode())
                if proxy.expired:
                    return self.answer(400, {}, b"<Error><Code>ExpiredToken</Code></Error>")
                if proxy.skewed:
                    return self.answer(403, {}, b"<Error><Code>RequestTimeTooSkewed</Code></Error>")
                if kind == "cut before":
                    return self.hang_up()
                server = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                server.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() != "connection"})
                said = server.getresponse()
                data = said.read()
                if kind == "answer lost":
                    # What was asked for is done.
                    return self.hang_up()
                for name in proxy.turned:
                    if self.path.endswith(name) and data and proxy.turned[name] > 0:
                        proxy.turned[name], data = proxy.turned[name] - 1, bytes([data[0] ^ 1]) + data[1:]
                headers = {k: v for k, v in said.getheaders() if k.lower() not in ("connection", "transfer-encoding", "content-length", "server", "date")}
                declared = int(said.getheader("Content-Length") or len(data)) if self.command == "HEAD" else len(data)
                if kind in ("cut within", "lies about length") and self.command != "HEAD" and data:
                    self.answer(said.status, headers, data[: len(data) // 2], declared if kind == "cut within" else len(data) + 7)
                    return self.hang_up()
                self.answer(said.status, headers, b"" if self.command == "HEAD" else data, declared)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_one

            def answer(self, status, headers, data, length=None):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data) if length is None else length))
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()

            def hang_up(self):
                self.close_connection = True
                self.connection.close()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def draw(self):
        with self.lock:
            if self.random.random() >= self.share:
                return None
            kind = self.random.choice(KINDS)
            self.done[kind] = self.done.get(kind, 0) + 1
            return kind

    def close(self):
        self.server.shutdown()
        self.server.server_close()
