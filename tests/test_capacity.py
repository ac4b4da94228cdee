"""The table of docs/CAPACITY.md is computed from the costs on the same page."""

import re
from pathlib import Path

from benchmarks.capacity.plan import ROWS, Costs, Needs, needs, table

PAGE = (Path(__file__).parents[1] / "docs/CAPACITY.md").read_text()
MEASURED = {
    name: float(value)
    for name, value in re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", PAGE, re.MULTILINE)
}


def test_every_cost_is_on_the_page():
    assert set(MEASURED) == set(Costs._fields)


def test_the_table_is_computed_from_these_costs():
    assert table(Costs(**MEASURED)) in PAGE


def test_every_need_has_a_row():
    assert set(ROWS.values()) == set(Needs._fields)


def test_needs_grow_with_the_volume_and_include_at_least_one_worker():
    costs = Costs(**MEASURED)
    small, large = needs(1, costs), needs(1_000_000, costs)
    assert (small.generate_workers, small.post_workers) == (1, 1)
    assert all(more >= less for less, more in zip(small, large, strict=True))
    assert large.orders_per_second == 1_000_000 / 86_400
