"""The shape that STYLE and DESIGN promise, read off the code itself."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.file_sizes import FIRST_PARTY, ROOT, file_sizes

PRODUCT = ("audit", "oracle_site", "verdicts")
LONGEST_FILE = 400
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}

# Who may import whom, by longest matching prefix: the only ways there are.
MAY_IMPORT = {
    "audit.core": ("audit.core",),
    "audit": ("audit",),
    "verdicts.core": ("verdicts.core", "audit.core"),
    "verdicts.gateways": ("verdicts.gateways", "verdicts.core", "audit.core"),
    "verdicts.services": (
        "verdicts.services",
        "verdicts.gateways",
        "verdicts.core",
        "verdicts.models",
        "verdicts.queue",
        "audit",
    ),
    "verdicts": ("verdicts", "audit"),
    "oracle_site": ("oracle_site", "verdicts", "audit"),
    "sandbox": ("sandbox",),
    # Runs a site and looks into it; of the sandbox it uses the controls, over HTTP.
    "drill": ("drill", "sandbox.client", "oracle_site", "verdicts", "audit"),
}
# The packages that speak to the outside, and the only place that may import them.
SDKS = {"google": "verdicts.gateways", "stripe": "verdicts.gateways", "httpx": "verdicts.gateways"}


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


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def rule_for(module: str) -> tuple[str, ...]:
    matching = [prefix for prefix in MAY_IMPORT if within(module, (prefix,))]
    return MAY_IMPORT[max(matching, key=len)]


def each(*packages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "module", [pytest.param((n, t), id=n) for n, t in modules(*packages).items()]
    )


@each(*PRODUCT, "drill", "sandbox")
def test_imports_go_one_way(module):
    name, tree = module
    first_party = {one for one in imports(tree) if within(one, FIRST_PARTY)}
    assert {one for one in first_party if not within(one, rule_for(name))} == set()


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
def test_only_gateways_import_sdks(module):
    name, tree = module
    used = {one.partition(".")[0] for one in imports(tree)} & set(SDKS)
    assert all(within(name, (SDKS[sdk],)) for sdk in used)


def test_the_product_does_not_import_the_sandbox():
    users = {name for name, tree in modules(*PRODUCT).items() if uses_sandbox(tree)}
    assert users == set()


def uses_sandbox(tree: ast.Module) -> bool:
    return any(within(one, ("sandbox",)) for one in imports(tree))


def test_files_are_short_and_their_names_say_something():
    sizes = file_sizes()
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}
    assert {name for name in sizes if Path(name).stem in VAGUE} == set()


def test_the_tests_mirror_the_packages():
    """A test module that mirrors none is named after a promise and lies at the top."""
    strays = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        relative = path.relative_to(ROOT / "tests")
        if len(relative.parts) > 1 and not (ROOT / relative.parent).exists():
            strays.append(str(relative))
    assert strays == []
