"""Every package is pinned with its hashes, once, and no file names where it comes from."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
NAMES = ("requirements", "requirements-dev", "requirements-bench")
# A pin with the hashes of its files, and a comment for people.
PIN = re.compile(
    r"([a-z0-9.-]+)(?:\[[a-z,]+\])?==([\w.]+)( ; .+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
)


def pins(name: str) -> dict[str, str]:
    text = re.sub(r"^ *#.*\n", "", (ROOT / f"{name}.txt").read_text(), flags=re.MULTILINE)
    assert PIN.sub("", text) == ""  # nothing but pins, each with a hash: no address either
    found = [(pin[1], pin[2]) for pin in PIN.finditer(text)]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_for_is_what_is_compiled(name):
    lines = (ROOT / f"{name}.in").read_text().splitlines()
    direct = [Requirement(line) for line in lines if line[:1].isalpha()]
    compiled = pins(name)
    assert direct
    for one in direct:
        normal = re.sub(r"[-_.]+", "-", one.name).lower()
        assert str(one.specifier) == f"=={compiled[normal]}"


def test_each_file_has_the_packages_of_the_one_before_in_the_same_versions():
    site, tests, benchmarks = map(pins, NAMES)
    assert site.items() < tests.items() < benchmarks.items()
