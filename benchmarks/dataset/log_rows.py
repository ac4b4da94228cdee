"""The audit log of a dataset: one valid hash chain, as rows and as the file.

Each kind of line is built once by the product's own functions, with placeholders for
the parts that vary; after that a line costs one string formatting and one SHA-256.
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
from benchmarks.dataset.history import (
    CASE_CLOSED,
    COMPARED,
    GATED,
    REGEN_GATED,
    OrderHistory,
    has_open_case,
    is_delivered,
    is_failed,
    is_regenerated,
    is_rejected,
    level,
    random_hex,
    session_id,
)
from benchmarks.dataset.row_set import Row, RowSet
from benchmarks.dataset.samples import Escape, Sample, SampleVerdict

_SESSION: Final = "@session@"
_TIME: Final = "@time@"
_ID: Final = "@id@"
_PREV: Final = "@prev@"
_ANY_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)


class _Template:
    """One kind of line, as format strings.

    Arguments are session id and time; `hashed` also takes id and prev, `line` id, prev and hash.
    """

    def __init__(self, entry: dict[str, Any], escape: Escape, salt: str = "") -> None:
        entry = {**entry, "timestamp": _TIME}
        self.salt = salt
        self.commitment = chain.commitment(salt, entry[chain.PREVIEW]) if salt else ""
        sealed = chain.seal(entry, entry_id=_ID, salt=salt, commitment=self.commitment, prev=_PREV)
        ending = f',"hash":"{sealed.hash}"' + "}\n"
        # The hash covers the line as it reads after erasure, without the hash itself.
        hashed = chain.erase_preview(sealed.line).replace(ending, "}\n")
        self.entry = _as_format(escape(canonical_line(entry).rstrip()))
        self.hashed = _as_format(hashed)
        self.line = _as_format(sealed.line).replace(sealed.hash, "%s")


def _as_format(text: str) -> str:
    text = text.replace("%", "%%")
    for placeholder in (_SESSION, _TIME, _ID, _PREV):
        text = text.replace(placeholder, "%s")
    return text


class _Templates:
    def __init__(self, sample: Sample, number: int, escape: Escape) -> None:
        def crosscheck(verdict: SampleVerdict, kind: Kind) -> _Template:
            entry = crosscheck_entry(
                session_id=_SESSION,
                tier=sample.tier,
                query=sample.query,
                decision=verdict.decision,
                kind=kind,
                at=_ANY_TIME,
            )
            return _Template(entry, escape, random_hex("salt", number))

        def divergence(verdict: SampleVerdict) -> _Template:
            entry = divergence_entry(
                session_id=_SESSION,
                tier=sample.tier,
                original_verdict=sample.original.label,
                regen_verdict=verdict.label,
                at=_ANY_TIME,
            )
            return _Template(entry, escape)

        self.original = crosscheck(sample.original, "original")
        self.rejected = crosscheck(sample.rejected, "original")
        self.regens = {level: crosscheck(one, "regen") for level, one in sample.regens.items()}
        self.divergences = {level: divergence(one) for level, one in sample.regens.items()}
        entry = action_entry(
            session_id=_SESSION, action="case correct", who="ada", reason="seen", at=_ANY_TIME
        )
        self.action = _Template(entry, escape)


def log_lines(history: OrderHistory, escape: Escape, path: Path, host: str) -> list[RowSet]:
    """The rows of the log. Iterating them also writes the file: do it once and in order."""
    writer = _Writer(history, escape, path)
    varying = "id public_id entry salt commitment created_at written_at sequence prev hash"
    return [RowSet(LogEntry, varying, writer.rows, {"host": host})]


class _Writer:
    def __init__(self, history: OrderHistory, escape: Escape, path: Path) -> None:
        self._history, self._path = history, path
        self._templates = [
            _Templates(sample, n, escape) for n, sample in enumerate(history.samples)
        ]
        self._sequence, self._prev = 0, chain.GENESIS

    def rows(self, numbers: range) -> Iterator[Row]:
        if self._sequence == 0:
            self._path.touch(MODE, exist_ok=False)
        with self._path.open("a", buffering=1 << 20) as file:
            for number in numbers:
                session = session_id(number)
                for template, after in self._events(number):
                    yield self._row(session, template, self._history.at(number, after), file)

    def _events(self, number: int) -> Iterator[tuple[_Template, int]]:
        templates = self._templates[number % len(self._templates)]
        if not is_failed(number):
            yield templates.rejected if is_rejected(number) else templates.original, GATED
        if is_regenerated(number):
            yield templates.regens[level(number)], REGEN_GATED
            yield templates.divergences[level(number)], COMPARED
        elif not is_delivered(number) and not has_open_case(number):
            yield templates.action, CASE_CLOSED

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
