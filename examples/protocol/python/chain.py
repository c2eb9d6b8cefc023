"""A service of a chain: chain.py PORT NEXT_URL[,NEXT_URL...] ATTEMPTS.

Calls each NEXT_URL within one retry. With "-" it is dead, and with "~" every second request succeeds.
A fourth argument, "plain" or "lossy", lets it ignore the field, or lose that of its answers.
"""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import retry_context

port, following, attempts = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
count = 0
kind, nothing, write = sys.argv[4:], retry_context.parse(None), retry_context.write
if kind == ["plain"]:
    retry_context.parse, retry_context.write = lambda value: nothing, lambda *args, **said: None
elif kind == ["lossy"]:
    retry_context.write = lambda *request, **answer: write(*request) if request else None


def call():
    failures = []
    for url in following.split(","):
        try:
            retry_context.send(url).close()
        except retry_context.CallFailed as failure:
            failures.append(failure)
    if failures:
        raise failures[-1]


class Handler(BaseHTTPRequestHandler):
    @retry_context.served
    def do_GET(self, answer):
        global count
        status, body = 200, b""
        if self.path == "/count":
            body = str(count).encode()
        elif following in "-~":
            count += 1
            status = 200 if following == "~" and count % 2 == 0 else 503
        else:
            try:
                retry_context.retry("call", attempts, call, base=0.001)
            except retry_context.CallFailed:
                status = 503
        self.send_response(status)
        if value := answer():
            self.send_header(retry_context.FIELD, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
print(server.server_port, flush=True)
server.serve_forever()
