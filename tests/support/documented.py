"""Command lines with their output in the documentation, and its generated parts.

`python -m tests.support.documented` generates the table of docs/SETTINGS.md, docs/mutations.txt
and its plot from the code.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
SETTINGS_PAGE = ROOT / "docs/SETTINGS.md"
MUTATIONS = ROOT / "docs/mutations.txt"
MUTATIONS_PLOT = ROOT / "docs/images/calibration.svg"
SETTINGS_HEADING = "| Variable | Type | Default | Meaning |\n|---|---|---|---|\n"
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)((?:    [^\n]*\n)+)")
COMMAND_LINE = re.compile(
    r"(?:\.\.\. \| )?(?:(?:(?:\.venv/bin/)?python )?(?P<manage>manage\.py)|make) (?P<rest>.+)"
)


@dataclass(frozen=True)
class Documented:
    page: str
    block: int
    program: str  # manage.py or make
    arguments: tuple[str, ...]
    shown: str  # the output shown in the same block

    @property
    def fails(self) -> bool:
        return "CommandError: " in self.shown

    def __str__(self) -> str:
        return f"{self.program} {shlex.join(self.arguments)}"


def blocks(text: str) -> Iterator[str]:
    yield from FENCED.findall(text)
    yield from INDENTED.findall(FENCED.sub("", text))


def documented(path: Path) -> list[Documented]:
    found = []
    for number, block in enumerate(blocks(path.read_text())):
        lines = [line.strip() for line in block.splitlines()]
        prompted = any(line.startswith("$ ") for line in lines)
        for place, line in enumerate(lines):
            if prompted and not line.startswith("$ "):
                continue  # output
            command = COMMAND_LINE.fullmatch(line.removeprefix("$ "))
            if not command:
                continue
            following = iter(lines[place + 1 :])
            shown = []
            for output in following:
                if output.startswith("$ "):
                    break
                shown.append(output)
            program = command["manage"] or "make"
            arguments = tuple(shlex.split(command["rest"], comments=True))
            found.append(Documented(path.name, number, program, arguments, "\n".join(shown)))
    return found


def everything_documented() -> list[Documented]:
    return [one for page in PAGES for one in documented(page)]


def settings_table() -> str:
    """The rows of docs/SETTINGS.md: every environment variable that the settings read."""
    rows = []
    for variable in settings.ENV.declared:
        default = f"`{variable.default}`" if variable.default else ""
        cells = (f"`{variable.name}`", variable.kind, default, variable.description)
        rows.append(f"| {' | '.join(cells)} |\n")
    return SETTINGS_HEADING + "".join(rows)


def write_settings_table() -> None:
    """Replace the table of docs/SETTINGS.md, which runs to the end of the page."""
    before, _, _ = SETTINGS_PAGE.read_text().partition(SETTINGS_HEADING)
    SETTINGS_PAGE.write_text(before + settings_table())


def mutation_report(plot: Path) -> str:
    """What `calibrate_crosscheck --mutate` prints of the built-in verdicts; writes the plot."""
    command = [sys.executable, "manage.py", "calibrate_crosscheck", "--mutate", "--plot", plot]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    report, _, _ = run.stdout.partition("\n\nThe distribution is drawn")
    return f"{report}\n"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    write_settings_table()
    MUTATIONS.write_text(mutation_report(MUTATIONS_PLOT))
