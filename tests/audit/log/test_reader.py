import gzip

import pytest

from audit.core.record import canonical_line
from audit.log.reader import find_original, lines, logged_states
from tests.support.log_entries import checked, compared

SESSION = "cs_test_12345678"


@pytest.fixture
def path(settings, tmp_path):
    settings.ORACLE_LOG_PATH = tmp_path / "oracle_log.jsonl"
    return settings.ORACLE_LOG_PATH


def written(path, *entries, end=""):
    text = "".join(canonical_line(entry) for entry in entries) + end
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        file.write(text)


def original(at="2026-04-16T12:00:00.000000Z", **changes):
    return {**checked(SESSION), "timestamp": at, **changes}


def test_the_original_is_the_first_approved_original_of_the_session(path):
    wanted = original(verdict_label="AMBER")
    written(
        path,
        compared(SESSION),
        checked("cs_test_other1234"),
        checked(SESSION, output="malformed"),
        checked(SESSION, kind="regen"),
        {**checked("cs_test_other1234"), "query_preview": SESSION},
        wanted,
        original(verdict_label="RED"),
    )
    assert find_original(SESSION) == wanted


@pytest.mark.parametrize(
    "change", [{"approved": False}, {"approved": 1}, {"kind": "regen"}, {"event": "other"}]
)
def test_only_approved_originals_count(path, change):
    written(path, original(**change))
    assert find_original(SESSION) is None


def test_without_a_log_there_is_no_original(path):
    assert find_original(SESSION) is None


def test_rotated_files_are_read_oldest_first(path):
    days = [f"2026-04-{day}T12:00:00.000000Z" for day in (13, 14, 15, 16)]
    written(path, original(days[3]))
    written(path.with_name(path.name + ".1"), original(days[2]))
    written(path.with_name(path.name + ".2.gz"), original(days[1]))
    assert find_original(SESSION)["timestamp"] == days[1]
    written(path.with_name(path.name + "-20260413.gz"), original(days[0]))
    assert find_original(SESSION)["timestamp"] == days[0]


def test_a_torn_tail_and_malformed_lines_are_skipped(path):
    path.write_bytes(b"\0\xff\n" + f'rubbish "{SESSION}"\n'.encode())
    assert find_original(SESSION) is None
    written(path, original(), end='{"event":"tmm_cross')
    assert find_original(SESSION) == original()


def test_a_damaged_archive_is_read_up_to_the_damage(path, caplog):
    archive = path.with_name(path.name + ".1.gz")
    written(archive, original(), *(checked(f"cs_test_{n:08}") for n in range(500)))
    archive.write_bytes(archive.read_bytes()[:-20])
    assert find_original(SESSION) == original()
    assert len(list(lines())) > 0
    assert "damaged" in caplog.text
    archive.write_bytes(b"no archive")
    assert find_original(SESSION) is None


def test_the_states_of_many_sessions_are_found_in_one_pass(path):
    judged, rejected, erased, other = (f"cs_test_1234567{n}" for n in range(4))
    written(
        path,
        checked(judged),
        checked(rejected, output="malformed"),
        checked(erased),
        {"event": "staff_action", "session_id": judged, "action": "evict"},
        {"event": "staff_action", "session_id": erased, "action": "erase"},
        checked(erased),
        checked(other),
        end='{"session_id":"' + rejected,  # torn
    )
    wanted = [judged, rejected, erased, "cs_test_unheardOf"]
    assert logged_states(wanted) == {judged: "judged", erased: "erased"}
    assert logged_states([]) == {}
