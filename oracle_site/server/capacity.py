"""Settings of the web server: address, processes, threads and concurrency limits."""

import ipaddress
from typing import Final, NamedTuple

from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment

# Threads left for webhook, health checks, console and pages when all limits are reached.
OTHER_THREADS: Final = 8


class Serving(NamedTuple):
    bind: str
    port: int
    processes: int
    threads: int  # per process
    # Concurrency limits per process; each such request occupies a thread while it waits.
    regenerations: int  # calls to the model
    checkouts: int  # orders being placed at Stripe
    lookups: int  # sessions read from Stripe that are unknown or unpaid here


def serving(env: Environment) -> Serving:
    bind = env.text(
        "ORACLE_BIND",
        "IP address on which the web process listens, unless systemd passes it a socket",
        default="127.0.0.1",
    )
    try:
        ipaddress.ip_address(bind)
    except ValueError:
        raise ImproperlyConfigured(
            f"ORACLE_BIND must be an IP address such as 127.0.0.1 or 0.0.0.0, not {bind!r}."
        ) from None
    port = env.integer(
        "ORACLE_PORT",
        "port on which the web process listens",
        default=8000,
        minimum=1,
        maximum=65535,
    )
    processes = env.integer(
        "ORACLE_WEB_PROCESSES",
        "worker processes of each web instance",
        default=1,
        minimum=1,
        maximum=256,
    )
    regenerations = env.integer(
        "ORACLE_MAX_REGENERATIONS",
        "maximum concurrent regenerations per web process; further ones get 202",
        default=8,
        minimum=1,
        maximum=1000,
    )
    checkouts = env.integer(
        "ORACLE_MAX_CHECKOUTS",
        "maximum concurrent checkouts at Stripe per web process; further ones get 503",
        default=8,
        minimum=1,
        maximum=1000,
    )
    lookups = env.integer(
        "ORACLE_MAX_STRIPE_LOOKUPS",
        "maximum concurrent session look-ups at Stripe per web process; others get 202 or 503",
        default=4,
        minimum=1,
        maximum=1000,
    )
    limited = regenerations + checkouts + lookups
    threads = env.integer(
        "ORACLE_WEB_THREADS",
        "threads per web process; 0: the sum of the limits of regenerations, checkouts and "
        f"look-ups, plus {OTHER_THREADS}",
        default=0,
        minimum=0,
        maximum=4000,
    )
    if threads and threads <= limited:
        raise ImproperlyConfigured(
            f"ORACLE_WEB_THREADS must be more than {limited}, the sum of ORACLE_MAX_REGENERATIONS, "
            "ORACLE_MAX_CHECKOUTS and ORACLE_MAX_STRIPE_LOOKUPS: otherwise these could block the "
            "webhook and all pages."
        )
    return Serving(
        bind, port, processes, threads or limited + OTHER_THREADS, regenerations, checkouts, lookups
    )
