"""The fence around the tests themselves."""

import socket

import pytest

from tests.conftest import OutsideWorldError


def test_no_test_reaches_beyond_loopback():
    with pytest.raises(OutsideWorldError):
        socket.getaddrinfo("oracle.example", 443)
    with socket.socket() as sock, pytest.raises(OutsideWorldError):
        sock.connect(("192.0.2.1", 9))


def test_loopback_is_within_reach():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
