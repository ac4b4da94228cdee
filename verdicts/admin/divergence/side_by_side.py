"""Two verdicts side by side, field by field, with the differing words marked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple, cast

from audit.core.vocabulary import TierName
from audit.models import DivergenceEvent
from verdicts.core.presentation import PresentedVerdict, present
from verdicts.models import Verdict

_WORDS: Final = re.compile(r"\s+|[^\s]+")
_MAX_WORDS: Final = 4000  # the diff takes quadratic time
_MIN_SIMILARITY: Final = 0.6  # below that, marking single words confuses


class Segment(NamedTuple):
    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class FieldPair:
    """One field of both verdicts; `labels` if the field has labels of its own."""

    name: str
    before: list[Segment]
    after: list[Segment]
    labels: tuple[str, str] | None = None

    @property
    def is_same(self) -> bool:
        differs = any(segment.differs for segment in (*self.before, *self.after))
        return not differs and (self.labels is None or self.labels[0] == self.labels[1])


def side_by_side(
    event: DivergenceEvent, original: Verdict | None, regen: Verdict | None
) -> list[FieldPair]:
    """Empty unless the texts of both are stored."""
    if original is None or regen is None or not original.payload or not regen.payload:
        return []
    tier = cast("TierName", event.tier)
    before, after = present(tier, original.payload), present(tier, regen.payload)
    return list(_pairs(before, after))


def _pairs(original: PresentedVerdict, regen: PresentedVerdict) -> Iterator[FieldPair]:
    yield _pair("Verdict", original.summary, regen.summary, (original.label, regen.label))
    for before, after in zip(original.dimensions, regen.dimensions, strict=True):
        labels = (before.label, after.label)
        yield _pair(before.name, before.analysis, after.analysis, labels)
    if original.next_step or regen.next_step:
        yield _pair("Next step", original.next_step, regen.next_step)
        yield _pair("Alternative", original.alternative, regen.alternative)
        yield _pair("Tests", "\n".join(original.tests), "\n".join(regen.tests))


def _pair(name: str, before: str, after: str, labels: Any = None) -> FieldPair:
    return FieldPair(name, *mark_differences(before, after), labels)


def mark_differences(before: str, after: str) -> tuple[list[Segment], list[Segment]]:
    """Both texts as segments; those that the other text lacks are marked."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > _MAX_WORDS:
        return [Segment(before, differs=before != after)], [Segment(after, differs=before != after)]
    left: list[Segment] = []
    right: list[Segment] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _MIN_SIMILARITY:
        return [Segment(before, differs=True)], [Segment(after, differs=True)]
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for segments, words in ((left, old[i1:i2]), (right, new[j1:j2])):
            if words:
                segments.append(Segment("".join(words), differs=tag != "equal"))
    return left, right
