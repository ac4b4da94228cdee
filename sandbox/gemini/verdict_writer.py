"""Writes a verdict: a label, dimensions that support it, and texts about the query.

Pure: the same arguments and random generator state give the same bytes. A
verdict never contradicts itself.
"""

from random import Random
from typing import Any, Final

from sandbox.gemini.phrases import dimensions, strategy, summary
from sandbox.gemini.query_analysis import QueryAnalysis, analyze_query
from sandbox.gemini.request_parsing import GenerateRequest

MIN_WORDS: Final = 4  # a shorter submission mostly gets NULL
ALTERNATIVE_LABELS: Final = {
    "GREEN": ("AMBER", "AMBER", "AMBER", "RED"),
    "AMBER": ("GREEN", "RED"),
    "RED": ("AMBER", "AMBER", "AMBER", "GREEN"),
    "NULL": ("AMBER", "RED"),
}
# Labels of the other dimensions: at least three of five equal the overall label.
_OTHER_LABELS: Final = {
    "GREEN": (("AMBER", "AMBER"), ("AMBER",), ("AMBER",), ()),
    "AMBER": (("GREEN", "RED"), ("GREEN", "GREEN"), ("RED",), ("GREEN",)),
    "RED": (("AMBER", "AMBER"), ("AMBER",), ("AMBER", "GREEN")),
    "NULL": (("AMBER", "RED"), ("AMBER",), ()),
}


def choose_label(query: str, rng: Random) -> str:
    """A label: mostly random, shifted by the signals found in the submission."""
    analysis = analyze_query(query)
    null_probability = 0.85 if analysis.length < MIN_WORDS else 0.03
    if rng.random() < null_probability:
        return "NULL"
    score = rng.random() + sum(signal.weight for signal in analysis.signals)
    return "RED" if score < 0.28 else "AMBER" if score < 0.66 else "GREEN"


def write_verdict(parsed: GenerateRequest, label: str, rng: Random) -> dict[str, Any]:
    """A complete verdict with the parts that the request's schema has."""
    picker = _SentencePicker(analyze_query(parsed.query), rng)
    verdict: dict[str, Any] = {"verdict": label, "summary": picker.summary(label)}
    if parsed.dimensions:
        labels = _dimension_labels(label, len(parsed.dimensions), rng)
        verdict["breakdown"] = {
            name: {"verdict": each, "analysis": picker.analysis(name, each)}
            for name, each in zip(parsed.dimensions, labels, strict=True)
        }
    if parsed.with_strategy:
        verdict["strategy"] = {
            "next_step": picker.pick(strategy.NEXT_STEPS[label]),
            "alternative": picker.pick(strategy.ALTERNATIVES[label]),
            "tests": [picker.pick(strategy.TESTS) for _ in range(rng.choice((2, 3, 3)))],
        }
    return verdict


def _dimension_labels(label: str, size: int, rng: Random) -> list[str]:
    others = [] if size < 5 else list(rng.choice(_OTHER_LABELS[label]))
    labels = [label] * (size - len(others)) + others
    rng.shuffle(labels)
    return labels


class _SentencePicker:
    """Picks sentences without repeating one, and fills in their placeholders."""

    def __init__(self, about: QueryAnalysis, rng: Random) -> None:
        self._about, self._rng = about, rng
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
        follow_ups = dimensions.SECOND_THOUGHTS
        if self._figures and self._rng.random() < 0.4:
            self._figure = self._figures.pop()  # each figure is used once
            follow_ups = dimensions.ON_FIGURES
        return f"{self.pick(findings[label])} {self.pick(follow_ups[label])}"

    def pick(self, sentences: tuple[str, ...]) -> str:
        fresh = [each for each in sentences if each not in self._used] or list(sentences)
        chosen = self._rng.choice(fresh)
        self._used.add(chosen)
        topic = self._about.topic
        return chosen.format(
            topic=topic,
            Topic=topic[0].upper() + topic[1:],
            word=self._rng.choice(self._about.words),
            figure=self._figure,
        )
