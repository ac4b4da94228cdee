"""Writes a verdict: a label that its dimensions bear out, and texts about the query.

Pure: what is written follows from the arguments, so the same draw gives the
same bytes. No verdict from here contradicts itself.
"""

from random import Random
from typing import Any, Final

from sandbox.gemini.phrases import dimensions, strategy, summary
from sandbox.gemini.reading import Ask
from sandbox.gemini.understanding import Understanding, understand

TOO_SHORT: Final = 4  # words; less is hardly a submission
NEIGHBOURS: Final = {
    "GREEN": ("AMBER", "AMBER", "AMBER", "RED"),
    "AMBER": ("GREEN", "RED"),
    "RED": ("AMBER", "AMBER", "AMBER", "GREEN"),
    "NULL": ("AMBER", "RED"),
}
# What stands beside the label of the whole: it keeps at least three of five.
_BESIDE: Final = {
    "GREEN": (("AMBER", "AMBER"), ("AMBER",), ("AMBER",), ()),
    "AMBER": (("GREEN", "RED"), ("GREEN", "GREEN"), ("RED",), ("GREEN",)),
    "RED": (("AMBER", "AMBER"), ("AMBER",), ("AMBER", "GREEN")),
    "NULL": (("AMBER", "RED"), ("AMBER",), ()),
}


def choose_label(query: str, draw: Random) -> str:
    """What the submission deserves: chance for the most part, and what it gives away."""
    seen = understand(query)
    leaning = draw.random()
    if leaning < (0.85 if seen.length < TOO_SHORT else 0.03):
        return "NULL"
    mark = draw.random() + sum(signal.weight for signal in seen.signals)
    return "RED" if mark < 0.28 else "AMBER" if mark < 0.66 else "GREEN"


def write_verdict(ask: Ask, label: str, draw: Random) -> dict[str, Any]:
    """A whole verdict of the tier that the schema asks for."""
    pen = _Pen(understand(ask.query), draw)
    verdict: dict[str, Any] = {"verdict": label, "summary": pen.summary(label)}
    if ask.dimensions:
        labels = _dimension_labels(label, len(ask.dimensions), draw)
        verdict["breakdown"] = {
            name: {"verdict": each, "analysis": pen.analysis(name, each)}
            for name, each in zip(ask.dimensions, labels, strict=True)
        }
    if ask.with_strategy:
        verdict["strategy"] = {
            "next_step": pen.pick(strategy.NEXT_STEPS[label]),
            "alternative": pen.pick(strategy.ALTERNATIVES[label]),
            "tests": [pen.pick(strategy.TESTS) for _ in range(draw.choice((2, 3, 3)))],
        }
    return verdict


def _dimension_labels(label: str, size: int, draw: Random) -> list[str]:
    beside = [] if size < 5 else list(draw.choice(_BESIDE[label]))
    labels = [label] * (size - len(beside)) + beside
    draw.shuffle(labels)
    return labels


class _Pen:
    """Picks sentences, none of them twice, and fills their slots."""

    def __init__(self, about: Understanding, draw: Random) -> None:
        self._about, self._draw = about, draw
        self._used: set[str] = set()
        self._figures = list(reversed(about.figures))
        self._figure = ""

    def summary(self, label: str) -> str:
        remarks = [
            remark
            for signal in self._about.signals
            for remark in (signal.friendly if label == "GREEN" else signal.critical)
        ]
        reason = self.pick(tuple(remarks) or summary.REASONS[label])
        return f"{self.pick(summary.OPENINGS[label])} {reason} {self.pick(summary.CLOSES[label])}"

    def analysis(self, dimension: str, label: str) -> str:
        findings = dimensions.FINDINGS.get(dimension, dimensions.GENERAL)
        thoughts = dimensions.SECOND_THOUGHTS
        if self._figures and self._draw.random() < 0.4:
            self._figure = self._figures.pop()  # each is spoken of once
            thoughts = dimensions.ON_FIGURES
        return f"{self.pick(findings[label])} {self.pick(thoughts[label])}"

    def pick(self, sentences: tuple[str, ...]) -> str:
        fresh = [each for each in sentences if each not in self._used] or list(sentences)
        chosen = self._draw.choice(fresh)
        self._used.add(chosen)
        topic = self._about.topic
        return chosen.format(
            topic=topic,
            Topic=topic[0].upper() + topic[1:],
            word=self._draw.choice(self._about.words),
            figure=self._figure,
        )
