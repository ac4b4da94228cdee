"""Calls and module switches are counted for product code only."""

import subprocess
import sys

import pytest

from audit.core import chain
from audit.core.redaction import short_hash
from benchmarks.hops import STAGES, Hops, counting, pair_table, product_module, stage_table
from benchmarks.servers import ROOT


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("verdicts/results/read.py", "verdicts.results.read"),
        ("verdicts/models/__init__.py", "verdicts.models"),
        ("sandbox/server.py", ""),
        ("benchmarks/hops.py", ""),
    ],
)
def test_only_product_files_have_a_module_name(path, module):
    assert product_module(str(ROOT / path)) == module


def test_libraries_and_generated_code_have_no_module_name():
    assert product_module("<string>") == ""
    assert product_module(subprocess.__file__) == ""


def test_a_call_from_other_code_counts_as_a_switch_from_outside():
    hops = Hops()
    with counting(hops):
        short_hash("one")
        short_hash("two")
    assert hops.entered == {"audit.core.redaction": 2}
    assert hops.switches == {("(outside)", "audit.core.redaction"): 2}


def test_only_calls_between_modules_count_as_switches():
    hops = Hops()
    with counting(hops):
        chain.verify("{}", chain.GENESIS)
    between = {pair for pair in hops.switches if "(outside)" not in pair}
    assert between
    assert all(caller == "audit.core.chain" for caller, _ in between)
    assert ("audit.core.chain", "audit.core.chain") not in hops.switches


def test_the_total_counts_each_module_once():
    one, two = Hops(), Hops()
    one.entered["a"], one.switches["x", "a"] = 3, 2
    two.entered["a"], two.switches["x", "a"] = 1, 1
    assert list(stage_table({"one": one, "two": two}).rows) == [
        ["one", "1", "2"],
        ["two", "1", "1"],
        ["total", "1", "3"],
    ]
    assert list(pair_table({"one": one, "two": two}, 5).rows) == [["x -> a", "3"]]


def test_one_order_passes_every_stage():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.hops", "--pairs", "3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    counts = {stage: next(line for line in lines if f"  {stage} " in line) for stage in STAGES}
    assert all(int(line.split()[-1]) > 5 for line in counts.values())
    assert sum("->" in line for line in lines) == 1 + 3  # plus the header
