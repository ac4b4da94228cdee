"""Everything that a drill is played with: the site, the outside, and what can be done to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from drill.display import Display
from drill.faults.clock import Clock, find_library
from drill.faults.disk import Disk, disk_under
from drill.faults.kill_stages import FOLDER
from drill.invariants.examiner import Examiner
from drill.invariants.facts import CustomerFacts
from drill.load.visits import Visits
from drill.sites.databases import Database
from drill.sites.site import HOST, Site, free_port, outside
from sandbox.client import SandboxClient

MODEL: Final = "gemini-2.5-flash"
DEADLINE: Final = 6  # seconds that the model has in a drill


@dataclass(frozen=True)
class Scene:
    site: Site
    sandbox: SandboxClient
    examiner: Examiner
    visits: Visits
    database: Database
    disk: Disk
    clock: Clock | None
    folder: Path
    stages: Path
    met: CustomerFacts = field(default_factory=CustomerFacts)

    @property
    def said(self) -> Path:
        """What the site's processes have said."""
        return self.folder / "site.log"


@contextmanager
def play(
    folder: Path,
    database: Database,
    display: Display,
    *,
    settings: str,
    stepped: bool = True,
    **environment: str,
) -> Iterator[Scene]:
    """Up and answering; gone with the block. `settings` and `environment` are the site's.

    `stepped`: its clock can be, where that is possible here.
    """
    port, sandbox_port = free_port(), free_port()
    log, stages = folder / "log" / "oracle_log.jsonl", folder / "stages"
    log.parent.mkdir()
    stages.mkdir()
    disk, library = disk_under(log), find_library() if stepped else None
    clock = Clock(library, folder) if library else None
    variables = {
        "DEBUG": "0",
        "ORACLE_ALLOW_SANDBOX": "1",
        "SECRET_KEY": token_urlsafe(50),
        "ORACLE_STATIC_PATH": str(folder / "static"),
        "DATABASE_URL": database.url,
        "SITE_URL": f"http://{HOST}:{port}",
        "SANDBOX_URL": f"http://{HOST}:{sandbox_port}",
        "ORACLE_LOG_PATH": str(log),
        "ORACLE_LOG_NAME": "drill",
        "ORACLE_MODEL": MODEL,
        "ORACLE_MODEL_DEADLINE": str(DEADLINE),
        "ORACLE_REGENERATION_DEADLINE": str(DEADLINE),
        **environment,
        **(clock.environment if clock else {}),
    }
    inside = {"DJANGO_SETTINGS_MODULE": settings, FOLDER: str(stages)}
    site = Site(
        port, folder=folder, output=folder / "site.log", environment={**variables, **inside}
    )
    met = CustomerFacts()
    display.show("Starting the site")
    with _outside(folder, sandbox_port, site) as sandbox, site.running():
        visits = Visits(site.url, sandbox, met)
        with visits, Examiner(variables, said=folder / "examiner.log") as examiner:
            yield Scene(site, sandbox, examiner, visits, database, disk, clock, folder, stages, met)


@contextmanager
def _outside(folder: Path, port: int, site: Site) -> Iterator[SandboxClient]:
    with (
        (folder / "sandbox.log").open("ab") as said,
        outside(port, webhook_url=f"{site.url}/api/webhook", said=said) as sandbox,
    ):
        yield sandbox
