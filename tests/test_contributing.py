"""CONTRIBUTING.md's table "Where to make a change" leads to the files that have to change."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.core.management import get_commands

from audit.core import crosscheck
from audit.core.vocabulary import TIERS
from verdicts.admin.orders import OrderAdmin
from verdicts.core.capabilities import GEMINI_MODELS
from verdicts.core.tiers import TIER
from verdicts.mail.kinds import KINDS, NOTICE_RETRY_DELAY
from verdicts.models import Delivery
from verdicts.monitoring.metrics import MetricsCache
from verdicts.payments.events import STRIPE_EVENTS
from verdicts.results.verdict_api import VerdictSerializer

ROOT = Path(__file__).parents[1]
SEARCHED = ("audit", "oracle_site", "verdicts")
MAX_FOUND = 15  # files that a search may list: more would be a hunt


class Change(NamedTuple):
    name: str
    words: str
    code: tuple[str, ...]
    files: tuple[str, ...]  # code, tests, pages and everything else

    def __str__(self) -> str:
        return self.name


def changes() -> list[Change]:
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Where to make a change")[1]
    rows = re.findall(r"^\| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)[1:]
    return [_change(*row.split(" | ")) for row in rows]


def _change(name: str, words: str, code: str, tests: str, others: str) -> Change:
    cells = [tuple(re.findall(r"`([^`]+)`", cell)) for cell in (code, tests, others)]
    return Change(name, words.strip("`"), cells[0], sum(cells, ()))


CHANGES = {change.name: change for change in changes()}


@cache
def searched_files() -> dict[str, str]:
    paths = [path for folder in SEARCHED for path in sorted((ROOT / folder).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): path.read_text().lower() for path in paths}


def found(words: str) -> set[str]:
    """What `git grep -il` lists."""
    return {name for name, text in searched_files().items() if words.lower() in text}


def code_of(change: str) -> str:
    """The text of all modules that the row names."""
    paths = [ROOT / name for name in CHANGES[change].code]
    modules = [one for path in paths for one in ([path] if path.is_file() else path.glob("*.py"))]
    return "".join(module.read_text() for module in modules)


def test_the_twelve_usual_changes_are_listed():
    assert len(CHANGES) == len(changes()) == 12


@pytest.mark.parametrize("change", CHANGES.values(), ids=str)
def test_every_file_of_a_change_exists(change):
    assert [name for name in change.files if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("change", CHANGES.values(), ids=str)
def test_a_search_leads_to_the_code_of_a_change(change):
    listed = found(change.words)
    missed = [name for name in change.code if not any(one.startswith(name) for one in listed)]
    assert missed == []
    assert len(listed) <= MAX_FOUND, sorted(listed)


@pytest.mark.parametrize("change", ["a fourth tier", "a second payment provider", "French pages"])
def test_a_search_for_a_change_of_many_files_lists_no_other(change):
    assert found(CHANGES[change].words) == set(CHANGES[change].code)


def test_every_tier_is_named_where_a_fourth_would_be():
    assert set(TIER) == set(TIERS) == set(settings.ORACLE_PRICES)
    for module in ("audit/core/vocabulary.py", "verdicts/core/tiers.py", "verdicts/core/prompt.py"):
        assert module in CHANGES["a fourth tier"].code
        assert all(f'"{tier}"' in (ROOT / module).read_text() for tier in TIERS), module


def test_the_retry_delay_of_a_notice_is_one_constant():
    assert "NOTICE_RETRY_DELAY" in code_of("the retry delay of a divergence notice")
    assert KINDS[Delivery.Kind.DIVERGENCE].retry.delays == (NOTICE_RETRY_DELAY,)


def test_every_handled_stripe_event_is_in_the_named_table():
    assert all(f'"{name}": ' in code_of("a new Stripe event") for name in STRIPE_EVENTS)


def test_the_columns_of_the_order_list_are_in_the_named_module():
    columns = code_of("a column in the order list").partition("list_display = (")[2].partition(")")
    assert tuple(re.findall(r'"(\w+)"', columns[0])) == OrderAdmin.list_display


def test_the_known_models_and_the_default_are_in_the_named_modules():
    code = code_of("another model")
    assert all(f'"{model}"' in code for model in GEMINI_MODELS)
    assert CHANGES["another model"].words in GEMINI_MODELS


def test_every_email_kind_has_a_member_a_row_and_templates_in_the_named_places():
    code = code_of("a new email kind")
    for kind in Delivery.Kind:
        assert f"        {kind.name} = " in code
        assert f"    Kind.{kind.name}: EmailKind(" in code
        assert (ROOT / f"templates/email/{KINDS[kind].template}.html").exists()


def test_every_metric_is_defined_in_the_named_modules(db):
    code = code_of("a new metric")
    names = re.findall(r"^# TYPE oracle_(\w+)", MetricsCache().text().decode(), re.MULTILINE)
    assert len(names) > 20
    stems = {re.sub(r"_(total|created)$", "", name) for name in names}
    assert {n for n in stems if f'"{n}"' not in code and f'"oracle_{n}"' not in code} == set()


def test_every_weight_of_the_gate_is_in_the_named_module():
    assert ROOT / CHANGES["gate weights"].code[0] == Path(crosscheck.__file__)
    weighed = crosscheck.crosscheck("{}", "strategy").contributions
    assert all(one.where.partition(".")[0] in code_of("gate weights") for one in weighed)


def test_every_command_lies_in_a_named_folder():
    ours = {name for name, app in get_commands().items() if app in ("audit", "verdicts")}
    folders = [ROOT / folder for folder in CHANGES["a new command"].code]
    assert {path.stem for folder in folders for path in folder.glob("[a-z]*.py")} == ours


def test_every_field_of_the_apis_verdict_is_in_the_named_modules():
    body, contract = CHANGES["a new field of the API's verdict"].code
    for field in VerdictSerializer().fields:
        assert f'"{field}"' in (ROOT / body).read_text()
        assert re.search(rf"^    {field} = \w", (ROOT / contract).read_text(), re.MULTILINE)
