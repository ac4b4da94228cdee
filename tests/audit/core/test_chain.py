import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.core.chain import GENESIS, commitment, entry_id, erase_preview, parse, seal, verify
from audit.core.record import canonical_line
from tests.support.log_entries import checked, compared

SALT = "ab" * 16


def sealed(entry, prev=GENESIS, number=1):
    committed = commitment(SALT, entry["query_preview"]) if "query_preview" in entry else ""
    return seal(entry, entry_id=f"{number:032x}", salt=SALT, commitment=committed, prev=prev)


def tampered(line, **changes):
    return canonical_line({**json.loads(line), **changes})


def test_a_line_has_the_documents_keys_then_ours_in_order():
    entry = checked()
    assert list(parse(sealed(entry).line)) == [
        *entry,
        "id",
        "preview_salt",
        "preview_commitment",
        "prev",
        "hash",
    ]
    assert list(entry)[-1] == "kind"


def test_an_entry_without_a_preview_has_no_commitment():
    entry = compared()
    assert list(parse(sealed(entry).line)) == [*entry, "id", "prev", "hash"]


def test_the_returned_hash_is_the_lines_hash():
    line, digest = sealed(checked())
    assert parse(line)["hash"] == digest


def test_a_chain_is_valid_only_in_order():
    first = sealed(checked())
    second = sealed(compared(), prev=first.hash, number=2)
    assert verify(first.line, GENESIS) is None
    assert verify(second.line, first.hash) is None
    assert verify(second.line, GENESIS) == "prev is not the hash of the previous line"
    assert verify(first.line, first.hash) == "prev is not the hash of the previous line"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"approved": False}, "hash does not match the line"),
        ({"id": "f" * 32}, "hash does not match the line"),
        ({"kind": "regen"}, "hash does not match the line"),
        ({"preview_commitment": "0" * 64}, "hash does not match the line"),
        ({"hash": "0" * 64}, "hash does not match the line"),
        ({"more": 1}, "hash does not match the line"),
        ({"query_preview": "Should we?"}, "preview does not match its commitment"),
        ({"query_preview": ""}, "preview does not match its commitment"),
        ({"query_preview": None}, "preview does not match its commitment"),
        ({"preview_salt": ""}, "preview does not match its commitment"),
        ({"preview_salt": 7}, "preview does not match its commitment"),
    ],
)
def test_a_forged_line_is_detected(change, problem):
    assert verify(tampered(sealed(checked()).line, **change), GENESIS) == problem


@pytest.mark.parametrize("missing", ["query_preview", "preview_salt", "flags", "prev", "hash"])
def test_a_line_that_lacks_a_key_is_detected(missing):
    fields = parse(sealed(checked()).line)
    del fields[missing]
    assert verify(canonical_line(fields), GENESIS) is not None


@pytest.mark.parametrize("moved", ["tier", "query_preview", "preview_salt", "hash"])
def test_a_moved_key_is_detected(moved):
    fields = parse(sealed(checked()).line)
    reordered = {moved: fields.pop(moved)} | fields
    assert verify(canonical_line(reordered), GENESIS) is not None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "not a JSON object"),
        ("[]\n", "not a JSON object"),
        ('{"event":"tmm_cross', "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"a":' * 101 + "1" + "}" * 101 + "\n", "not a JSON object"),
        (f'{{"prev":"{GENESIS}","score":NaN}}\n', "not in canonical form"),
        (f'{{"prev":"{GENESIS}","score":1e999}}\n', "not in canonical form"),
    ],
)
def test_an_invalid_line_is_a_problem_and_does_not_raise(line, problem):
    assert verify(line, GENESIS) == problem


def test_equal_content_in_other_bytes_is_detected():
    line = sealed(checked()).line
    for other in (line.rstrip("\n"), line.replace(":", ": ", 1), line.replace("{", '{"a":1,"a":')):
        assert verify(other, GENESIS) is not None


def test_erasing_a_preview_keeps_the_chain_valid():
    first = sealed(checked(query="my secret plan"))
    second = sealed(compared(), prev=first.hash, number=2)
    erased = erase_preview(first.line)
    assert "secret" not in erased
    assert SALT not in erased
    assert verify(erased, GENESIS) is None
    assert verify(second.line, parse(erased)["hash"]) is None
    assert list(parse(erased)) == list(parse(first.line))
    assert erase_preview(erased) == erased


def test_an_entry_erased_before_it_is_sealed_has_the_same_hash():
    entry = checked(query="my secret plan")
    erased = {**entry, "query_preview": ""}
    committed = commitment(SALT, "my secret plan")
    line, digest = seal(erased, entry_id=f"{1:032x}", salt="", commitment=committed, prev=GENESIS)
    assert digest == sealed(entry).hash
    assert verify(line, GENESIS) is None


def test_erasing_a_line_without_a_preview_changes_nothing():
    line = sealed(compared()).line
    assert erase_preview(line) == line
    with pytest.raises(ValueError, match="not a line"):
        erase_preview("torn")


def test_an_empty_preview_has_a_commitment():
    line = sealed(checked(query="")).line
    assert verify(line, GENESIS) is None
    assert verify(tampered(line, query_preview="x"), GENESIS) is not None


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_query_can_be_sealed_verified_and_erased(query):
    line = sealed(checked(query=query)).line
    assert line.isascii()
    assert verify(line, GENESIS) is None
    assert parse(line)["query_preview"] == query[:80]
    assert verify(erase_preview(line), GENESIS) is None


@pytest.mark.parametrize("value", [None, 7, [], "", "\0" * 32, "A" * 32, "0" * 31, "0" * 32 + "\n"])
def test_only_an_id_in_our_format_is_returned(value):
    assert entry_id({"id": value}) == ""
    assert entry_id({"id": "0af9" * 8}) == "0af9" * 8
