"""Runs one drill from start to report: a fault scenario, or a load scenario."""

from pathlib import Path

from drill.display import ProgressDisplay
from drill.faults.fault_injector import FaultInjector
from drill.faults.faults import plan_faults
from drill.faults.kill_stages import kills
from drill.invariants.collect import collect_facts, count_injected, not_injected, save_facts
from drill.invariants.invariants import judge
from drill.invariants.load_invariants import judge_load
from drill.invariants.lost_answers import answers_at_risk
from drill.load.workload import plan_customers
from drill.report import FaultReport, LoadReport
from drill.scenarios.fault_scenario import FaultScenario
from drill.scenarios.load_scenario import SETTINGS, LoadScenario, plan_load
from drill.sites.databases import Database, open_database
from drill.testbed import running_testbed


def drill(
    orders: int, seed: int, *, pace: float | None, database: str, folder: Path
) -> FaultReport | LoadReport:
    """With a pace the load scenario, else the fault scenario. Raises NotRun, RetriesExhausted."""
    with ProgressDisplay() as display, open_database(database, folder) as opened:
        if pace is None:
            return fault_drill(orders, seed, database=opened, folder=folder, display=display)
        return load_drill(orders, seed, pace, database=opened, folder=folder, display=display)


def fault_drill(
    orders: int,
    seed: int,
    *,
    database: Database,
    folder: Path,
    display: ProgressDisplay,
    settings: str = "drill.settings",
) -> FaultReport:
    """`settings`: the module with those of the drilled site."""
    customers = plan_customers(seed, orders)
    with running_testbed(folder, database, display, settings=settings) as testbed:
        injector = FaultInjector(testbed)
        faults = plan_faults(
            seed, orders, restarts=database.restart is not None, clock=testbed.clock is not None
        )
        result = FaultScenario(testbed, customers, display).run(faults, injector)
        display.show("Auditing")
        killed = kills(testbed.stages)
        at_risk = answers_at_risk(killed, injector.faults, result.replaced_pools)
        facts = collect_facts(testbed, customers, answers_at_risk=at_risk)
        save_facts(facts, folder)
        return FaultReport(
            orders=orders,
            seed=seed,
            database=database.title,
            disk=testbed.disk.description,
            invariants=judge(facts),
            injected=count_injected(facts, testbed.sandbox, injector),
            not_injected=not_injected(testbed, result),
            kills=killed,
            result=result,
            responses=testbed.client_facts.responses,
            slowest=testbed.client_facts.slowest,
        )


def load_drill(
    orders: int,
    seed: int,
    pace: float,
    *,
    database: Database,
    folder: Path,
    display: ProgressDisplay,
) -> LoadReport:
    """All orders at once on a model that takes `pace` requests a second."""
    customers = plan_load(seed, orders)
    settings = "oracle_site.settings"
    with running_testbed(
        folder, database, display, settings=settings, with_clock=False, **SETTINGS
    ) as testbed:
        measured = LoadScenario(testbed, customers, pace, display).run()
        display.show("Auditing")
        facts = collect_facts(testbed, customers, answers_at_risk=0)
        save_facts(facts, folder)
        return LoadReport(
            orders=orders,
            seed=seed,
            pace=pace,
            database=database.title,
            invariants=[*judge_load(measured, testbed.client_facts), *judge(facts)],
            measured=measured,
            slowest=testbed.client_facts.slowest,
        )
