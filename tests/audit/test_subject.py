import asyncio
import threading
from contextlib import suppress

from audit.core.redaction import short_hash
from audit.subject import about, now_about, subject

ONE, OTHER = "cs_test_aaaaaaaa1", "cs_test_bbbbbbbb2"


def test_only_the_short_hash_is_kept_and_only_for_the_block():
    assert subject() == ""
    with about(ONE):
        assert subject() == short_hash(ONE)
        with about(OTHER):
            assert subject() == short_hash(OTHER)
        assert subject() == short_hash(ONE)
        with about(None):
            assert subject() == ""
    assert subject() == ""


def test_what_turns_out_later_lasts_to_the_end_of_the_block():
    with about(""):
        now_about(ONE)
        assert subject() == short_hash(ONE)
        now_about(OTHER)
        assert subject() == short_hash(OTHER)
    assert subject() == ""


def test_outside_any_block_nothing_is_begun_that_nobody_would_end():
    now_about(ONE)
    assert subject() == ""


def test_a_block_that_fails_is_left_all_the_same():
    with suppress(ZeroDivisionError), about(ONE):
        now_about(OTHER)
        1 / 0  # noqa: B018 - it fails
    assert subject() == ""


def test_a_thread_of_its_own_is_about_nothing_and_work_on_a_loop_about_the_same():
    seen = []
    with about(ONE):
        other = threading.Thread(target=lambda: seen.append(subject()))
        other.start()
        other.join()
    assert seen == [""]

    async def look() -> str:
        return subject()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        for session in (ONE, OTHER, ""):
            with about(session):
                told = asyncio.run_coroutine_threadsafe(look(), loop).result()
            assert told == (short_hash(session) if session else "")
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
