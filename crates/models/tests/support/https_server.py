"""A server of MLflow's protocol behind TLS: python https_server.py CHAIN.pem KEY.pem

Says yes to whoever works more than 40 hours. Prints its port when it is ready.
"""

import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scoring(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply({})

    def do_POST(self):
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["dataframe_split"]
        hours = rows["columns"].index("hours")
        self.reply({"predictions": [int(row[hours] > 40) for row in rows["data"]]})

    def reply(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main(chain: str, key: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scoring)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
