"""Mutations of a verdict's meaning: contradictory labels, meaningless texts.

Pure: no I/O, no clock, no Django. The results are valid JSON with every field present,
so a gate that checks structure cannot detect many of them.
"""

from collections.abc import Iterator
from typing import Final

from audit.core.mutations.paths import (
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

_INVERTED: Final = {"GREEN": "RED", "AMBER": "NULL", "RED": "GREEN", "NULL": "AMBER"}
_SUMMARY: Final[Path] = ("summary",)
_TESTS: Final[Path] = ("strategy", "tests")
_LOOP_LENGTH: Final = 20_000  # characters, about what a model writes until its token limit


def _others(label: str) -> list[str]:
    return [one for one in LABELS if one != label]


def _dimension_labels(tier: str) -> list[Path]:
    return labels(tier)[1:]


def _analyses(tier: str) -> list[Path]:
    return [("breakdown", name, "analysis") for name in dimensions(tier)]


def other_label(payload: Payload, _tier: str) -> Iterator[str]:
    """The dimensions are unchanged. A quick verdict has none, so nothing contradicts its label."""
    for label in _others(payload["verdict"]):
        yield as_text(put(payload, ("verdict",), label))


def all_contradict(payload: Payload, tier: str) -> Iterator[str]:
    paths = _dimension_labels(tier)
    for label in _others(payload["verdict"]) if paths else ():
        yield as_text(put_all(payload, dict.fromkeys(paths, label)))


def three_contradict(payload: Payload, tier: str) -> Iterator[str]:
    paths = _dimension_labels(tier)
    for label in _others(payload["verdict"]) if paths else ():
        agreeing = put_all(payload, dict.fromkeys(paths, payload["verdict"]))
        yield as_text(put_all(agreeing, dict.fromkeys(paths[:3], label)))


def all_contradict_short_summary(payload: Payload, tier: str) -> Iterator[str]:
    """The requirement document's example of what is tolerated."""
    yield from all_contradict(put(payload, _SUMMARY, "Go."), tier)


def all_contradict_blank_texts(payload: Payload, tier: str) -> Iterator[str]:
    """Only labels, which contradict each other."""
    blank = dict.fromkeys([_SUMMARY, *_analyses(tier)], "")
    yield from all_contradict(put_all(payload, blank), tier)


def one_inverted(payload: Payload, tier: str) -> Iterator[str]:
    for path in _dimension_labels(tier):
        yield as_text(put(payload, path, _INVERTED[at(payload, path)]))


def every_inverted(payload: Payload, tier: str) -> Iterator[str]:
    """GREEN becomes RED throughout: the labels agree, and every text says the opposite."""
    inverted = {path: _INVERTED[at(payload, path)] for path in labels(tier)}
    yield as_text(put_all(payload, inverted))


def every_analysis_blank(payload: Payload, tier: str) -> Iterator[str]:
    yield as_text(put_all(payload, dict.fromkeys(_analyses(tier), "")))


def every_text_blank(payload: Payload, tier: str) -> Iterator[str]:
    yield as_text(put_all(payload, dict.fromkeys(texts(tier), "")))


def cut_mid_sentence(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        text = at(payload, path)
        yield as_text(put(payload, path, text[: len(text) // 2]))


def single_letter(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier)[1:]:  # for the summary, "summary under 10 characters" has this case
        yield as_text(put(payload, path, "x"))


def filler(payload: Payload, tier: str) -> Iterator[str]:
    for words in ("To be written.", "I cannot help with that request.", "Lorem ipsum dolor."):
        for path in texts(tier):
            yield as_text(put(payload, path, words))
        if dimensions(tier):  # a quick verdict has only the one text
            yield as_text(put_all(payload, dict.fromkeys(texts(tier), words)))


def same_text(payload: Payload, tier: str) -> Iterator[str]:
    yield as_text(put_all(payload, dict.fromkeys(texts(tier), payload["summary"])))


def repeated(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        text = at(payload, path)
        yield as_text(put(payload, path, f"{text} " * max(2, _LOOP_LENGTH // len(text))))


def analyses_swapped(payload: Payload, tier: str) -> Iterator[str]:
    paths = _analyses(tier)
    analyses = [at(payload, path) for path in paths]
    for by in range(1, len(paths)):
        yield as_text(
            put_all(payload, dict(zip(paths, analyses[by:] + analyses[:by], strict=True)))
        )


def words_reversed(payload: Payload, tier: str) -> Iterator[str]:
    reversed_ = {path: " ".join(at(payload, path).split()[::-1]) for path in texts(tier)}
    yield as_text(put_all(payload, reversed_))


def too_few_tests(payload: Payload, tier: str) -> Iterator[str]:
    """One test, three without a text; no test at all is an 'empty object or list'."""
    if tier == "strategy":
        yield as_text(put(payload, _TESTS, at(payload, _TESTS)[:1]))
        yield as_text(put(payload, _TESTS, ["", "   ", ""]))
        yield as_text(put(payload, _TESTS, [{"test": one} for one in at(payload, _TESTS)]))


def same_test(payload: Payload, tier: str) -> Iterator[str]:
    if tier == "strategy":
        yield as_text(put(payload, _TESTS, at(payload, _TESTS)[:1] * 3))


def cheaper_tier(payload: Payload, tier: str) -> Iterator[str]:
    """The fields of a cheaper tier only."""
    kept = ["verdict", "summary", "breakdown"]
    # A new tier needs an entry: the number of top-level fields of each cheaper tier.
    for fewer in {"quick": (), "full": (2,), "strategy": (2, 3)}[tier]:
        yield as_text({key: payload[key] for key in kept[:fewer]})
