from hashlib import sha256

from audit.core.redaction import redacted, short_hash
from tests.support.log_entries import checked, compared


def test_the_short_hash_is_the_first_twelve_hex_digits_of_sha_256():
    assert short_hash("cs_test_12345678") == sha256(b"cs_test_12345678").hexdigest()[:12]
    assert len(short_hash("\ud800")) == 12


def test_neither_session_nor_query_reaches_a_service_log():
    shown = redacted(checked(query="my secret plan"))
    assert "secret" not in str(shown)
    assert "cs_test" not in str(shown)


def test_all_other_fields_of_the_documents_entries_are_kept():
    for entry in (checked(), compared()):
        assert entry.keys() - redacted(entry).keys() <= {"session_id", "query_preview"}


def test_an_unlisted_field_is_removed():
    assert "reason" not in redacted({**checked(), "reason": "Ms Example asked"})
