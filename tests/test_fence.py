"""The fence around the tests themselves."""

import socket
import subprocess
import sys

import pytest

# The class has two names: the one by which we import it, and the one by which Python did.
FENCE, REFUSAL = AssertionError, "a test tried to reach"
OUTSIDE = ("192.0.2.1", 9)  # an address that is reserved for documentation


@pytest.mark.parametrize(
    "reach",
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
def test_no_test_reaches_beyond_loopback(reach):
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(FENCE, match=REFUSAL):
        reach(sock)


def test_nor_does_a_program_that_a_test_starts():
    program = f"import socket; socket.socket().connect({OUTSIDE})"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert b"OutsideWorldError" in run.stderr


def test_loopback_is_within_reach():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
