import errno
import os

import pytest

from audit.log.file import LogFile, locked, rotated


@pytest.fixture
def path(tmp_path):
    return tmp_path / "oracle_log.jsonl"


def backwards(path):
    with LogFile(path) as log:
        return list(log.lines_backwards())


def cut(path):
    with LogFile(path) as log:
        return log.cut_torn_tail()


def torn(path):
    return path.with_name(path.name + ".torn")


@pytest.mark.parametrize("length", [0, 1, 100, 2046, 2047, 2048, 30_000])
@pytest.mark.parametrize("end", [b"", b"half"])
def test_lines_are_read_backwards_whole(path, length, end):
    lines = [bytes([65 + number]) * length + b"\n" for number in range(20)]
    path.write_bytes(b"".join(lines) + end)
    assert backwards(path) == [*([end] if end else []), *reversed(lines)]


def test_a_new_file_is_empty_and_not_world_readable(path):
    assert backwards(path) == []
    assert path.stat().st_mode & 0o007 == 0


@pytest.mark.parametrize(
    "tail",
    [b'{"b":', b"\0" * 9_000, b"\0\0\0\n", b'{"b":2}', b"[]\n", b'"\n{"b"', b"\n", b"\xff\n"],
)
def test_only_the_torn_tail_is_moved_away(path, tail):
    path.write_bytes(b'{"a":1}\n' + tail)
    for _ in range(2):
        assert cut(path) == {"a": 1}
        assert path.read_bytes() == b'{"a":1}\n'
        assert torn(path).read_bytes() == tail.removesuffix(b"\n") + b"\n"


def test_a_file_of_one_torn_line_becomes_empty(path):
    path.write_bytes(b'{"a"')
    assert cut(path) is None
    assert path.read_bytes() == b""


def test_torn_tails_are_appended(path):
    for part in (b"one", b"two"):
        path.write_bytes(part)
        cut(path)
    assert torn(path).read_bytes() == b"one\ntwo\n"


def test_a_short_write_leaves_nothing_behind(path, monkeypatch):
    path.write_bytes(b"{}\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))
    with LogFile(path) as log, pytest.raises(OSError, match="No space") as caught:
        log.append(b'{"a":1}\n', sync=False)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"{}\n"


def test_one_lock_at_a_time(path):
    with locked(path, 0) as first, locked(path, 0.01) as second:
        assert (first, second) == (True, False)
    with locked(path, 0) as again:
        assert again


def test_rotated_files_exclude_the_lock_torn_tails_and_the_log(path):
    siblings = {"oracle_log.jsonl.1", "oracle_log.jsonl.2.gz", "oracle_log.jsonl-20260416"}
    for name in (*siblings, path.name, "other.jsonl", path.name + ".lock", path.name + ".torn"):
        (path.parent / name).touch()
    assert {one.name for one in rotated(path)} == siblings
