"""Every kind of systematic damage to a verdict (CROSSCHECK-GAP-01).

Pure: no I/O, no clock, no Django, and nothing is left to chance: the same
verdict always gives the same mutants.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from audit.core.mutations import fields, harmless, semantics, syntax
from audit.core.mutations.paths import Payload
from audit.core.parsing import parse

HARMLESS: Final = "Harmless changes"

Make = Callable[[Payload, str], Iterator[str]]


class Kind(NamedTuple):
    group: str
    name: str
    make: Make

    @property
    def should_pass(self) -> bool:
        return self.group == HARMLESS


class Mutant(NamedTuple):
    kind: Kind
    output: str


_KINDS: Final[dict[str, dict[str, Make]]] = {
    "Form": {
        "cut off": syntax.cut_off,
        "empty answer": syntax.empty,
        "prose, no JSON": syntax.prose_only,
        "prose around the JSON": syntax.prose_around,
        "a second answer after it": syntax.second_answer,
        "not quite JSON": syntax.not_quite_json,
        "the verdict key twice": syntax.key_twice,
        "lone surrogate or NUL": syntax.unstorable,
        "wrapped in something else": syntax.wrapped,
    },
    "Fields": {
        "field missing": fields.missing,
        "key misspelt": fields.misspelt,
        "field null": fields.null,
        "field of another type": fields.other_type,
        "object or list empty": fields.empty_container,
        "label empty": fields.label_empty,
        "label in another spelling": fields.label_respelt,
        "label of another word": fields.label_unknown,
        "a cheaper tier's body": semantics.cheaper_body,
    },
    "Texts that are not there": {
        "summary blank": fields.summary_blank,
        "summary under 10 characters": fields.summary_short,
        "one analysis blank": fields.analysis_blank,
        "every analysis blank": semantics.every_analysis_blank,
        "strategy's text blank": fields.strategy_text_blank,
        "fewer than two tests": semantics.too_few_tests,
        "every text blank": semantics.every_text_blank,
        "text of invisible characters": fields.invisible,
    },
    "Contradictions": {
        "another verdict on top": semantics.other_verdict,
        "three dimensions against it": semantics.three_against,
        "all dimensions against it": semantics.all_against,
        "all against it, summary short": semantics.against_and_short,
        "all against it, and no text": semantics.against_and_bare,
        "one dimension turned": semantics.one_turned,
        "every label turned": semantics.every_turned,
    },
    "Texts that say nothing": {
        "cut in mid-sentence": semantics.cut_short,
        "one letter": semantics.one_letter,
        "filler or refusal": semantics.filler,
        "one text everywhere": semantics.same_everywhere,
        "in a loop": semantics.in_a_loop,
        "analyses swapped": semantics.analyses_swapped,
        "words in reverse": semantics.words_reversed,
        "one test three times": semantics.same_test,
    },
    HARMLESS: {
        "code fence": harmless.fenced,
        "line breaks and spaces": harmless.laid_out,
        "escaped characters": harmless.escaped,
        "keys in another order": harmless.other_order,
        "more than was asked": harmless.more_than_asked,
        "more than three tests": harmless.more_tests,
    },
}
KINDS: Final = tuple(
    Kind(group, name, make) for group, made in _KINDS.items() for name, make in made.items()
)


def mutants(payload: Payload, tier: str) -> Iterator[Mutant]:
    """Each kind of damage at each place of a verdict that the gate approves without a flag.

    What the damage happens to leave as it was is no damage and is left out.
    """
    for kind in KINDS:
        for output in kind.make(payload, tier):
            if kind.should_pass or parse(output) != payload:
                yield Mutant(kind, output)
