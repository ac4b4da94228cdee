from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from audit.management import terminal
from audit.models import CrosscheckLog, DeterminismProbe, LogEntry, ModelCall

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("probe_determinism", *arguments, stdout=out)
    return out.getvalue()


def test_identical_answers_agree_in_everything(sandbox):
    output = run("--tier", "full", "-n", "4")
    assert "Same label       3 of 3 as the first (100.0%)" in output
    assert "Same dimensions  3 of 3" in output
    assert "Same text        3 of 3" in output
    assert "Texts            1 distinct" in output
    assert "Cost" not in output
    assert len(sandbox.requests("gemini")) == 4
    assert len({request["raw"] for request in sandbox.requests("gemini")}) == 1


def test_only_the_probe_is_stored(sandbox):
    run("--tier", "strategy", "-n", "3")
    found = DeterminismProbe.objects.get()
    assert (found.asked, found.unanswered, found.compared, found.same_label) == (3, 0, 2, 2)
    assert (found.temperature, found.distinct_texts, found.high) == (0.0, 1, 1.0)
    assert found.seed is not None
    assert found.model_versions
    assert found.prompt_tokens > 0 < found.output_tokens
    for model in (CrosscheckLog, LogEntry, ModelCall):
        assert not model.objects.exists()


def test_differing_labels_are_counted(sandbox):
    sandbox.fault("gemini", "verdict", label="GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    sandbox.fault("gemini", "verdict", label="GREEN")
    output = run("--tier", "quick", "-n", "3", "--query", "A ferry?")
    assert "Same label  1 of 2 as the first (50.0%)" in output
    assert "dimensions" not in output
    assert DeterminismProbe.objects.get().same_dimensions is None


def test_the_cost_is_shown_if_prices_are_given(sandbox):
    output = run("--tier", "quick", "-n", "2", "--prompt-price", "1000000", "--output-price", "0")
    assert f"about ${DeterminismProbe.objects.get().prompt_tokens}.0000" in output


def test_failed_calls_are_counted(sandbox, settings):
    settings.ORACLE_MODEL_DEADLINE = 20
    sandbox.fault("gemini", "unavailable", times=3)  # the client's own retries included
    output = run("--tier", "quick", "-n", "3")
    assert "Answered    2 of 3" in output
    assert DeterminismProbe.objects.get().unanswered == 1


@pytest.mark.parametrize(
    ("fault", "sentence"), [("not_found", "Stopped"), ("unavailable", "Fewer")]
)
def test_without_answers_it_fails_and_stores_nothing(sandbox, fault, sentence):
    sandbox.fault("gemini", fault, times=None)
    with pytest.raises(CommandError, match=sentence) as failed:
        run("--tier", "quick", "-n", "2")
    assert failed.value.returncode == 1
    assert not DeterminismProbe.objects.exists()


@pytest.mark.parametrize(
    "arguments", [["-n", "1"], ["-n", "1001"], ["--query", " "], ["--prompt-price", "1"]]
)
def test_invalid_arguments_are_rejected_before_any_call(sandbox, arguments):
    with pytest.raises(CommandError) as error:
        run("--tier", "quick", *arguments)
    assert error.value.returncode == 2
    assert sandbox.requests("gemini") == []


def test_the_progress_bar_is_removed_at_the_end(sandbox, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(terminal.sys, "stderr", shown)
    monkeypatch.setattr(terminal, "SHOW_AFTER", 0.0)
    run("--tier", "quick", "-n", "2")
    assert "2 of 2 calls" in shown.getvalue()
    assert shown.getvalue().endswith("\x1b[2K")  # the line is erased


def test_probes_are_read_only_in_the_console(sandbox, admin_client):
    run("--tier", "quick", "-n", "2")
    found = DeterminismProbe.objects.get()
    page = admin_client.get("/admin/audit/determinismprobe/")
    assert found.model in page.content.decode()
    url = f"/admin/audit/determinismprobe/{found.pk}"
    assert admin_client.get(f"{url}/change/").status_code == 200
    assert admin_client.post(f"{url}/delete/").status_code == 403
    assert admin_client.get("/admin/audit/determinismprobe/add/").status_code == 403
