"""Programs give way to their successors, and only to those that are ready."""

import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from oracle_site.supervise.control import NobodyThere, ask, somebody_is_there
from tests.oracle_site.supervise.house import House, running, wait_for

# Says that it is ready, and ends when asked to.
READY = "import os, signal, sys; os.write(int(sys.argv[-1]), b'!'); signal.pause()"
NEVER = "import time; time.sleep(600)"
DIES = "raise SystemExit(3)"


def renewing(folder: Path, *, then: str, first: str = READY):
    """`a` runs `first` and is to be replaced by what `then` makes, in Python."""
    script = f"""
import os, sys
from pathlib import Path
from oracle_site.supervise import *
from oracle_site.supervise import troupe
troupe.PATIENCE = 2
def program(name, code, **more):
    return Program(name, [sys.executable, "-c", code], announces=True, **more)
def renew():
    {then}
control = Path({str(folder)!r}, "c")
sys.exit(supervise([program("a", {first!r})], welcome="up", renew=renew, control=control))
"""
    return running([sys.executable, "-c", script])


def programs(house: House) -> set[int]:
    found = set()
    for tether in psutil.Process(house.process.pid).children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            found |= {program.pid for program in tether.children()}
    return found


def order(folder: Path) -> tuple[int, list[str]]:
    said = []
    return ask(folder / "c", "restart", said.append), said


def test_a_successor_takes_over_once_it_is_ready(tmp_path):
    with renewing(tmp_path, then=f"return [program('a', {READY!r})]") as house:
        house.read_until("up")
        before = programs(house)
        assert order(tmp_path) == (0, ["Restarting ...", "Restarted."])
        wait_for(lambda: len(programs(house)) == 1 and not programs(house) & before)
        assert house.end(signal.SIGTERM)[0] == 0
        assert house.alive() == []
        assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("code", [NEVER, DIES])
def test_a_successor_that_is_never_ready_leaves_the_old_one_where_it_is(tmp_path, code):
    with renewing(tmp_path, then=f"return [program('a', {code!r})]") as house:
        house.read_until("up")
        before = programs(house)
        done, said = order(tmp_path)
        assert done == 1
        assert "the new a did not get ready, so the old one stays" in said[-1]
        wait_for(lambda: programs(house) == before)


def test_who_is_no_longer_wanted_goes_and_who_is_new_comes(tmp_path):
    with renewing(
        tmp_path, then=f"return [program('b', {READY!r}), program('c', {READY!r})]"
    ) as house:
        house.read_until("up")
        before = programs(house)
        assert order(tmp_path)[0] == 0
        wait_for(lambda: len(programs(house)) == 2 and not programs(house) & before)


def test_a_refusal_is_told_and_changes_nothing(tmp_path):
    with renewing(tmp_path, then="raise Refused('not today.')") as house:
        house.read_until("up")
        before = programs(house)
        assert order(tmp_path) == (1, ["Restarting ...", "Not restarted: not today."])
        assert programs(house) == before


def test_a_hangup_is_the_same_wish(tmp_path):
    with renewing(tmp_path, then=f"return [program('a', {READY!r})]") as house:
        house.read_until("up")
        house.process.send_signal(signal.SIGHUP)
        assert house.read_until("Restarted.") == ["Restarting ...", "Restarted."]


def test_a_stop_overtakes_a_restart(tmp_path):
    with renewing(
        tmp_path, then=f"return [program('a', {NEVER!r}), program('b', {READY!r})]"
    ) as house:
        house.read_until("up")
        house.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(programs(house)) == 2)
        assert house.end(signal.SIGTERM)[0] == 0
        assert house.alive() == []


def test_a_question_that_is_unknown_is_answered_with_no(tmp_path):
    with renewing(tmp_path, then="pass") as house:
        house.read_until("up")
        assert ask(tmp_path / "c", "dance", print) == 1
        assert (tmp_path / "c").stat().st_mode & 0o777 == 0o600


def test_where_nobody_listens_there_is_nobody(tmp_path):
    assert not somebody_is_there(tmp_path / "c")
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "c"))  # and never listens
    assert not somebody_is_there(tmp_path / "c")
    with pytest.raises(NobodyThere):
        ask(tmp_path / "c", "restart", print)


def test_a_program_inherits_what_it_keeps_and_nothing_else_of_ours():
    script = '''
import os, sys
from oracle_site.supervise import *
kept, other = os.pipe()
code = f"""
import os
os.fstat({kept})
print('kept')
try: os.fstat({other})
except OSError: print('alone')
"""
sys.exit(supervise([Program("a", [sys.executable, "-c", code], keeps=[kept], restart=False)]))
'''
    with running([sys.executable, "-c", script]) as house:
        assert house.read_until("alone") == ["a | kept", "a | alone"]
