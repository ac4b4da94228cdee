"""The network fence around the tests."""

import socket
import subprocess
import sys

import pytest

# Its class cannot be imported: Python loaded the module as `sitecustomize`, under another name.
FENCE_ERROR, MESSAGE = AssertionError, "a test tried to reach"
OUTSIDE = ("192.0.2.1", 9)  # an IP address reserved for documentation


@pytest.mark.parametrize(
    "connect",
    [
        lambda sock: sock.connect(OUTSIDE),
        lambda sock: sock.connect_ex(OUTSIDE),
        lambda sock: sock.sendto(b"x", OUTSIDE),
        lambda sock: sock.sendmsg([b"x"], [], 0, OUTSIDE),
        lambda _: socket.getaddrinfo("oracle.example", 443),
        lambda _: socket.gethostbyname("oracle.example"),
        lambda _: socket.gethostbyaddr("192.0.2.1"),
    ],
)
def test_no_test_reaches_beyond_loopback(connect):
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(FENCE_ERROR, match=MESSAGE):
        connect(sock)


def test_no_subprocess_of_a_test_reaches_beyond_loopback():
    program = f"import socket; socket.socket().connect({OUTSIDE})"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert b"OutsideWorldError" in run.stderr


def test_loopback_is_reachable():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
