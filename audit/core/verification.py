"""Whether the lines of the log are the record: chain, order, gaps, end, and each line's text.

Pure: no I/O, no clock, no Django. The caller brings the lines in the order of
the files, the rows in the order of their places, and a way to find a row by id: one that is not
marked as written comes with what it would be after the hash that is passed along.

Policy
- A line is judged by itself first, then against its row, then against the line before.
- After a bad line the next one is not blamed for following it.
- A half line at the end of a file is what a crash leaves: noted, and no fault, for
  its row is missed all the same if it is not written elsewhere.
- A line whose row is not marked yet is what a crash leaves too: the writer marks it.
  It must be what its row gives after the line before, or it is forged.
- Rows before the first line are missed, unless older files are said to be elsewhere; where
  no line is here at all, nothing tells that they are.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from audit.core import chain

UNKNOWN: Final = "not in the database: added, or the database was restored from a backup"
FOREIGN: Final = "belongs to another host's log"
MOVED: Final = "out of order, or there twice"
ALTERED: Final = "not the line that was recorded: its hash is not the one in the database"
NOT_OURS: Final = "not the line that its row in the database gives: forged, or altered"
ROW_ALTERED: Final = "its row in the database was altered: that no longer gives the recorded hash"
BLANKED: Final = "its preview is blank, though the database has it"
NOT_ERASED: Final = "its preview was erased in the database and is still in the file"


class Line(NamedTuple):
    file: str
    number: int
    text: bytes


class Row(NamedTuple):
    """A line as the database has it. No `sequence`: not marked as written; no `text`: not ours."""

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
    """What a walk through the files has found; `first` is the first of `faults` faults."""

    lines: int = 0
    files: int = 0
    faults: int = 0
    first: Fault | None = None
    torn: list[str] = field(default_factory=list)
    unmarked: int = 0
    begins: int = 0  # the first place that is there
    missing: int = 0  # rows that are in no file
    not_erased: list[str] = field(default_factory=list)  # ids, with a preview that is to go
    cut_after: int | None = None  # the last place that is there, where later ones are missing

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
    """Walk through all lines beside all rows, each once."""
    return _Walk(rows, find, older_elsewhere=older_elsewhere).through(lines)


class _Walk:
    def __init__(
        self, rows: Iterator[Row], find: Callable[[str, str], Row | None], *, older_elsewhere: bool
    ) -> None:
        self._rows, self._find = rows, find
        self._skips_start = older_elsewhere
        self._due = next(rows, None)
        self._seen = 0  # the last place that was met
        self._prev: str | None = None  # None: after a bad line, or before the first
        self._found = Findings()

    def through(self, lines: Iterable[Line]) -> Findings:
        where, file, self._prev = "", None, None if self._skips_start else chain.GENESIS
        for line in lines:
            self._found.files += line.file != file
            file, where = line.file, f"{line.file} line {line.number}"
            if line.text.endswith(b"\n"):
                self._found.lines += 1
                self._judge(line.text, where)
            else:
                self._found.torn.append(where)
        self._end(where)
        return self._found

    def _judge(self, raw: bytes, where: str) -> None:
        text = raw.decode("ascii", "replace")
        fields = chain.parse(text) or {}
        prev = str(fields.get("prev"))
        wrong = chain.verify(text, prev)
        row = self._row(chain.entry_id(fields), prev)
        # An altered line still takes its row's place: the rows after it are not missed.
        misplaced = self._place(row.sequence) if row and row.text and row.sequence else ""
        blame = wrong or self._against_row(text, str(fields.get("hash")), row) or misplaced
        if not blame and self._prev not in (None, prev):
            blame = "prev is not the hash of the line before"
        if blame:
            self._found.add(where, blame)
        self._prev = None if blame else str(fields["hash"])

    def _row(self, entry_id: str, prev: str) -> Row | None:
        if self._due and self._due.entry_id == entry_id:
            return self._due
        return self._find(entry_id, prev) if entry_id else None

    def _against_row(self, text: str, hash_: str, row: Row | None) -> str:
        if row is None or not row.text:
            return FOREIGN if row else UNKNOWN
        if hash_ != row.hash:
            return NOT_OURS if row.sequence is None else ALTERED
        self._found.unmarked += row.sequence is None
        return "" if text == row.text else self._of_preview(text, row)

    def _of_preview(self, text: str, row: Row) -> str:
        erased = chain.erase_preview(text)
        if erased != chain.erase_preview(row.text):
            return ROW_ALTERED
        if text == erased:
            return BLANKED
        self._found.not_erased.append(row.entry_id)
        return NOT_ERASED

    def _place(self, sequence: int) -> str:
        """Step on to the row of this place; says what is wrong about finding it here."""
        if sequence <= self._seen:
            return MOVED
        first, passed = self._seen + 1, 0
        while self._due and (self._due.sequence or 0) <= sequence:
            passed += self._due.sequence != sequence
            self._due = next(self._rows, None)
        begins, self._seen = self._seen == 0 and self._skips_start, sequence
        self._found.begins = self._found.begins or sequence
        if not passed or begins:
            return ""
        self._found.missing += passed
        return f"{_lines(passed)} missing before it, from place {first} of the record on"

    def _end(self, where: str) -> None:
        if self._due is None:
            return
        missing = 1 + sum(1 for _ in self._rows)
        self._found.missing += missing
        if self._skips_start and not self._seen:
            self._found.add(
                where or "no file", f"no line of the record is here, and it has {missing:,}"
            )
            return
        self._found.cut_after = self._seen
        self._found.add(
            where or "no file", f"the record goes on: {_lines(missing)} missing at the end"
        )


def _lines(count: int) -> str:
    return "1 line is" if count == 1 else f"{count:,} lines are"
