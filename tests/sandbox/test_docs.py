"""docs/SANDBOX.md names every fault, control and setting."""

from dataclasses import fields
from pathlib import Path

from sandbox.faults import KNOWN, Rule
from sandbox.routes import ROUTES
from sandbox.settings import Settings

TEXT = (Path(__file__).parents[2] / "docs/SANDBOX.md").read_text()


def test_every_fault_is_documented():
    names = {name for known in KNOWN.values() for name in known}
    assert not [name for name in names if f"`{name}`" not in TEXT]


def test_every_control_is_documented():
    cells = [line.split("|")[1] for line in TEXT.splitlines() if line.startswith("| `")]
    for route in ROUTES:
        if route.pattern.startswith("/_control/"):
            words = route.pattern.removeprefix("/_control/").split("[^/]+")
            assert [
                cell
                for cell in cells
                if f"`{route.method}" in cell and all(word in cell for word in words)
            ], route.pattern


def test_every_setting_and_every_field_of_a_rule_is_documented():
    counted = {"id", "seen", "hits"}
    names = {each.name for each in (*fields(Settings), *fields(Rule))} - counted
    assert not [name for name in names if f"`{name}`" not in TEXT]
