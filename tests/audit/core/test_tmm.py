import io
import re
import tokenize
from inspect import signature
from pathlib import Path

import pytest

from audit.core import tmm

ROOT = Path(__file__).parents[3]
SOURCE = "audit/core/tmm.py"
# Compared as numbers, in any spelling: 0.0420, 4.2e-2 and .042 are all PHI.
CONSTANTS = (0.042, 0.97404, 1.61803398875)


def test_the_constants_are_those_of_the_document():
    assert tmm.PHI == 0.042
    assert tmm.OMEGA == 1 - (0.042 / 1.61803398875)
    assert pytest.approx(0.97404, abs=5e-6) == tmm.OMEGA


def test_no_argument_changes_the_constants():
    assert set(signature(tmm.coherence).parameters) == {"v_t", "v_r", "e_d"}


@pytest.mark.parametrize(
    ("v_t", "v_r", "e_d", "score"),
    [(2.0, 0.0, 0.0, 1.0), (7.0, 3.0, 0.0, 0.982), (2.0, 5.5, 0.5, 0.6345000000000001)],
)
def test_the_formula_gives_the_documents_examples(v_t, v_r, e_d, score):
    assert tmm.coherence(v_t=v_t, v_r=v_r, e_d=e_d) == score


def test_less_than_the_minimum_value_is_rejected():
    with pytest.raises(ValueError, match="at least"):
        tmm.coherence(v_t=0.5, v_r=0, e_d=0)


def numbers_in(path: Path) -> list[float]:
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
        words = [token.string for token in tokens if token.type == tokenize.NUMBER]
    else:
        words = re.findall(r"(?<![\w.])\d*\.\d+(?![\w.])", path.read_text())
    numbers = []
    for word in words:
        try:
            numbers.append(float(word.replace("_", "")))
        except ValueError:  # hexadecimal and the like
            continue
    return numbers


def code_files() -> list[Path]:
    folders = ("audit", "benchmarks", "oracle_site", "sandbox", "static", "templates", "verdicts")
    suffixes = {".py", ".html", ".js", ".css", ".txt"}
    return [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes and path != ROOT / SOURCE
    ]


def is_a_constant(number: float) -> bool:
    return any(abs(number - constant) < 5e-5 for constant in CONSTANTS)


def test_the_constants_are_defined_nowhere_else():
    assert len(code_files()) > 20
    offenders = [
        str(path.relative_to(ROOT))
        for path in code_files()
        if any(map(is_a_constant, numbers_in(path)))
    ]
    assert offenders == []


def test_the_search_for_constants_finds_the_source():
    assert any(map(is_a_constant, numbers_in(ROOT / SOURCE)))
