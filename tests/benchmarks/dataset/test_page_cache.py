import mmap
import os
from pathlib import Path

import pytest

from benchmarks import in_memory
from benchmarks.dataset.page_cache import Held


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(in_memory, "WORTH_IT", mmap.PAGESIZE)
    path = tmp_path / "table"
    path.write_bytes(b"x" * 4 * mmap.PAGESIZE)
    return path


def mapped(path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


def test_a_file_is_mapped_until_it_is_let_go(file):
    held = Held([file])
    assert (held.fits, held.size, mapped(file)) == (True, file.stat().st_size, True)
    held.let_go()
    assert not mapped(file)


def test_what_does_not_fit_beside_the_others_is_not_held(file):
    held = Held([file], beside=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    assert (held.fits, mapped(file)) == (False, False)


def test_small_files_are_left_alone(file, tmp_path):
    small = tmp_path / "small"
    small.write_bytes(b"x")
    assert Held([file, small]).size == file.stat().st_size
    assert not mapped(small)
