"""The version in pyproject.toml; "unknown" in a copy without that file."""

import tomllib
from pathlib import Path
from typing import Final

_PROJECT: Final = Path(__file__).resolve().parent.parent / "pyproject.toml"


def _read() -> str:
    try:
        return str(tomllib.loads(_PROJECT.read_text())["project"]["version"])
    except FileNotFoundError:
        return "unknown"


VERSION: Final = _read()
