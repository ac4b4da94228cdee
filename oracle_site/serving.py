"""How `make serve` serves on this host, from the environment."""

import ipaddress
import os
from typing import NamedTuple

from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment

# For checkouts, which wait for Stripe, and whatever else is asked while regenerations wait.
OTHER_THREADS = 8


class Serving(NamedTuple):
    bind: str
    port: int
    processes: int
    threads: int  # of each process


def serving(env: Environment, *, regenerations: int) -> Serving:
    """`regenerations` is how many may be under way in a process, each in a thread."""
    bind = env.text(
        "ORACLE_BIND",
        "the address at which `make serve` listens; loopback is for a proxy on the same host",
        default="127.0.0.1",
    )
    try:
        ipaddress.ip_address(bind)
    except ValueError:
        raise ImproperlyConfigured(
            f"ORACLE_BIND must be an IP address such as 127.0.0.1 or 0.0.0.0, not {bind!r}."
        ) from None
    port = env.integer(
        "ORACLE_PORT", "the port of `make serve`", default=8000, at_least=1, at_most=65535
    )
    processes = env.integer(
        "ORACLE_WEB_PROCESSES",
        "web processes of `make serve` on this host; 0: one per core",
        default=0,
        at_least=0,
        at_most=256,
    )
    threads = env.integer(
        "ORACLE_WEB_THREADS",
        f"threads of each for all but cached verdicts; 0: {OTHER_THREADS} more than "
        "ORACLE_REGENERATIONS, which it must exceed",
        default=0,
        at_least=0,
        at_most=2000,
    )
    if threads and threads <= regenerations:
        raise ImproperlyConfigured(
            f"ORACLE_WEB_THREADS must be more than ORACLE_REGENERATIONS, which is {regenerations}: "
            "else regenerations could keep all other readers waiting."
        )
    return Serving(bind, port, processes or cores(), threads or regenerations + OTHER_THREADS)


def cores() -> int:
    """Those that this process may use, which in a container can be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
