"""The shape that ARCHITECTURE.md describes, checked on the code itself."""

import ast
import re
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.file_sizes import FIRST_PARTY, ROOT, file_sizes

PRODUCT = ("audit", "oracle_site", "verdicts")
MAX_FILE_LINES = 400
MAX_PACKAGE_FILES = 15
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}

# The layers of verdicts/, lowest first. A package's HTTP views (`*_api`, `page`) are entry points.
BASE = ("verdicts.core", "verdicts.models", "verdicts.http", "audit")
CASES = ("verdicts.review.cases",)  # opened by what needs staff, decided by review above
CACHE = ("verdicts.results.cache",)  # written with whatever changes a cached response
MAIL = (*BASE, "verdicts.jobs", *CASES, "verdicts.mail")
PAYMENTS = (*MAIL, *CACHE, "verdicts.payments")
GENERATION = (*PAYMENTS, "verdicts.generation")
RESULTS = (*GENERATION, "verdicts.results")
ENTRY_POINT = ("verdicts", "audit")

# Which packages and modules each may import, by longest matching prefix.
MAY_IMPORT = {
    "audit.core": ("audit.core",),
    "audit": ("audit",),
    "verdicts.core": ("verdicts.core", "audit.core"),
    "verdicts.models": ("verdicts.models", "verdicts.core", "audit"),
    "verdicts.http": BASE,
    "verdicts.jobs": (*BASE, "verdicts.jobs"),
    "verdicts.review.cases": BASE,
    "verdicts.results.cache": BASE,
    "verdicts.mail": MAIL,
    "verdicts.mail.send_email_api": ENTRY_POINT,
    "verdicts.payments": PAYMENTS,
    "verdicts.payments.checkout_api": ENTRY_POINT,
    "verdicts.payments.webhook_api": ENTRY_POINT,
    "verdicts.generation": GENERATION,
    "verdicts.clients": GENERATION,
    "verdicts.results": RESULTS,
    "verdicts.results.verdict_api": ENTRY_POINT,
    "verdicts.results.cache_api": ENTRY_POINT,
    "verdicts.results.page": ENTRY_POINT,
    "verdicts.results.read_request": ENTRY_POINT,
    "verdicts.results.reader": ENTRY_POINT,
    "verdicts.review": (*GENERATION, "verdicts.review"),
    "verdicts.privacy": (*PAYMENTS, "verdicts.privacy"),
    "verdicts.reconciliation": (
        *PAYMENTS,
        "verdicts.results.read_rollup",
        "verdicts.privacy",
        "verdicts.monitoring.daily_stats",
        "verdicts.monitoring.stats_compaction",
        "verdicts.reconciliation",
    ),
    "verdicts.monitoring": (*MAIL, "verdicts.monitoring"),
    "verdicts.monitoring.counters": (
        *MAIL,
        "verdicts.monitoring",
        "verdicts.reconciliation.discrepancies",
    ),
    "verdicts.monitoring.views": ENTRY_POINT,
    "verdicts.staff_auth": (*BASE, "verdicts.staff_auth"),
    "verdicts": ENTRY_POINT,
    "oracle_site": ("oracle_site", "verdicts", "audit"),
    "sandbox": ("sandbox",),
    # Starts sites and sandboxes; of the sandbox it uses the client and the start, over HTTP.
    "drill": ("drill", "sandbox.client", "sandbox.running", "oracle_site", "verdicts", "audit"),
    "benchmarks": ("benchmarks", "drill", "sandbox", "oracle_site", "verdicts", "audit"),
}
# The only modules that may import each SDK.
SDKS = {
    "google": ("verdicts.generation.client",),
    "stripe": ("verdicts.payments.client",),
    "httpx": ("verdicts.http.plain_http", "verdicts.mail.graph", "verdicts.generation.client"),
}


@cache
def modules(*packages: str) -> dict[str, ast.Module]:
    found = {}
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found[name.removesuffix(".__init__")] = ast.parse(path.read_text())
    return found


def imports(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            found |= {alias.name for alias in child.names}
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative imports hide the direction"
            found |= {f"{child.module}.{alias.name}" for alias in child.names}
    return found


def for_types_only(tree: ast.Module) -> set[str]:
    checked = [
        one for one in tree.body if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.dump(one)
    ]
    return {name for one in checked for name in imports(one)}


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def rule_for(module: str) -> tuple[str, ...]:
    matching = [prefix for prefix in MAY_IMPORT if within(module, (prefix,))]
    return MAY_IMPORT[max(matching, key=len)]


def each(*packages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "module", [pytest.param((n, t), id=n) for n, t in modules(*packages).items()]
    )


@each(*PRODUCT, "drill", "sandbox", "benchmarks")
def test_imports_go_one_way(module):
    name, tree = module
    first_party = {one for one in imports(tree) if within(one, FIRST_PARTY)}
    assert {one for one in first_party if not within(one, rule_for(name))} == set()


def test_no_module_imports_itself_by_way_of_others():
    product = modules(*PRODUCT)
    graph = {
        name: {
            found
            for one in imports(tree) - for_types_only(tree)
            if (found := one if one in product else one.rpartition(".")[0]) in product
            and found != name
        }
        for name, tree in product.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def test_every_rule_is_about_a_package_or_module_that_exists():
    known = set(modules(*PRODUCT, "drill", "sandbox", "benchmarks"))
    named = {*MAY_IMPORT, *(one for allowed in MAY_IMPORT.values() for one in allowed)}
    assert {one for one in named if one not in known} == set()


@each("audit/core", "verdicts/core")
def test_core_is_standard_library_only(module):
    outside = {one.partition(".")[0] for one in imports(module[1])} - {"audit", "verdicts"}
    assert outside <= sys.stdlib_module_names


@each(*PRODUCT)
def test_no_first_party_import_hides_in_a_function(module):
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    hidden = {
        one
        for function in ast.walk(module[1])
        if isinstance(function, functions)
        for one in imports(function)
        if within(one, FIRST_PARTY)
    }
    assert hidden == set()


@each(*PRODUCT)
def test_only_clients_import_sdks(module):
    name, tree = module
    used = {one.partition(".")[0] for one in imports(tree)} & set(SDKS)
    assert {sdk for sdk in used if not within(name, SDKS[sdk])} == set()


def test_files_are_short_and_their_names_say_something():
    sizes = file_sizes()
    assert {name: size for name, size in sizes.items() if size > MAX_FILE_LINES} == {}
    assert {name for name in sizes if Path(name).stem in VAGUE} == set()


def test_packages_are_small():
    packages: dict[str, int] = {}
    for name in file_sizes():
        folder = Path(name).parent
        if "migrations" not in folder.parts and folder.parts[:1] != ("tests",):
            packages[str(folder)] = packages.get(str(folder), 0) + (Path(name).stem != "__init__")
    assert {name: count for name, count in packages.items() if count > MAX_PACKAGE_FILES} == {}


def test_the_tests_mirror_the_packages():
    """A test module that mirrors none is named after a promise and lies at the top."""
    strays = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        relative = path.relative_to(ROOT / "tests")
        if len(relative.parts) > 1 and not (ROOT / relative.parent).exists():
            strays.append(str(relative))
    assert strays == []


def architecture(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of ARCHITECTURE.md."""
    section = (ROOT / "ARCHITECTURE.md").read_text().partition(f"## {heading}\n")[2]
    rows = re.findall(r"^\| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
    return [row.split(" | ") for row in rows[1:]]


def searchable(path: Path) -> str:
    """What finds a file: its name in words, and its text."""
    return f"{path.relative_to(ROOT)} ".replace("_", " ").lower() + path.read_text().lower()


@pytest.mark.parametrize("row", architecture("Packages"), ids=lambda row: row[0])
def test_the_search_words_of_a_package_lead_into_it(row):
    folders, _, words = row
    paths = [ROOT / name for name in re.findall(r"`([^`]+)`", folders)]
    files = [one for path in paths for one in ([path] if path.is_file() else path.rglob("*.py"))]
    text = "".join(map(searchable, files))
    assert [word for word in words.split(", ") if word.strip("`").lower() not in text] == []


def test_every_package_is_described():
    described = " ".join(row[0] for row in architecture("Packages"))
    folders = [path for package in ("audit", "verdicts") for path in (ROOT / package).iterdir()]
    packages = {f"{path.relative_to(ROOT)}/" for path in folders if (path / "__init__.py").exists()}
    beside = {"audit/management/", "audit/migrations/", "verdicts/migrations/"}
    assert {name for name in packages - beside if f"`{name}`" not in described} == set()


@pytest.mark.parametrize("heading", ["One order", "Names of the requirement documents"])
def test_every_module_of_the_overview_exists(heading):
    named = {
        name
        for *_, cell in architecture(heading)
        for name in re.findall(r"`((?:audit|verdicts)\.[\w.]+)`", cell)
    }
    known = set(modules(*PRODUCT))
    assert named
    assert {
        one for one in named if one not in known and one.rpartition(".")[0] not in known
    } == set()
