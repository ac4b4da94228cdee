"""Two verdicts next to each other, field by field, with the words marked that differ."""

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
_MAX_WORDS: Final = 4000  # beyond that a comparison word by word takes too long
_ALIKE: Final = 0.6  # below that, single words in common only confuse


class Piece(NamedTuple):
    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """One field of both verdicts; `labels` where it has some of its own."""

    name: str
    before: list[Piece]
    after: list[Piece]
    labels: tuple[str, str] | None = None

    @property
    def same(self) -> bool:
        differs = any(piece.differs for piece in (*self.before, *self.after))
        return not differs and (self.labels is None or self.labels[0] == self.labels[1])


def side_by_side(
    event: DivergenceEvent, original: Verdict | None, regen: Verdict | None
) -> list[Pair]:
    """Nothing where one of the two is not on record with its text."""
    if original is None or regen is None or not original.payload or not regen.payload:
        return []
    tier = cast("TierName", event.tier)
    was, now = present(tier, original.payload), present(tier, regen.payload)
    return list(_pairs(was, now))


def _pairs(was: PresentedVerdict, now: PresentedVerdict) -> Iterator[Pair]:
    yield _pair("Verdict", was.summary, now.summary, (was.label, now.label))
    for before, after in zip(was.dimensions, now.dimensions, strict=True):
        labels = (before.label, after.label)
        yield _pair(before.name, before.analysis, after.analysis, labels)
    if was.next_step or now.next_step:
        yield _pair("Next step", was.next_step, now.next_step)
        yield _pair("Alternative", was.alternative, now.alternative)
        yield _pair("Tests", "\n".join(was.tests), "\n".join(now.tests))


def _pair(name: str, before: str, after: str, labels: Any = None) -> Pair:
    return Pair(name, *mark_differences(before, after), labels)


def mark_differences(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; what only one of them says is marked there."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > _MAX_WORDS:
        return [Piece(before, differs=before != after)], [Piece(after, differs=before != after)]
    left: list[Piece] = []
    right: list[Piece] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [Piece(before, differs=True)], [Piece(after, differs=True)]
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for pieces, words in ((left, old[i1:i2]), (right, new[j1:j2])):
            if words:
                pieces.append(Piece("".join(words), differs=tag != "equal"))
    return left, right
