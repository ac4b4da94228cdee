"""No test reaches anything but loopback, nor does any Python program that a test starts.

Python imports this by its name from PYTHONPATH, in children too; conftest does
in the test process itself.
"""

import ipaddress
import os
import sys


class OutsideWorldError(AssertionError):
    pass


# Where the host stands in the arguments of each audit event.
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


def _refuse_outside_world(event: str, arguments: tuple) -> None:
    """An audit hook: it sees every connection and look-up, whichever library asks."""
    if event in _ADDRESS:
        address = arguments[_ADDRESS[event]]
        host = address[0] if isinstance(address, tuple) else None  # a path: a local socket
    elif event in _HOST:
        host = arguments[_HOST[event]]
    else:
        return
    if not _is_local(host):
        raise OutsideWorldError(f"a test tried to reach {host!r}")


sys.addaudithook(_refuse_outside_world)
