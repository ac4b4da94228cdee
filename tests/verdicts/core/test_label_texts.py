from audit.core.vocabulary import LABELS
from verdicts.core.label_texts import MEANING


def test_each_label_has_its_own_meaning_and_symbol():
    assert tuple(MEANING) == LABELS
    assert len({meaning.symbol for meaning in MEANING.values()}) == len(LABELS)
    assert len({meaning.headline for meaning in MEANING.values()}) == len(LABELS)
