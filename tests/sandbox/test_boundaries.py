"""The sandbox imports only the standard library, and the product never imports it."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported(folder: str) -> set[str]:
    """The top-level packages that the modules of a folder import."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found


def test_the_sandbox_imports_only_the_standard_library():
    assert imported("sandbox") - set(sys.stdlib_module_names) == {"sandbox"}


def test_the_product_never_imports_the_sandbox():
    for folder in ("audit", "verdicts", "oracle_site"):
        assert "sandbox" not in imported(folder)
