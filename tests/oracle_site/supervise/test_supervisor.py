"""Nothing is lost while it runs, and nothing is left when it does not."""

import re
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.oracle_site.supervise.house import (
    LEAVES_ORPHAN,
    STUBBORN,
    program,
    supervising,
    wait_for,
)

SOON = "backoff=Backoff(first=0.1, longest=0.4), watch_every=0.1"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_wanted_stop_leaves_nothing_and_is_no_failure(number):
    with supervising(program("a", LEAVES_ORPHAN), options="welcome='up'") as house:
        house.read_until("up")
        house.program()
        code, said, errors = house.end(number)
        assert (code, said, errors) == (0, "Stopping ...\nStopped.\n", "")
        assert house.alive() == []


def test_a_program_that_will_not_stop_is_killed_after_its_grace():
    with supervising(program("a", STUBBORN, "grace=0.2")) as house:
        house.program()
        assert house.end(signal.SIGTERM)[0] == 0
        assert house.alive() == []


def test_a_second_interrupt_does_not_wait():
    with supervising(program("a", STUBBORN, "grace=600")) as house:
        house.program()
        house.process.send_signal(signal.SIGINT)
        house.read_until("Stopping")
        assert house.end(signal.SIGINT)[0] == 0
        assert house.alive() == []


def test_killing_the_supervisor_ends_every_group():
    programs = [program(name, STUBBORN) for name in ("a", "b")]
    with supervising(*programs) as house:
        wait_for(lambda: len(house.alive()) == 7)
        house.process.kill()
        wait_for(lambda: house.alive() == [])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux continues a stopped tether")
def test_killing_the_supervisor_ends_a_group_that_stands_still():
    with supervising(program("a", STUBBORN)) as house:
        house.program()
        for one in house.alive():
            one.suspend()
        house.process.kill()
        wait_for(lambda: house.alive() == [])


def test_a_killed_program_is_started_again_without_its_orphans():
    with supervising(program("a", STUBBORN), options=SOON) as house:
        victim = house.program()
        orphans = victim.children()
        assert orphans
        orphans[0].suspend()
        victim.kill()
        assert house.read_until("again") == ["a was ended by SIGKILL; starting again in 0.1 s."]
        assert house.alive_among(orphans) == []
        assert house.program().pid != victim.pid


def test_a_killed_tether_takes_its_group_along():
    with supervising(program("a", STUBBORN), options=SOON) as house:
        before = [house.program(), *house.program().children()]
        house.tether().kill()
        said = house.read_until("again")
        assert said == ["a lost its tether, which was ended by SIGKILL; starting again in 0.1 s."]
        assert house.alive_among(before) == []
        house.program()


def test_a_program_that_keeps_failing_waits_longer_each_time():
    with supervising(program("a", "raise SystemExit(3)"), options=SOON) as house:
        said = [house.read_until("again")[-1] for _ in range(4)]
    pauses = re.findall(r"a ended with code 3; starting again in (\S+) s\.", "\n".join(said))
    assert pauses == ["0.1", "0.2", "0.4", "0.4"]


def test_a_program_that_cannot_be_found_is_named():
    with supervising("Program('a', ['/no/such/program'])", options=SOON) as house:
        house.read_until("a ended with code 127")
        assert "a | /no/such/program cannot be run" in house.end(signal.SIGTERM)[2]


def test_a_complaint_restarts_the_group_and_says_why():
    watch = "watch=iter([None, 'no order moved', *[None] * 10_000]).__next__"
    with supervising(program("a", STUBBORN, f"{watch}, grace=0.2"), options=SOON) as house:
        assert house.read_until("again") == [
            "a is restarted (no order moved); starting again in 0.1 s."
        ]
        house.program()


def test_a_stop_overtakes_a_restart():
    watch = "watch=lambda: 'stuck', grace=0.5"
    with supervising(program("a", STUBBORN, watch), options=SOON) as house:
        house.read_until("stuck")
        assert house.end(signal.SIGTERM)[0] == 0
        assert house.alive() == []


def test_a_broken_watch_is_told_once_and_harms_nothing():
    with supervising(program("a", STUBBORN, "watch=lambda: 1 / 0"), options=SOON) as house:
        before = house.program()
        assert "ZeroDivisionError" in house.read_until("watch of a failed")[-1]
        time.sleep(0.3)  # two more looks
        assert house.program().pid == before.pid
        house.process.send_signal(signal.SIGINT)
        assert house.read_until("Stopping") == ["Stopping ..."]
        assert house.end(signal.SIGINT)[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nobody_but_the_supervisor_holds_its_ends_of_the_lines():
    programs = [program(name, STUBBORN) for name in ("a", "b")]
    with supervising(*programs, options=SOON) as house:
        wait_for(lambda: len(house.alive()) == 7)
        ours = sockets(house.process.pid)
        others = [one.pid for one in house.alive() if one.pid != house.process.pid]
        assert len(ours) >= 2
        assert all(not ours & sockets(pid) for pid in others)


def sockets(pid: int) -> set[str]:
    links = {str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    return {link for link in links if link.startswith("socket:")}


def test_lines_of_a_program_carry_its_name_and_keep_their_stream():
    code = "import sys; print('hello'); print('oops', file=sys.stderr)"
    programs = [program("a", code, "restart=False"), program("long", code, "restart=False")]
    with supervising(*programs) as house:
        stdout, stderr = house.process.communicate(timeout=30)
    assert sorted(stdout.splitlines()) == [
        "Stopped.",
        "a    | hello",
        "a ended.",
        "long ended.",
        "long | hello",
    ]
    assert sorted(stderr.splitlines()) == ["a    | oops", "long | oops"]


def test_a_quiet_program_is_heard_only_when_it_errs():
    code = "import sys; print('hello'); print('oops', file=sys.stderr)"
    with supervising(program("a", code, "restart=False, quiet=True")) as house:
        stdout, stderr = house.process.communicate(timeout=30)
    assert "hello" not in stdout
    assert stderr == "a | oops\n"


def test_output_that_nobody_reads_delays_no_stop():
    code = "while True: print('x' * 1000)"
    with supervising(program("a", code)) as house:
        wait_for(lambda: len(house.alive()) == 3)
        time.sleep(0.5)
        house.process.send_signal(signal.SIGTERM)
        wait_for(lambda: house.alive() == [])


def test_the_death_of_a_parent_is_a_wish_to_stop():
    with supervising(program("a", STUBBORN, "grace=0.2"), options="parent=1") as house:
        assert house.process.wait(timeout=30) == 0
        assert house.alive() == []


def test_the_welcome_waits_until_all_are_ready(tmp_path):
    ready = f"ready=__import__('pathlib').Path({str(tmp_path / 'ready')!r}).exists"
    with supervising(program("a", STUBBORN, ready), options="welcome='up'") as house:
        house.program()
        (tmp_path / "ready").touch()
        assert house.read_until("up") == ["up"]
