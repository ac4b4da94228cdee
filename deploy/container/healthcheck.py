"""Exit code 0 where the process behind a socket, or at ORACLE_PORT, answers HTTP.

`healthcheck.py [SOCKET]`. Any status below 500 will do: the reader has no /healthz.
"""

import os
import sys

import httpx


def main() -> int:
    socket = sys.argv[1] if len(sys.argv) > 1 else None
    port = os.environ.get("ORACLE_PORT") or "8000"
    transport = httpx.HTTPTransport(uds=socket)
    with httpx.Client(transport=transport, timeout=4) as http:
        try:
            status = http.get(f"http://127.0.0.1:{port}/healthz").status_code
        except httpx.TransportError:
            return 1
    return int(status >= 500)


if __name__ == "__main__":
    sys.exit(main())
