import asyncio
import threading
from contextlib import suppress

from audit.core.redaction import short_hash
from audit.log_context import log_session, log_session_hash, set_log_session

ONE, OTHER = "cs_test_aaaaaaaa1", "cs_test_bbbbbbbb2"


def test_only_the_short_hash_is_kept_and_only_for_the_block():
    assert log_session_hash() == ""
    with log_session(ONE):
        assert log_session_hash() == short_hash(ONE)
        with log_session(OTHER):
            assert log_session_hash() == short_hash(OTHER)
        assert log_session_hash() == short_hash(ONE)
        with log_session(None):
            assert log_session_hash() == ""
    assert log_session_hash() == ""


def test_a_session_that_is_set_later_lasts_to_the_end_of_the_block():
    with log_session(""):
        set_log_session(ONE)
        assert log_session_hash() == short_hash(ONE)
        set_log_session(OTHER)
        assert log_session_hash() == short_hash(OTHER)
    assert log_session_hash() == ""


def test_outside_a_block_no_session_is_set():
    set_log_session(ONE)
    assert log_session_hash() == ""


def test_the_session_is_reset_after_an_exception():
    with suppress(ZeroDivisionError), log_session(ONE):
        set_log_session(OTHER)
        1 / 0  # noqa: B018 - it fails
    assert log_session_hash() == ""


def test_a_new_thread_has_no_session_and_a_coroutine_inherits_it():
    seen = []
    with log_session(ONE):
        other = threading.Thread(target=lambda: seen.append(log_session_hash()))
        other.start()
        other.join()
    assert seen == [""]

    async def look() -> str:
        return log_session_hash()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        for session in (ONE, OTHER, ""):
            with log_session(session):
                told = asyncio.run_coroutine_threadsafe(look(), loop).result()
            assert told == (short_hash(session) if session else "")
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
