"""All kinds of mutation, for mutation testing of the gate (CROSSCHECK-GAP-01).

Pure: no I/O, no clock, no Django, no randomness: the same verdict always gives the
same mutants.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from audit.core.mutations import fields, harmless, semantics, syntax
from audit.core.mutations.paths import Payload
from audit.core.parsing import parse

HARMLESS: Final = "Harmless changes"

Mutate = Callable[[Payload, str], Iterator[str]]


class Kind(NamedTuple):
    group: str
    name: str
    mutate: Mutate

    @property
    def should_pass(self) -> bool:
        return self.group == HARMLESS


class Mutant(NamedTuple):
    kind: Kind
    output: str


_KINDS: Final[dict[str, dict[str, Mutate]]] = {
    "Syntax": {
        "truncated": syntax.truncated,
        "empty output": syntax.empty,
        "prose without JSON": syntax.prose_only,
        "prose around the JSON": syntax.prose_around,
        "a second object after it": syntax.second_object,
        "invalid JSON": syntax.invalid_json,
        "duplicate verdict key": syntax.duplicate_key,
        "lone surrogate or NUL": syntax.unstorable,
        "wrapped in another value": syntax.wrapped,
    },
    "Fields": {
        "missing field": fields.missing,
        "key in the wrong case": fields.wrong_case,
        "null field": fields.null,
        "field of the wrong type": fields.wrong_type,
        "empty object or list": fields.empty_container,
        "empty label": fields.empty_label,
        "label in another spelling": fields.respelt_label,
        "unknown label": fields.unknown_label,
        "a cheaper tier's output": semantics.cheaper_tier,
    },
    "Missing texts": {
        "blank summary": fields.blank_summary,
        "summary under 10 characters": fields.short_summary,
        "one blank analysis": fields.blank_analysis,
        "every analysis blank": semantics.every_analysis_blank,
        "blank strategy text": fields.blank_strategy_text,
        "fewer than two tests": semantics.too_few_tests,
        "every text blank": semantics.every_text_blank,
        "text of invisible characters": fields.invisible,
    },
    "Contradictions": {
        "another top-level label": semantics.other_label,
        "three dimensions contradict it": semantics.three_contradict,
        "all dimensions contradict it": semantics.all_contradict,
        "all contradict, short summary": semantics.all_contradict_short_summary,
        "all contradict, blank texts": semantics.all_contradict_blank_texts,
        "one dimension inverted": semantics.one_inverted,
        "every label inverted": semantics.every_inverted,
    },
    "Meaningless texts": {
        "cut off mid-sentence": semantics.cut_mid_sentence,
        "single letter": semantics.single_letter,
        "filler or refusal": semantics.filler,
        "same text everywhere": semantics.same_text,
        "repeated in a loop": semantics.repeated,
        "analyses swapped": semantics.analyses_swapped,
        "words reversed": semantics.words_reversed,
        "same test three times": semantics.same_test,
    },
    HARMLESS: {
        "code fence": harmless.fenced,
        "whitespace": harmless.whitespace,
        "escaped characters": harmless.escaped,
        "other key order": harmless.other_order,
        "extra fields": harmless.extra_fields,
        "more than three tests": harmless.more_tests,
    },
}
KINDS: Final = tuple(
    Kind(group, name, mutate) for group, kinds in _KINDS.items() for name, mutate in kinds.items()
)


def mutants(payload: Payload, tier: str) -> Iterator[Mutant]:
    """All mutants of a verdict that the gate approves without a flag.

    A mutation that happens to change nothing is left out.
    """
    for kind in KINDS:
        for output in kind.mutate(payload, tier):
            if kind.should_pass or parse(output) != payload:
                yield Mutant(kind, output)
