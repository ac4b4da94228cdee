"""The stages at which a process of the site can be killed: between any two dependent steps.

A stage is armed by a file. The first process that reaches it removes the file and kills itself
or its process group (`drill.faults.kill_stage_app`).
"""

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

FOLDER: Final = "ORACLE_DRILL_STAGES"  # the environment variable that names it
_KILLS: Final = "kills.jsonl"
_REPLACED_POOLS: Final = "replaced_pools"

When = Literal["before", "after", "half-way", "signal"]


class Scope(StrEnum):
    PROCESS = "process"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Stage:
    """A moment in the processing of an order: before, in or after a function of the product."""

    role: str  # web, generate or post
    name: str
    function: str
    when: When

    @property
    def id(self) -> str:
        return f"{self.role}: {self.name}"

    @property
    def file(self) -> str:
        return f"{self.role}.{self.name.replace(' ', '-').replace(',', '')}"


@dataclass(frozen=True, slots=True)
class Kill:
    stage: Stage
    scope: Scope


def _of(role: str, *stages: tuple[str, str, When]) -> list[Stage]:
    return [Stage(role, name, function, when) for name, function, when in stages]


_LOGGING: Final[list[tuple[str, str, When]]] = [
    ("committed, not logged", "audit.log.log.flush", "before"),
    ("half a line written", "audit.log.file.LogFile.append", "half-way"),
    ("line written, not marked", "audit.log.writer.mark", "before"),
]
STAGES: Final = [
    *_of(
        "web",
        ("order stored", "verdicts.payments.client.create_session", "before"),
        ("session created", "verdicts.payments.client.create_session", "after"),
        ("event stored", "verdicts.payments.events.process", "before"),
        ("payment accepted, not committed", "verdicts.jobs.queue.enqueue", "after"),
        ("payment committed, not answered", "verdicts.payments.events.process", "after"),
        ("regeneration claimed", "verdicts.clients.ask_model_again", "before"),
        ("regeneration answered", "verdicts.clients.ask_model_again", "after"),
        ("regeneration stored, not answered", "verdicts.results.regenerate._store", "after"),
        *_LOGGING,
    ),
    *_of(
        "generate",
        ("job taken", "verdicts.tasks.fulfil_order", "before"),
        ("order claimed", "verdicts.clients.ask_model", "before"),
        ("model answered", "verdicts.clients.ask_model", "after"),
        ("decision recorded", "verdicts.generation.generate.Judged.record", "after"),
        ("verdict cached, not committed", "verdicts.results.cache.put", "after"),
        *_LOGGING,
        ("job done", "verdicts.tasks.fulfil_order", "after"),
        ("result not saved", "django_q.signals.post_execute_in_worker", "signal"),
    ),
    *_of(
        "post",
        ("job taken", "verdicts.tasks.deliver", "before"),
        ("email claimed", "verdicts.clients.send_message", "before"),
        ("email accepted by the server", "verdicts.clients.send_message", "after"),
        ("job done", "verdicts.tasks.deliver", "after"),
        ("result not saved", "django_q.signals.post_execute_in_worker", "signal"),
        ("comparison started", "verdicts.tasks.compare", "before"),
        ("comparison made, not committed", "verdicts.results.cache.refresh", "after"),
        ("comparison done", "verdicts.tasks.compare", "after"),
        ("sweep started", "verdicts.tasks.sweep", "before"),
        ("sweep done", "verdicts.tasks.sweep", "after"),
        *_LOGGING,
    ),
]
_BY_FILE: Final = {stage.file: stage for stage in STAGES}
REGENERATION: Final = frozenset(
    {
        "web: regeneration claimed",
        "web: regeneration answered",
        "web: regeneration stored, not answered",
    }
)
# Between the model's answer and its commit.
HOLDS_ANSWER: Final = frozenset(
    {
        "generate: model answered",
        "generate: decision recorded",
        "generate: verdict cached, not committed",
    }
)


def arm(folder: Path, stage: Stage, *, scope: Scope) -> None:
    """The next process that reaches the stage is killed, or its group."""
    new = folder / f"{stage.file}.new"
    new.write_text(scope)
    new.rename(folder / stage.file)


def disarm(armed: Path) -> Scope | None:
    """None: the stage is not armed, or another process got there first."""
    try:
        scope = Scope(armed.read_text())
        armed.unlink()
    except FileNotFoundError:
        return None
    return scope


def disarm_all(folder: Path) -> list[Stage]:
    """The stages that no process has reached."""
    armed = [stage for stage in STAGES if (folder / stage.file).exists()]
    for stage in armed:
        (folder / stage.file).unlink(missing_ok=True)
    return armed


def record_kill(folder: Path, stage: Stage, scope: Scope) -> None:
    with (folder / _KILLS).open("a") as file:
        file.write(json.dumps({"stage": stage.file, "scope": scope}) + "\n")


def kills(folder: Path) -> list[Kill]:
    """In order."""
    rows = [json.loads(line) for line in _lines(folder / _KILLS)]
    return [Kill(_BY_FILE[row["stage"]], Scope(row["scope"])) for row in rows]


def record_replaced_pool(folder: Path, queue: str) -> None:
    with (folder / _REPLACED_POOLS).open("a") as file:
        file.write(f"{queue}\n")


def replaced_pools(folder: Path) -> Counter[str]:
    """How many pools were found stuck and replaced, by queue."""
    return Counter(_lines(folder / _REPLACED_POOLS))


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
