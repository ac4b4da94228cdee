"""Every package is pinned once, with hashes, and no file names an index."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
NAMES = ("requirements", "requirements-dev", "requirements-bench")
# A pinned version with the hashes of its files.
PIN = re.compile(
    r"([a-z0-9.-]+)(?:\[[a-z,]+\])?==([\w.]+)( ; .+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
)


def pins(name: str) -> dict[str, str]:
    text = re.sub(r"^ *#.*\n", "", (ROOT / f"{name}.txt").read_text(), flags=re.MULTILINE)
    assert PIN.sub("", text) == ""  # only pins with hashes, and no index URL
    found = [(pin[1], pin[2]) for pin in PIN.finditer(text)]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_direct_requirement_is_compiled(name):
    lines = (ROOT / f"{name}.in").read_text().splitlines()
    direct = [Requirement(line) for line in lines if line[:1].isalpha()]
    compiled = pins(name)
    assert direct
    for one in direct:
        normal = re.sub(r"[-_.]+", "-", one.name).lower()
        assert str(one.specifier) == f"=={compiled[normal]}"


def test_each_file_extends_the_one_before_with_the_same_versions():
    site, tests, benchmarks = map(pins, NAMES)
    assert site.items() < tests.items() < benchmarks.items()
