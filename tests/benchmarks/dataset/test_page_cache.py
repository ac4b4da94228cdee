import mmap
import os
from pathlib import Path

import pytest

from benchmarks.dataset import page_cache
from benchmarks.dataset.page_cache import CachedFiles


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(page_cache, "MIN_FILE_BYTES", mmap.PAGESIZE)
    path = tmp_path / "table"
    path.write_bytes(b"x" * 4 * mmap.PAGESIZE)
    return path


def mapped(path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


def test_a_file_is_mapped_until_released(file):
    cached = CachedFiles([file])
    assert (cached.fits, cached.size, mapped(file)) == (True, file.stat().st_size, True)
    cached.release()
    assert not mapped(file)


def test_files_that_do_not_fit_into_memory_are_not_mapped(file):
    cached = CachedFiles(
        [file], already_mapped=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    )
    assert (cached.fits, mapped(file)) == (False, False)


def test_small_files_are_not_mapped(file, tmp_path):
    small = tmp_path / "small"
    small.write_bytes(b"x")
    assert CachedFiles([file, small]).size == file.stat().st_size
    assert not mapped(small)
