import json
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit.models import CrosscheckLog, DayCount, LogEntry, ModelCall
from drill.sites.child_env import child_env
from verdicts.core import capabilities
from verdicts.core.determinism import Overrides
from verdicts.generation.ask import ask_once, prepare
from verdicts.generation.client import Answer
from verdicts.management.commands.ask import printable, report
from verdicts.models import Delivery, Order, Verdict

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[4]


def ask_it(*arguments: str) -> str:
    out = StringIO()
    call_command("ask", "Should I open a bakery?", *arguments, stdout=out)
    return out.getvalue()


def sent(sandbox) -> dict[str, object]:
    (request,) = sandbox.requests("gemini")
    body = request["body"]
    return (body if isinstance(body, dict) else json.loads(body))["generationConfig"]


def test_a_verdict_is_printed_and_nothing_is_stored(sandbox, settings):
    output = ask_it("--tier", "full")
    assert "Gate         approved: pass" in output
    assert re.search(r"^temperature  0.0 \(setting\) +0.0$", output, re.MULTILINE)
    assert re.search(r"^seed         derived +\d+$", output, re.MULTILINE)
    assert "Dropped      nothing" in output
    assert '"breakdown": {' in output
    for model in (CrosscheckLog, DayCount, LogEntry, ModelCall, Delivery, Order, Verdict):
        assert not model.objects.exists()
    assert not settings.ORACLE_LOG_PATH.exists()


def test_overrides_are_sent_including_zero(sandbox):
    output = ask_it("--tier", "quick", "--temperature", "0.7", "--seed", "0")
    assert re.search(r"^temperature  0.7 +0.7$", output, re.MULTILINE)
    assert re.search(r"^seed         0 +0$", output, re.MULTILINE)
    config = sent(sandbox)
    assert (config["temperature"], config["seed"]) == (0.7, 0)


def test_the_default_temperature_is_a_setting(sandbox, settings):
    settings.ORACLE_ASK_TEMPERATURE = 1.5
    ask_it("--tier", "quick")
    assert sent(sandbox)["temperature"] == 1.5


def test_unsupported_parameters_are_dropped_and_reported(sandbox, settings, monkeypatch):
    effects = {"temperature": "rejected", "seed": "rejected", "topK": "ignored"}
    monkeypatch.setitem(capabilities.GEMINI_MODELS, settings.ORACLE_MODEL, effects)
    output = ask_it("--tier", "quick", "--temperature", "1", "--seed", "7")
    assert "Dropped      temperature, seed" in output
    assert "Ignored      topK" in output
    assert not {"temperature", "seed"} & sent(sandbox).keys()


def test_a_rejection_is_reported(sandbox):
    sandbox.fault("gemini", "contradictory")
    assert "Gate         REJECTED:" in ask_it("--tier", "full")
    assert not CrosscheckLog.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--seed", str(2**31)], "between 0 and 2147483647"),
        (["--seed", "-1"], "between 0 and"),
        (["--temperature", "2.1"], "between 0 and 2"),
        (["--temperature", "nan"], "between 0 and 2"),
    ],
)
def test_values_out_of_range_are_rejected_before_any_call(sandbox, arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as error:
        ask_it("--tier", "quick", *arguments)
    assert error.value.returncode == 2
    assert sandbox.requests("gemini") == []


def test_an_empty_query_is_rejected():
    with pytest.raises(CommandError, match="Describe the idea") as error:
        call_command("ask", "  ", "--tier", "quick")
    assert error.value.returncode == 2


def test_a_model_error_is_an_error(sandbox):
    sandbox.fault("gemini", "unavailable", times=None)
    with pytest.raises(CommandError, match="No answer: ") as failed:
        ask_it("--tier", "quick")
    assert failed.value.returncode == 1


def test_a_seed_out_of_range_exits_with_2():
    command = [sys.executable, "manage.py", "ask", "A bakery?", "--tier", "quick"]
    run = subprocess.run(
        [*command, "--seed", "99999999999"],
        cwd=ROOT,
        env=child_env(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "Refused: the seed" in run.stderr


def test_control_characters_are_escaped():
    assert printable("a\x1b[2J\nb\u202e") == "a\\u001b[2J\nb\\u202e"


@pytest.mark.parametrize("text", ["", "\x1b[2J"])
def test_no_field_of_the_answer_reaches_the_terminal_unescaped(text):
    evil = "\x1b[2J\x9b\u202e"
    request = prepare(
        tier="quick",
        query="Should I?",
        model="gemini-2.5-flash",
        overrides=Overrides(),
        default_temperature=0.0,
    )
    answer = Answer(text, evil, evil, evil, evil, 1, 1)
    output = "\n".join(report(ask_once(request, tier="quick", ask=lambda _: answer)))
    assert "which reports \\u001b[2J" in output
    assert all(one.isprintable() or one == "\n" for one in output)
