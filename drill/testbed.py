"""Everything a drill runs with: the site under test, the sandbox, the inspector and the faults."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from drill.display import ProgressDisplay
from drill.faults.clock import Clock, find_library
from drill.faults.disk import Disk, disk_under
from drill.faults.kill_stages import FOLDER
from drill.invariants.facts import ClientFacts
from drill.invariants.inspector import Inspector
from drill.load.customer_client import CustomerClient
from drill.sites.databases import Database
from drill.sites.site import HOST, Site, free_port, sandbox_process
from sandbox.client import SandboxClient

MODEL: Final = "gemini-2.5-flash"
MODEL_DEADLINE: Final = 6  # seconds


@dataclass(frozen=True)
class Testbed:
    site: Site
    sandbox: SandboxClient
    inspector: Inspector
    client: CustomerClient
    database: Database
    disk: Disk
    clock: Clock | None  # None: the site's clock cannot be stepped
    folder: Path
    stages: Path  # the folder in which kill stages are armed
    client_facts: ClientFacts = field(default_factory=ClientFacts)

    @property
    def service_log(self) -> Path:
        """The output of all processes of the site."""
        return self.folder / "site.log"


@contextmanager
def running_testbed(
    folder: Path,
    database: Database,
    display: ProgressDisplay,
    *,
    settings: str,
    with_clock: bool = True,
    **environment: str,
) -> Iterator[Testbed]:
    """Up and responding for the duration of the block; `settings` and `environment` are the
    site's. `with_clock`: make the site's clock steppable where libfaketime works.
    """
    port, sandbox_port = free_port(), free_port()
    log, stages = folder / "log" / "oracle_log.jsonl", folder / "stages"
    log.parent.mkdir()
    stages.mkdir()
    disk, library = disk_under(log), find_library() if with_clock else None
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
        "ORACLE_MODEL_DEADLINE": str(MODEL_DEADLINE),
        "ORACLE_REGENERATION_DEADLINE": str(MODEL_DEADLINE),
        **environment,
        **(clock.environment if clock else {}),
    }
    # The inspector uses the site's plain settings, so that it cannot be killed at a stage.
    site_variables = {**variables, "DJANGO_SETTINGS_MODULE": settings, FOLDER: str(stages)}
    site = Site(port, folder=folder, output=folder / "site.log", environment=site_variables)
    facts = ClientFacts()
    display.show("Starting the site")
    with _sandbox(folder, sandbox_port, site) as sandbox, site.running():
        client = CustomerClient(site.url, sandbox, facts)
        with client, Inspector(variables, errors=folder / "inspector.log") as inspector:
            yield Testbed(
                site, sandbox, inspector, client, database, disk, clock, folder, stages, facts
            )


@contextmanager
def _sandbox(folder: Path, port: int, site: Site) -> Iterator[SandboxClient]:
    with (
        (folder / "sandbox.log").open("ab") as output,
        sandbox_process(port, webhook_url=f"{site.url}/api/webhook", output=output) as sandbox,
    ):
        yield sandbox
