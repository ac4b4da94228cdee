"""Verifies the log files against the database: chain, order, completeness, each line's text.

Pure: no I/O, no clock, no Django. The caller supplies the lines in file order, the
written rows in order of `sequence`, and a function that finds a row by id. That function
computes the line of a row that is not marked as written from the previous hash it is given.

Policy
- A line is checked by itself, then against its row, then against the previous line.
- The line after a faulty one is not reported for not following it.
- An incomplete line at the end of a file is left by a crash: noted, not a fault. If its
  row is not written elsewhere, it is reported as missing.
- A line whose row is not marked as written is left by a crash, too: the writer marks it
  later. It must equal the line that its row gives, else it is forged.
- Rows before the first line are missing, unless the caller says that older files are
  elsewhere. With no line at all they are missing even then.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from audit.core import chain

UNKNOWN: Final = "not in the database: added, or the database was restored from a backup"
FOREIGN: Final = "belongs to another host's log"
MOVED: Final = "out of order, or duplicated"
ALTERED: Final = "not the recorded line: its hash differs from the one in the database"
FORGED: Final = "not the line that its row in the database gives: forged, or altered"
ROW_ALTERED: Final = "its row in the database was altered and no longer gives the recorded hash"
BLANKED: Final = "its preview is blank, but not in the database"
NOT_ERASED: Final = "its preview was erased in the database, but not in the file"


class Line(NamedTuple):
    file: str
    number: int
    text: bytes


class Row(NamedTuple):
    """A line according to the database. `sequence` is None if not marked as written; `text` is
    empty if it belongs to another host."""

    entry_id: str
    sequence: int | None
    hash: str
    text: str


class Fault(NamedTuple):
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(slots=True)
class Findings:
    """The result of verifying the files; `first` is the first of `faults` faults."""

    lines: int = 0
    files: int = 0
    faults: int = 0
    first: Fault | None = None
    torn: list[str] = field(default_factory=list)
    unmarked: int = 0
    begins: int = 0  # the first sequence number found
    missing: int = 0  # rows that are in no file
    not_erased: list[str] = field(default_factory=list)  # ids whose preview must still be blanked
    cut_after: int | None = None  # the last sequence number found, if later ones are missing

    def add(self, where: str, what: str) -> None:
        self.faults += 1
        self.first = self.first or Fault(where, what)


def examine(
    lines: Iterable[Line],
    rows: Iterator[Row],
    find: Callable[[str, str], Row | None],
    *,
    older_elsewhere: bool = False,
) -> Findings:
    """Verify all lines against all rows, in one pass over both."""
    return _Verifier(rows, find, older_elsewhere=older_elsewhere).run(lines)


class _Verifier:
    def __init__(
        self, rows: Iterator[Row], find: Callable[[str, str], Row | None], *, older_elsewhere: bool
    ) -> None:
        self._rows, self._find = rows, find
        self._skips_start = older_elsewhere
        self._next_row = next(rows, None)
        self._seen = 0  # the last sequence number found
        self._prev: str | None = None  # None: after a faulty line, or before the first
        self._found = Findings()

    def run(self, lines: Iterable[Line]) -> Findings:
        where, file, self._prev = "", None, None if self._skips_start else chain.GENESIS
        for line in lines:
            self._found.files += line.file != file
            file, where = line.file, f"{line.file} line {line.number}"
            if line.text.endswith(b"\n"):
                self._found.lines += 1
                self._check(line.text, where)
            else:
                self._found.torn.append(where)
        self._end(where)
        return self._found

    def _check(self, raw: bytes, where: str) -> None:
        text = raw.decode("ascii", "replace")
        fields = chain.parse(text) or {}
        prev = str(fields.get("prev"))
        invalid = chain.verify(text, prev)
        row = self._row(chain.entry_id(fields), prev)
        # An altered line still counts for its row, so that its row is not reported as missing.
        misplaced = self._advance(row.sequence) if row and row.text and row.sequence else ""
        fault = invalid or self._against_row(text, str(fields.get("hash")), row) or misplaced
        if not fault and self._prev not in (None, prev):
            fault = "prev is not the hash of the previous line"
        if fault:
            self._found.add(where, fault)
        self._prev = None if fault else str(fields["hash"])

    def _row(self, entry_id: str, prev: str) -> Row | None:
        if self._next_row and self._next_row.entry_id == entry_id:
            return self._next_row
        return self._find(entry_id, prev) if entry_id else None

    def _against_row(self, text: str, hash_: str, row: Row | None) -> str:
        if row is None or not row.text:
            return FOREIGN if row else UNKNOWN
        if hash_ != row.hash:
            return FORGED if row.sequence is None else ALTERED
        self._found.unmarked += row.sequence is None
        return "" if text == row.text else self._compare_preview(text, row)

    def _compare_preview(self, text: str, row: Row) -> str:
        erased = chain.erase_preview(text)
        if erased != chain.erase_preview(row.text):
            return ROW_ALTERED
        if text == erased:
            return BLANKED
        self._found.not_erased.append(row.entry_id)
        return NOT_ERASED

    def _advance(self, sequence: int) -> str:
        """Advance to the row after this one. Returns the fault of finding it here, if any."""
        if sequence <= self._seen:
            return MOVED
        first, skipped = self._seen + 1, 0
        while self._next_row and (self._next_row.sequence or 0) <= sequence:
            skipped += self._next_row.sequence != sequence
            self._next_row = next(self._rows, None)
        begins, self._seen = self._seen == 0 and self._skips_start, sequence
        self._found.begins = self._found.begins or sequence
        if not skipped or begins:
            return ""
        self._found.missing += skipped
        return f"{_lines(skipped)} missing before it, from number {first} on"

    def _end(self, where: str) -> None:
        if self._next_row is None:
            return
        missing = 1 + sum(1 for _ in self._rows)
        self._found.missing += missing
        if self._skips_start and not self._seen:
            self._found.add(
                where or "no file", f"no recorded line found, but the database has {missing:,}"
            )
            return
        self._found.cut_after = self._seen
        self._found.add(where or "no file", f"{_lines(missing)} missing at the end")


def _lines(count: int) -> str:
    return "1 line is" if count == 1 else f"{count:,} lines are"
