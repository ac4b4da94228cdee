"""How the web process serves: address, processes, threads and what may occupy them."""

import ipaddress
from typing import Final, NamedTuple

from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment

# Left for webhook, health, staff and pages when everything that waits for others is at its limit.
OTHER_THREADS: Final = 8


class Serving(NamedTuple):
    bind: str
    port: int
    processes: int
    threads: int  # of each process
    # How many requests of one process may wait for others at once, each in a thread.
    regenerations: int  # for the model
    checkouts: int  # for Stripe, to place an order
    lookups: int  # for Stripe, to read a session that is unknown or unpaid here


def serving(env: Environment) -> Serving:
    bind = env.text(
        "ORACLE_BIND",
        "the address at which the web process listens, unless systemd passes it a socket",
        default="127.0.0.1",
    )
    try:
        ipaddress.ip_address(bind)
    except ValueError:
        raise ImproperlyConfigured(
            f"ORACLE_BIND must be an IP address such as 127.0.0.1 or 0.0.0.0, not {bind!r}."
        ) from None
    port = env.integer(
        "ORACLE_PORT", "the port beside ORACLE_BIND", default=8000, at_least=1, at_most=65535
    )
    processes = env.integer(
        "ORACLE_WEB_PROCESSES",
        "worker processes of each web instance",
        default=1,
        at_least=1,
        at_most=256,
    )
    regenerations = env.integer(
        "ORACLE_MAX_REGENERATIONS",
        "regenerations in progress at once in one web process; further readers wait their turn",
        default=8,
        at_least=1,
        at_most=1000,
    )
    checkouts = env.integer(
        "ORACLE_MAX_CHECKOUTS",
        "orders being placed at Stripe at once by one web process; further ones get 503",
        default=8,
        at_least=1,
        at_most=1000,
    )
    lookups = env.integer(
        "ORACLE_MAX_STRIPE_LOOKUPS",
        "readers for whom one web process asks Stripe at once; others get 202 or 503",
        default=4,
        at_least=1,
        at_most=1000,
    )
    bounded = regenerations + checkouts + lookups
    threads = env.integer(
        "ORACLE_WEB_THREADS",
        "threads of each web process; 0: what regenerations, checkouts and look-ups may occupy, "
        f"and {OTHER_THREADS} more",
        default=0,
        at_least=0,
        at_most=4000,
    )
    if threads and threads <= bounded:
        raise ImproperlyConfigured(
            f"ORACLE_WEB_THREADS must be more than {bounded}, the sum of ORACLE_MAX_REGENERATIONS, "
            "ORACLE_MAX_CHECKOUTS and ORACLE_MAX_STRIPE_LOOKUPS: else these could keep the "
            "webhook and all pages waiting."
        )
    return Serving(
        bind, port, processes, threads or bounded + OTHER_THREADS, regenerations, checkouts, lookups
    )
