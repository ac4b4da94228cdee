"""Tables and examples in the documentation match the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from audit.core.divergence import classify
from audit.core.vocabulary import LABELS
from tests.support.documented import (
    MUTATIONS,
    MUTATIONS_PLOT,
    SETTINGS_PAGE,
    mutation_report,
    settings_table,
)
from verdicts.core.capabilities import PROVIDERS
from verdicts.core.determinism import Inputs, Overrides, Settings, decide, derive_seed
from verdicts.core.read_outcomes import READ_OUTCOMES

ROOT = Path(__file__).parents[1]
GATE = (ROOT / "docs/GATE.md").read_text()
REGENERATE = "run `.venv/bin/python -m tests.support.documented`"
EXAMPLES = re.findall(r"```json (\w+)\n(.*?)```\n\n```text\n(.*?)```", GATE, re.DOTALL)


def test_the_gate_has_worked_examples():
    assert [tier for tier, _, _ in EXAMPLES] == ["quick", "full", "strategy", "quick"]


@pytest.mark.parametrize(("tier", "output", "shown"), EXAMPLES)
def test_a_worked_example_prints_what_the_page_shows(tier, output, shown):
    run = subprocess.run(
        [sys.executable, "manage.py", "score_verdict", "--tier", tier, "--explain"],
        cwd=ROOT,
        input=output,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == shown


def test_the_mutation_table_is_the_output_of_the_command(tmp_path):
    plot = tmp_path / "calibration.svg"
    report = mutation_report(plot)
    assert report == MUTATIONS.read_text(), REGENERATE
    assert plot.read_text() == MUTATIONS_PLOT.read_text(), REGENERATE
    totals = re.search(r"^Rejected .*\nRejected .*\n", report, re.MULTILINE)
    assert f"```text\n{totals[0]}```" in GATE


def test_the_divergence_table_matches_the_classifier():
    page = (ROOT / "docs/DIVERGENCE.md").read_text()
    for original in LABELS:
        levels = " | ".join(str(classify(original, regen)) for regen in LABELS)
        assert f"| **{original}** | {levels} |" in page


def test_the_seeds_on_the_determinism_page_are_correct():
    page = (ROOT / "docs/DETERMINISM.md").read_text()
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 2
    for question, fingerprint, wide, narrow in rows:
        inputs = Inputs(question, fingerprint)
        assert derive_seed(question, fingerprint) == int(wide)
        sent = decide(inputs, PROVIDERS["gemini"], Overrides(), Settings())
        assert sent.seed == int(narrow)


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/*.md")))
def test_links_between_pages_are_valid(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_result_page_lists_every_error_response():
    page = (ROOT / "docs/RESULT.md").read_text()
    listed = {}
    for status, slugs in re.findall(r"^\| (\d{3}) \| (.*?) \|", page, re.MULTILINE):
        listed |= dict.fromkeys(re.findall(r"`([\w-]+)`", slugs), int(status))
    errors = {name: one.status for name, one in READ_OUTCOMES.items() if one.status >= 400}
    assert listed == errors


def test_the_settings_page_is_generated_from_the_settings():
    assert SETTINGS_PAGE.read_text().endswith(f"\n\n{settings_table()}"), REGENERATE


def test_every_decision_that_the_code_cites_is_defined():
    page = (ROOT / "docs/DECISIONS.md").read_text()
    defined = set(re.findall(r"^\| ([CRD]\d+) \|", page, re.MULTILINE))
    cited = {
        number
        for folder in ("audit", "docs", "drill", "oracle_site", "sandbox", "verdicts")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md")
        for number in re.findall(r"\b[CRD][1-9]\d?\b", path.read_text())
    }
    assert len(cited) > 20
    assert cited - defined == set()
