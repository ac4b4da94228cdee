"""A dataset and the environment of a site that uses it."""

from dataclasses import dataclass
from typing import Final

SECRET_KEY: Final = "only-for-benchmarks-and-never-in-public-" * 2


@dataclass(frozen=True)
class Dataset:
    """A database with this many orders, and the audit log that belongs to it."""

    orders: int
    database_url: str
    log_path: str
    sandbox_url: str = ""


def production_env(dataset: Dataset) -> dict[str, str]:
    """Environment variables as in production, except that the sandbox replaces real API keys."""
    return {
        "DJANGO_SETTINGS_MODULE": "oracle_site.settings",
        "DEBUG": "0",
        "ORACLE_ALLOW_SANDBOX": "1",
        "BEHIND_PROXY": "1",
        "SECRET_KEY": SECRET_KEY,
        "DATABASE_URL": dataset.database_url,
        "ORACLE_LOG_PATH": dataset.log_path,
        "ORACLE_LOG_NAME": "benchmark",
        "NO_PROXY": "127.0.0.1",
        **({"SANDBOX_URL": dataset.sandbox_url} if dataset.sandbox_url else {}),
    }
