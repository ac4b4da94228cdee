"""Every kind of systematic damage to a verdict (CROSSCHECK-GAP-01).

Pure: no I/O, no clock, no Django, and nothing is left to chance: the same
verdict always gives the same mutants.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from audit.core.mutations import fields, form, harmless, sense
from audit.core.mutations.places import Payload
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
        "cut off": form.cut_off,
        "empty answer": form.empty,
        "prose, no JSON": form.prose_only,
        "prose around the JSON": form.prose_around,
        "a second answer after it": form.second_answer,
        "not quite JSON": form.not_quite_json,
        "the verdict key twice": form.key_twice,
        "lone surrogate or NUL": form.unstorable,
        "wrapped in something else": form.wrapped,
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
        "a cheaper tier's body": sense.cheaper_body,
    },
    "Texts that are not there": {
        "summary blank": fields.summary_blank,
        "summary under 10 characters": fields.summary_short,
        "one analysis blank": fields.analysis_blank,
        "every analysis blank": sense.every_analysis_blank,
        "strategy's text blank": fields.strategy_text_blank,
        "fewer than two tests": sense.too_few_tests,
        "every text blank": sense.every_text_blank,
        "text of invisible characters": fields.invisible,
    },
    "Contradictions": {
        "another verdict on top": sense.other_verdict,
        "three dimensions against it": sense.three_against,
        "all dimensions against it": sense.all_against,
        "all against it, summary short": sense.against_and_short,
        "all against it, and no text": sense.against_and_bare,
        "one dimension turned": sense.one_turned,
        "every label turned": sense.every_turned,
    },
    "Texts that say nothing": {
        "cut in mid-sentence": sense.cut_short,
        "one letter": sense.one_letter,
        "filler or refusal": sense.filler,
        "one text everywhere": sense.same_everywhere,
        "in a loop": sense.in_a_loop,
        "analyses swapped": sense.analyses_swapped,
        "words in reverse": sense.words_reversed,
        "one test three times": sense.same_test,
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
