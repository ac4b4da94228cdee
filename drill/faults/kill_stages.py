"""Where a process of the site can be killed: between any two steps that something depends on.

A stage is armed by a file; the first process that passes there takes the file away
and kills itself, or its whole group (`drill.faults.kill_stage_app`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

FOLDER: Final = "ORACLE_DRILL_STAGES"
KILLS: Final = "kills.log"
ALONE, WITH_GROUP = "alone", "with its group"

When = Literal["before", "after", "half-way", "signal"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A moment in the life of an order, and the step of the product at which it is."""

    role: str  # web, generate or post
    name: str
    step: str
    when: When

    @property
    def file(self) -> str:
        return f"{self.role}.{self.name.replace(' ', '-').replace(',', '')}"


def _of(role: str, *stages: tuple[str, str, When]) -> list[Stage]:
    return [Stage(role, name, step, when) for name, step, when in stages]


_LOGGING: Final[list[tuple[str, str, When]]] = [
    ("committed, not logged", "audit.log.log.flush", "before"),
    ("half a line written", "audit.log.file.LogFile.append", "half-way"),
    ("line written, not marked", "audit.log.writer.mark", "before"),
]
STAGES: Final = [
    *_of(
        "web",
        ("order written", "verdicts.payments.client.create_session", "before"),
        ("session made", "verdicts.payments.client.create_session", "after"),
        ("event stored", "verdicts.payments.events.process", "before"),
        ("payment accepted, not committed", "verdicts.jobs.queue.enqueue", "after"),
        ("payment committed, not answered", "verdicts.payments.events.process", "after"),
        ("regeneration claimed", "verdicts.clients.ask_model_again", "before"),
        ("regeneration answered", "verdicts.clients.ask_model_again", "after"),
        ("regeneration kept, not answered", "verdicts.results.regenerate._store", "after"),
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
        ("result held", "django_q.signals.post_execute_in_worker", "signal"),
    ),
    *_of(
        "post",
        ("job taken", "verdicts.tasks.deliver", "before"),
        ("email claimed", "verdicts.clients.send_message", "before"),
        ("email taken by the server", "verdicts.clients.send_message", "after"),
        ("job done", "verdicts.tasks.deliver", "after"),
        ("result held", "django_q.signals.post_execute_in_worker", "signal"),
        ("comparison begun", "verdicts.tasks.compare", "before"),
        ("comparison made, not committed", "verdicts.results.cache.refresh", "after"),
        ("compared", "verdicts.tasks.compare", "after"),
        ("sweep begun", "verdicts.tasks.sweep", "before"),
        ("swept", "verdicts.tasks.sweep", "after"),
        *_LOGGING,
    ),
]


def arm(folder: Path, stage: Stage, *, how: str) -> None:
    """The next process that passes there dies: `how` is ALONE or WITH_GROUP."""
    waiting = folder / f"{stage.file}.new"
    waiting.write_text(how)
    waiting.rename(folder / stage.file)


def disarm_all(folder: Path) -> list[Stage]:
    """Whatever nobody has passed yet."""
    left = [stage for stage in STAGES if (folder / stage.file).exists()]
    for stage in left:
        (folder / stage.file).unlink(missing_ok=True)
    return left


def kills(folder: Path) -> list[str]:
    """The stages at which somebody was killed, as `role: name`, in order."""
    told = folder / KILLS
    return told.read_text().splitlines() if told.exists() else []
