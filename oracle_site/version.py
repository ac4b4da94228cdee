"""The version of this release, as pyproject.toml has it."""

import tomllib
from pathlib import Path
from typing import Final

_PROJECT: Final = Path(__file__).resolve().parent.parent / "pyproject.toml"
VERSION: Final[str] = tomllib.loads(_PROJECT.read_text())["project"]["version"]
