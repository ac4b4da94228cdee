"""The environment for a program that a test starts: ours, less whatever the caller had set."""

import os


def child_env(**variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    return {**kept, **variables}
