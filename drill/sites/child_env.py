"""The environment of a child process: no settings of the caller, only paths to programs."""

import os


def child_env(**variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    return {**kept, **variables}
