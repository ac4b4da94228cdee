"""What a benchmark found: tables, limits and pictures, for a terminal and for the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

KEPT: Final = "kept"
MISSED: Final = "MISSED"
NOT_MEASURED: Final = "not measured"


@dataclass(frozen=True)
class Limit:
    """A figure and what it may be at `most`, or must be at `least`.

    What could not be measured stays a limit, and is not kept: a promise that nobody
    has looked at must not look like one that holds.
    """

    what: str
    figure: float | None
    most: float | None = None
    least: float | None = None
    unit: str = ""
    why_not: str = ""  # for one without a figure: what is missing here

    @property
    def is_measured(self) -> bool:
        return self.figure is not None

    @property
    def is_kept(self) -> bool:
        if self.figure is None or (self.most is not None and self.figure > self.most):
            return False
        return self.least is None or self.figure >= self.least

    @property
    def verdict(self) -> str:
        if self.is_measured:
            return KEPT if self.is_kept else MISSED
        return f"{NOT_MEASURED}: {self.why_not}"

    @property
    def promise(self) -> str:
        said = []
        if self.least is not None:
            said.append(f"at least {number(self.least)}{self.unit}")
        if self.most is not None:
            said.append(f"at most {number(self.most)}{self.unit}")
        return ", ".join(said)

    @property
    def shown(self) -> str:
        return "–" if self.figure is None else f"{number(self.figure)}{self.unit}"


@dataclass(frozen=True)
class Table:
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Picture:
    name: str  # of the file
    says: str  # for who cannot see it
    svg: str


@dataclass
class Section:
    title: str
    about: str = ""
    tables: list[Table] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_kept(self) -> bool:
        return all(limit.is_kept for limit in self.limits)


def number(value: float) -> str:
    """As many digits as tell something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def tell(section: Section) -> int:
    """Print it; returns the exit code: 1 where a limit was missed or not measured."""
    print(in_text(section))
    return int(not section.is_kept)


def headline(limits: Sequence[Limit]) -> str:
    kept = sum(limit.is_kept for limit in limits)
    not_measured = sum(not limit.is_measured for limit in limits)
    told = f"{kept} of {len(limits)} limits kept"
    return f"{told}, {not_measured} {NOT_MEASURED}." if not_measured else f"{told}."


def in_text(section: Section) -> str:
    """For a terminal."""
    lines = [section.title, "=" * len(section.title), ""]
    for table in section.tables:
        lines += [*([table.title, ""] if table.title else []), *table_lines(table), ""]
    if section.limits:
        width = max(len(limit.what) for limit in section.limits)
        for limit in section.limits:
            told = f"{limit.what:<{width}}  {limit.shown:>9}  {limit.promise}"
            lines.append(f"  {told}  {limit.verdict}")
        lines.append("")
    lines += [*section.notes, *([""] if section.notes else [])]
    return "\n".join(lines)


def table_lines(table: Table) -> Iterator[str]:
    rows = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    for place, row in enumerate(rows):
        first, *rest = row
        cells = [f"{first:<{widths[0]}}"]
        cells += [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  " + "  ".join(cells).rstrip()
        if place == 0:
            yield "  " + "  ".join("-" * width for width in widths)


def in_markdown(section: Section) -> str:
    """For the page."""
    lines = [f"## {section.title}", ""]
    if section.about:
        lines += [section.about, ""]
    for picture in section.pictures:
        lines += [f"![{picture.says}](images/{picture.name})", ""]
    for table in section.tables:
        lines += [*([f"**{table.title}**", ""] if table.title else []), *rows_of(table), ""]
    if section.limits:
        lines += [*rows_of(limits_table(section.limits)), ""]
    for note in section.notes:
        lines += [note, ""]
    return "\n".join(lines)


def limits_table(limits: Sequence[Limit]) -> Table:
    rows = [[one.what, one.shown, one.promise, one.verdict] for one in limits]
    return Table(["Limit", "Measured", "Promised", ""], rows)


def rows_of(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.header)} |"
    yield f"|{'|'.join(['---'] + ['---:'] * (len(table.header) - 1))}|"
    for row in table.rows:
        yield f"| {' | '.join(row)} |"
