import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.vectors import load
from tests.support.verdict_payloads import complete

ROOT = Path(__file__).parents[4]
GOOD = json.dumps(complete("quick"))
BAD = '{"verdict": "GREEN"}'


def score(*arguments: str, stdin: str | bytes = "") -> subprocess.CompletedProcess:
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    return subprocess.run(
        [sys.executable, "manage.py", "score_verdict", *map(str, arguments)],
        cwd=ROOT,
        input=data,
        capture_output=True,
        check=False,
    )


def decisions(run: subprocess.CompletedProcess) -> list[dict]:
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize(
    ("name", "shown", "code"),
    [
        ("quick, complete (VC-1)", 1.0, 0),
        ("full, conflict and short summary: the document's 0.982", 0.982, 0),
        ("strategy, the document's severely malformed 0.635", 0.6345, 1),
    ],
)
def test_the_requirement_documents_examples(name, shown, code):
    (vector,) = [v for v in load("crosscheck") if v["name"] == name]
    run = score("--tier", vector["tier"], stdin=json.dumps(vector["payload"]))
    (decision,) = decisions(run)
    assert round(decision["coherence_score"], 4) == shown
    assert {key: decision[key] for key in vector["expect"]} == vector["expect"]
    assert run.returncode == code


def test_several_files_give_one_decision_each(tmp_path):
    (tmp_path / "good.json").write_text(GOOD)
    (tmp_path / "bad.json").write_text(BAD)
    run = score("--tier", "quick", tmp_path / "good.json", tmp_path / "bad.json")
    assert [d["approved"] for d in decisions(run)] == [True, False]
    assert [Path(d["input"]).name for d in decisions(run)] == ["good.json", "bad.json"]
    assert run.returncode == 1
    assert run.stderr.decode().strip() == "CommandError: 1 of 2 rejected"


def test_a_jsonl_file_is_scored_line_by_line(tmp_path):
    corpus = tmp_path / "corpus.JSONL"
    corpus.write_text(f"{GOOD}\n\n{GOOD}\n")
    run = score("--tier", "quick", corpus)
    assert [d["input"] for d in decisions(run)] == [f"{corpus}:1", f"{corpus}:3"]
    assert run.returncode == 0
    assert run.stderr == b""


def test_standard_input_can_be_jsonl():
    run = score("--tier", "quick", "--jsonl", "-", stdin=f"{GOOD}\n{BAD}\n")
    assert [d["crosscheck_reason"] for d in decisions(run)] == ["pass", "field_missing"]
    assert run.returncode == 1


def test_invalid_utf_8_is_malformed():
    run = score("--tier", "quick", stdin=b'{"verdict": "GR\xff\xfeEEN"}')
    assert decisions(run)[0]["flags"] == ["degenerate_manifold", "malformed_json"]
    assert run.returncode == 1


def test_explain_shows_each_contribution_and_the_formula():
    run = score("--tier", "quick", "--explain", stdin=BAD)
    assert run.stdout.decode() == (
        "-: REJECTED (field_missing), label GREEN\n"
        "  V_t   1.0  verdict  a valid label\n"
        "  V_r   1.0  summary  empty or under 10 characters\n"
        "  E_D   0.5  summary  missing\n"
        "  C = 1 - (E_D 0.5 + V_r 1.0 x 0.042) / V_t 1.0 = 0.4580 < 0.97404\n"
        "  flags: field_missing, short_summary\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tier", "gold"], "invalid choice: 'gold'"),
        ([], "required: --tier"),
        (["--tier", "quick", "no-such-file.json"], "'no-such-file.json': No such file"),
        (["--tier", "quick", "--jsonl"], "no verdict in the input"),
        (["--tier", "quick", "."], "Is a directory"),
    ],
)
def test_bad_usage_differs_from_a_rejection(arguments, message):
    run = score(*arguments)
    assert run.returncode == 2
    assert message in run.stderr.decode()
    assert run.stdout == b""


def test_a_full_disk_differs_from_a_rejection():
    full = os.open("/dev/full", os.O_WRONLY)
    run = subprocess.run(
        [sys.executable, "manage.py", "score_verdict", "--tier", "quick"],
        cwd=ROOT,
        input=GOOD.encode(),
        stdout=full,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(full)
    assert run.returncode == 2
    assert run.stderr.decode().strip() == "CommandError: output: No space left on device"


def test_a_closed_pipe_is_not_an_error(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(f"{GOOD}\n" * 5_000)
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "score_verdict", "--tier", "quick", str(corpus)],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.read(reading, 100)
    os.close(reading)
    _, errors = process.communicate(timeout=30)
    assert errors == b""
    assert process.returncode == 0
