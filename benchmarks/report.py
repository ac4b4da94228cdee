"""The results of a benchmark: tables, limits and plots, as text and as Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Final

from audit.management.terminal import render_table

MET: Final = "met"
MISSED: Final = "MISSED"
NOT_MEASURED: Final = "not measured"


@dataclass(frozen=True)
class Limit:
    """A measured value with its `maximum` or `minimum`, both inclusive.

    A limit without a value counts as not met: a skipped measurement must not look
    like one that passed.
    """

    name: str
    value: float | None
    maximum: float | None = None
    minimum: float | None = None
    unit: str = ""
    skip_reason: str = ""  # why there is no value

    @property
    def is_measured(self) -> bool:
        return self.value is not None

    @property
    def is_met(self) -> bool:
        if self.value is None or (self.maximum is not None and self.value > self.maximum):
            return False
        return self.minimum is None or self.value >= self.minimum

    @property
    def status(self) -> str:
        if self.is_measured:
            return MET if self.is_met else MISSED
        return f"{NOT_MEASURED}: {self.skip_reason}"

    @property
    def required(self) -> str:
        bounds = []
        if self.minimum is not None:
            bounds.append(f"at least {number(self.minimum)}{self.unit}")
        if self.maximum is not None:
            bounds.append(f"at most {number(self.maximum)}{self.unit}")
        return ", ".join(bounds)

    @property
    def measured(self) -> str:
        return "–" if self.value is None else f"{number(self.value)}{self.unit}"


@dataclass(frozen=True)
class Table:
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Plot:
    file_name: str
    alt_text: str
    svg: str


@dataclass
class Section:
    title: str
    description: str = ""
    tables: list[Table] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_met(self) -> bool:
        return all(limit.is_met for limit in self.limits)


def number(value: float) -> str:
    """Three significant digits; values from 100 on are rounded to integers."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def print_report(section: Section) -> int:
    """Print the section and return the exit code: 1 if a limit was missed or not measured."""
    print(as_text(section))
    return int(not section.is_met)


def summary_line(limits: Sequence[Limit]) -> str:
    met = sum(limit.is_met for limit in limits)
    not_measured = sum(not limit.is_measured for limit in limits)
    summary = f"{met} of {len(limits)} limits met"
    return f"{summary}, {not_measured} {NOT_MEASURED}." if not_measured else f"{summary}."


def as_text(section: Section) -> str:
    lines = [section.title, "=" * len(section.title), ""]
    for table in section.tables:
        lines += [*([table.title, ""] if table.title else []), text_table(table), ""]
    if section.limits:
        lines += [text_table(limits_table(section.limits), right=(1,)), ""]
    lines += [*section.notes, *([""] if section.notes else [])]
    return "\n".join(lines)


def text_table(table: Table, *, right: Sequence[int] = ()) -> str:
    """Columns in `right` are right-aligned; by default all but the first."""
    right = right or range(1, len(table.header))
    return indent(render_table(table.header, table.rows, right=right), "  ")


def as_markdown(section: Section) -> str:
    lines = [f"## {section.title}", ""]
    if section.description:
        lines += [section.description, ""]
    for plot in section.plots:
        lines += [f"![{plot.alt_text}](images/{plot.file_name})", ""]
    for table in section.tables:
        lines += [*([f"**{table.title}**", ""] if table.title else []), *markdown_rows(table), ""]
    if section.limits:
        lines += [*markdown_rows(limits_table(section.limits)), ""]
    for note in section.notes:
        lines += [note, ""]
    return "\n".join(lines)


def limits_table(limits: Sequence[Limit]) -> Table:
    rows = [[one.name, one.measured, one.required, one.status] for one in limits]
    return Table(["Limit", "Measured", "Required", "Result"], rows)


def markdown_rows(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.header)} |"
    yield f"|{'|'.join(['---'] + ['---:'] * (len(table.header) - 1))}|"
    for row in table.rows:
        yield f"| {' | '.join(row)} |"
