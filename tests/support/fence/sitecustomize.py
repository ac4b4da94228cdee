"""Blocks all network access except loopback, in tests and in Python programs that they start.

Python imports `sitecustomize` from PYTHONPATH at start-up, so child processes load it, too. In the
test process conftest.py imports it.
"""

import ipaddress
import os
import sys


class OutsideWorldError(AssertionError):
    pass


# The position of the address or host name in the arguments of each audit event.
_ADDRESS = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1}
_HOST = {"socket.getaddrinfo": 0, "socket.gethostbyname": 0, "socket.gethostbyaddr": 0}


def _is_local(host: object) -> bool:
    if host in (None, "", "localhost", b"localhost", os.uname().nodename):
        return True
    try:
        text = host.decode() if isinstance(host, bytes) else str(host)
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def _block_network(event: str, arguments: tuple) -> None:
    """An audit hook, which sees every connection and name look-up of any library."""
    if event in _ADDRESS:
        address = arguments[_ADDRESS[event]]
        host = address[0] if isinstance(address, tuple) else None  # a path: a Unix socket
    elif event in _HOST:
        host = arguments[_HOST[event]]
    else:
        return
    if not _is_local(host):
        raise OutsideWorldError(f"a test tried to reach {host!r}")


sys.addaudithook(_block_network)
