from itertools import pairwise
from xml.etree import ElementTree as ET

from benchmarks.plot import OTHERS, OURS, bars, lines

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own


def test_the_longest_bar_is_first_and_ours_are_highlighted():
    svg = bars("Reads", {"theirs <x>": 1.0, "ours": 4.0}, ours=["ours"], unit=" ×")
    assert texts(svg) == ["Reads", "ours", "4 ×", "theirs <x>", "1 ×"]
    drawn = list(ET.fromstring(svg).iter(f"{SVG}rect"))[1:]  # noqa: S314 - our own
    assert [one.get("fill") for one in drawn] == [OURS, OTHERS]
    assert float(drawn[0].get("width")) == 4 * float(drawn[1].get("width"))


def test_line_labels_do_not_overlap():
    series = {name: [1.0, 1.0 + index / 1000] for index, name in enumerate("abcdef")}
    svg = lines("Growth", [10, 1_000], series)
    ends = [
        float(one.get("y"))
        for one in ET.fromstring(svg).iter(f"{SVG}text")  # noqa: S314 - our own
        if one.text.endswith("×") and one.text[0] in "abcdef"
    ]
    assert len(ends) == 6
    assert all(below - above >= 16 for above, below in pairwise(ends))
