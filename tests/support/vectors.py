"""The test vectors that come with the requirement documents."""

import json
from pathlib import Path
from typing import Any


def load(name: str) -> list[dict[str, Any]]:
    return json.loads((Path(__file__).parents[1] / "data" / "vectors" / f"{name}.json").read_text())
