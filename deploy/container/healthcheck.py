"""`healthcheck.py [SOCKET]`: exit code 0 if the process at the socket or ORACLE_PORT responds.

Any status below 500 counts as healthy, because the reader has no /healthz.
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
