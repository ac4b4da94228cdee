"""Damage to what the verdict says: labels that contradict it, texts that say nothing.

Pure: no I/O, no clock, no Django. All of it is strict JSON with every field in
its place, so much of it is beyond a gate that reads structure.
"""

from collections.abc import Iterator
from typing import Final

from audit.core.mutations.places import (
    Path,
    Payload,
    as_text,
    at,
    dimensions,
    labels,
    put,
    put_all,
    texts,
)
from audit.core.vocabulary import LABELS

_TURNED: Final = {"GREEN": "RED", "AMBER": "NULL", "RED": "GREEN", "NULL": "AMBER"}
_SUMMARY: Final[Path] = ("summary",)
_TESTS: Final[Path] = ("strategy", "tests")
_LOOPED: Final = 20_000  # characters, about as far as a model goes before it is cut off


def _others(label: str) -> list[str]:
    return [one for one in LABELS if one != label]


def _dimension_labels(tier: str) -> list[Path]:
    return labels(tier)[1:]


def _analyses(tier: str) -> list[Path]:
    return [("breakdown", name, "analysis") for name in dimensions(tier)]


def other_verdict(payload: Payload, _tier: str) -> Iterator[str]:
    """The dimensions stay; a quick verdict has none, so nothing is left to contradict it."""
    for label in _others(payload["verdict"]):
        yield as_text(put(payload, ("verdict",), label))


def all_against(payload: Payload, tier: str) -> Iterator[str]:
    paths = _dimension_labels(tier)
    for label in _others(payload["verdict"]) if paths else ():
        yield as_text(put_all(payload, dict.fromkeys(paths, label)))


def three_against(payload: Payload, tier: str) -> Iterator[str]:
    paths = _dimension_labels(tier)
    for label in _others(payload["verdict"]) if paths else ():
        agreeing = put_all(payload, dict.fromkeys(paths, payload["verdict"]))
        yield as_text(put_all(agreeing, dict.fromkeys(paths[:3], label)))


def against_and_short(payload: Payload, tier: str) -> Iterator[str]:
    """The document's own example of what is tolerated."""
    yield from all_against(put(payload, _SUMMARY, "Go."), tier)


def against_and_bare(payload: Payload, tier: str) -> Iterator[str]:
    """Nothing but labels, and these contradict each other."""
    blank = dict.fromkeys([_SUMMARY, *_analyses(tier)], "")
    yield from all_against(put_all(payload, blank), tier)


def one_turned(payload: Payload, tier: str) -> Iterator[str]:
    for path in _dimension_labels(tier):
        yield as_text(put(payload, path, _TURNED[at(payload, path)]))


def every_turned(payload: Payload, tier: str) -> Iterator[str]:
    """RED for GREEN throughout: the labels agree, and every text says the opposite."""
    turned = {path: _TURNED[at(payload, path)] for path in labels(tier)}
    yield as_text(put_all(payload, turned))


def every_analysis_blank(payload: Payload, tier: str) -> Iterator[str]:
    yield as_text(put_all(payload, dict.fromkeys(_analyses(tier), "")))


def every_text_blank(payload: Payload, tier: str) -> Iterator[str]:
    yield as_text(put_all(payload, dict.fromkeys(texts(tier), "")))


def cut_short(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        text = at(payload, path)
        yield as_text(put(payload, path, text[: len(text) // 2]))


def one_letter(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier)[1:]:  # of the summary it is told as a short one
        yield as_text(put(payload, path, "x"))


def filler(payload: Payload, tier: str) -> Iterator[str]:
    for words in ("To be written.", "I cannot help with that request.", "Lorem ipsum dolor."):
        for path in texts(tier):
            yield as_text(put(payload, path, words))
        if dimensions(tier):  # a quick verdict has only the one text
            yield as_text(put_all(payload, dict.fromkeys(texts(tier), words)))


def same_everywhere(payload: Payload, tier: str) -> Iterator[str]:
    yield as_text(put_all(payload, dict.fromkeys(texts(tier), payload["summary"])))


def in_a_loop(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        text = at(payload, path)
        yield as_text(put(payload, path, f"{text} " * max(2, _LOOPED // len(text))))


def analyses_swapped(payload: Payload, tier: str) -> Iterator[str]:
    paths = _analyses(tier)
    said = [at(payload, path) for path in paths]
    for by in range(1, len(paths)):
        yield as_text(put_all(payload, dict(zip(paths, said[by:] + said[:by], strict=True))))


def words_reversed(payload: Payload, tier: str) -> Iterator[str]:
    reversed_ = {path: " ".join(at(payload, path).split()[::-1]) for path in texts(tier)}
    yield as_text(put_all(payload, reversed_))


def too_few_tests(payload: Payload, tier: str) -> Iterator[str]:
    """None left is told as an empty list."""
    if tier == "strategy":
        yield as_text(put(payload, _TESTS, at(payload, _TESTS)[:1]))
        yield as_text(put(payload, _TESTS, ["", "   ", ""]))
        yield as_text(put(payload, _TESTS, [{"test": one} for one in at(payload, _TESTS)]))


def same_test(payload: Payload, tier: str) -> Iterator[str]:
    if tier == "strategy":
        yield as_text(put(payload, _TESTS, at(payload, _TESTS)[:1] * 3))


def cheaper_body(payload: Payload, tier: str) -> Iterator[str]:
    """What a cheaper tier's customer gets."""
    kept = ["verdict", "summary", "breakdown"]
    # A new tier needs an entry: the number of top-level fields of each cheaper tier.
    for fewer in {"quick": (), "full": (2,), "strategy": (2, 3)}[tier]:
        yield as_text({key: payload[key] for key in kept[:fewer]})
