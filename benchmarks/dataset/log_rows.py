"""The log of a filled house: one sound chain, as rows and as the file beside them.

Each kind of line is made once by the product's own functions, with marks where
lines differ; after that a line is a template filled in and one SHA-256.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

from audit.core import chain
from audit.core.record import action_entry, canonical_line, crosscheck_entry, divergence_entry
from audit.core.vocabulary import Kind
from audit.log.file import MODE
from audit.models import LogEntry
from benchmarks.dataset.samples import Answer, Escape, Sample
from benchmarks.dataset.history import (
    COMPARED,
    CASE_CLOSED,
    GATED,
    REGEN_GATED,
    OrderHistory,
    is_delivered,
    is_failed,
    has_open_case,
    is_regenerated,
    is_rejected,
    level,
    random_hex,
    session_id,
)
from benchmarks.dataset.row_set import Row, RowSet

_SESSION: Final = "@session@"
_TIME: Final = "@time@"
_ID: Final = "@id@"
_PREV: Final = "@prev@"
_ANY: Final = datetime(2026, 1, 1, tzinfo=UTC)


class _Template:
    """One kind of line. All texts take session id and time, a line also id, prev and its hash."""

    def __init__(self, entry: dict[str, Any], escape: Escape, salt: str = "") -> None:
        entry = {**entry, "timestamp": _TIME}
        self.salt = salt
        self.commitment = chain.commitment(salt, entry[chain.PREVIEW]) if salt else ""
        sealed = chain.seal(entry, entry_id=_ID, salt=salt, commitment=self.commitment, prev=_PREV)
        ending = f',"hash":"{sealed.hash}"' + "}\n"
        # What the hash is of: the line as it reads once erased, without the hash.
        hashed = chain.erase_preview(sealed.line).replace(ending, "}\n")
        self.entry = _marked(escape(canonical_line(entry).rstrip()))
        self.hashed = _marked(hashed)
        self.line = _marked(sealed.line).replace(sealed.hash, "%s")


def _marked(text: str) -> str:
    text = text.replace("%", "%%")
    for mark in (_SESSION, _TIME, _ID, _PREV):
        text = text.replace(mark, "%s")
    return text


class _Templates:
    def __init__(self, idea: Sample, number: int, escape: Escape) -> None:
        def crosscheck(answer: Answer, kind: Kind) -> _Template:
            entry = crosscheck_entry(
                session_id=_SESSION,
                tier=idea.tier,
                query=idea.query,
                decision=answer.decision,
                kind=kind,
                at=_ANY,
            )
            return _Template(entry, escape, random_hex("salt", number))

        def divergence(answer: Answer) -> _Template:
            entry = divergence_entry(
                session_id=_SESSION,
                tier=idea.tier,
                original_verdict=idea.original.label,
                regen_verdict=answer.label,
                at=_ANY,
            )
            return _Template(entry, escape)

        self.original = crosscheck(idea.original, "original")
        self.rejected = crosscheck(idea.rejected, "original")
        self.regens = {level: crosscheck(one, "regen") for level, one in idea.regens.items()}
        self.divergences = {level: divergence(one) for level, one in idea.regens.items()}
        entry = action_entry(
            session_id=_SESSION, action="case correct", who="ada", reason="seen", at=_ANY
        )
        self.action = _Template(entry, escape)


def lines(history: OrderHistory, escape: Escape, path: Path, host: str) -> list[RowSet]:
    """The rows of the log; asking for them writes the file as well, so ask once and in order."""
    writer = _Writer(history, escape, path)
    varying = "id public_id entry salt commitment created_at written_at sequence prev hash"
    return [RowSet(LogEntry, varying, writer.rows, {"host": host})]


class _Writer:
    def __init__(self, history: OrderHistory, escape: Escape, path: Path) -> None:
        self._past, self._path = history, path
        self._templates = [_Templates(idea, n, escape) for n, idea in enumerate(history.samples)]
        self._sequence, self._prev = 0, chain.GENESIS

    def rows(self, numbers: range) -> Iterator[Row]:
        if self._sequence == 0:
            self._path.touch(MODE, exist_ok=False)
        with self._path.open("a", buffering=1 << 20) as file:
            for number in numbers:
                session = session_id(number)
                for template, after in self._kinds(number):
                    yield self._row(session, template, self._past.at(number, after), file)

    def _kinds(self, number: int) -> Iterator[tuple[_Template, int]]:
        its = self._templates[number % len(self._templates)]
        if not is_failed(number):
            yield its.rejected if is_rejected(number) else its.original, GATED
        if is_regenerated(number):
            yield its.regens[level(number)], REGEN_GATED
            yield its.divergences[level(number)], COMPARED
        elif not is_delivered(number) and not has_open_case(number):
            yield its.action, CASE_CLOSED

    def _row(self, session: str, template: _Template, at: str, file: IO[str]) -> Row:
        self._sequence += 1
        entry_id = random_hex("line", self._sequence)
        time = f"{at.replace(' ', 'T')}Z"
        prev = self._prev
        digest = sha256((template.hashed % (session, time, entry_id, prev)).encode()).hexdigest()
        file.write(template.line % (session, time, entry_id, prev, digest))
        self._prev = digest
        return (
            self._sequence,
            entry_id,
            template.entry % (session, time),
            template.salt,
            template.commitment,
            at,
            at,
            self._sequence,
            prev,
            digest,
        )
