"""One drill from beginning to end: a storm, or a crowd."""

from collections import Counter
from pathlib import Path

from drill.display import Display
from drill.faults.fault_injector import FaultInjector
from drill.faults.faults import plan_faults
from drill.faults.kill_stages import kills
from drill.invariants.evidence import gather, injected, keep, left_out
from drill.invariants.invariants import judge
from drill.invariants.load_invariants import judge_crowd
from drill.invariants.lost_answers import answers_at_risk
from drill.load.crowd import BEFORE, SETTINGS, Crowd, plain
from drill.load.plan import customers
from drill.load.scene import play
from drill.load.storm import Storm
from drill.report import CrowdReport, Report
from drill.sites.databases import Database, open_database


def drill(
    orders: int, seed: int, *, pace: float | None, database: str, folder: Path
) -> Report | CrowdReport:
    """A crowd where there is a pace, else a storm. Raises NotRun and GaveUp."""
    display = Display()
    with open_database(database, folder) as where:
        if pace is None:
            return storm(orders, seed, database=where, folder=folder, display=display)
        return crowd(orders, seed, pace, database=where, folder=folder, display=display)


def storm(
    orders: int,
    seed: int,
    *,
    database: Database,
    folder: Path,
    display: Display,
    settings: str = "drill.settings",
) -> Report:
    """Orders and faults, quiet, audit. `settings` are those of the site under the drill."""
    buying = customers(seed, orders)
    with play(folder, database, display, settings=settings) as scene:
        injector = FaultInjector(scene)
        planned = plan_faults(
            seed, orders, restarts=database.restart is not None, clock=scene.clock is not None
        )
        course = Storm(scene, buying, display).run(planned, injector)
        display.show("Auditing")
        at_risk = answers_at_risk(kills(scene.stages), injector.faults, course.restarted)
        facts = gather(scene, buying, at_risk=at_risk)
        keep(facts, folder)
        invariants = judge(facts)
        report = Report(
            orders=orders,
            seed=seed,
            database=database.title,
            disk=scene.disk.about,
            invariants=invariants,
            injected=injected(facts, scene.sandbox, injector),
            left_out=left_out(scene, course),
            kills=Counter(line.rpartition(", ")[0] for line in kills(scene.stages)),
            course=course,
            answers=scene.met.answers,
            slowest=scene.met.slowest,
        )
    display.clear()
    return report


def crowd(
    orders: int, seed: int, pace: float, *, database: Database, folder: Path, display: Display
) -> CrowdReport:
    """So many orders at once on a model that takes `pace` requests a second; nothing is broken."""
    buying = plain(seed, orders + BEFORE)
    site = "oracle_site.settings"
    with play(folder, database, display, settings=site, stepped=False, **SETTINGS) as scene:
        felt = Crowd(scene, buying, pace, display).run()
        display.show("Auditing")
        facts = gather(scene, buying, at_risk=0)
        keep(facts, folder)
        report = CrowdReport(
            orders=orders,
            seed=seed,
            pace=pace,
            database=database.title,
            invariants=[*judge_crowd(felt, scene.met), *judge(facts)],
            felt=felt,
            slowest=scene.met.slowest,
        )
    display.clear()
    return report
