"""Where the houses of a run are: a database and a log each."""

from dataclasses import dataclass
from typing import Final

SECRET_KEY: Final = "only-for-benchmarks-and-never-in-public-" * 2


@dataclass(frozen=True)
class Place:
    orders: int
    database: str  # its address
    log: str
    sandbox: str = ""


def production(place: Place) -> dict[str, str]:
    """Settings as on a public host, except that the sandbox stands in for keys."""
    return {
        "DJANGO_SETTINGS_MODULE": "oracle_site.settings",
        "DEBUG": "0",
        "ORACLE_ALLOW_SANDBOX": "1",
        "BEHIND_PROXY": "1",
        "SECRET_KEY": SECRET_KEY,
        "DATABASE_URL": place.database,
        "ORACLE_LOG_PATH": place.log,
        "ORACLE_LOG_NAME": "house",
        "NO_PROXY": "127.0.0.1",
        **({"SANDBOX_URL": place.sandbox} if place.sandbox else {}),
    }
