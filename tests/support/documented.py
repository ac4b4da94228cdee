"""The command lines that the documentation shows, with what it shows of their outcome."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)((?:    [^\n]*\n)+)")
OURS = re.compile(
    r"(?:\.\.\. \| )?(?:(?:(?:\.venv/bin/)?python )?(?P<manage>manage\.py)|make) (?P<rest>.+)"
)


@dataclass(frozen=True)
class Documented:
    page: str
    block: int
    program: str  # manage.py or make
    arguments: tuple[str, ...]
    shown: str  # what follows it in its block, up to the next command

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
                continue  # an answer
            command = OURS.fullmatch(line.removeprefix("$ "))
            if not command:
                continue
            following = iter(lines[place + 1 :])
            shown = []
            for answer in following:
                if answer.startswith("$ "):
                    break
                shown.append(answer)
            program = command["manage"] or "make"
            arguments = tuple(shlex.split(command["rest"], comments=True))
            found.append(Documented(path.name, number, program, arguments, "\n".join(shown)))
    return found


def everything_documented() -> list[Documented]:
    return [one for page in PAGES for one in documented(page)]
