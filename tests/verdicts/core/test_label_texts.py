from audit.core.vocabulary import LABELS
from verdicts.core.label_texts import MEANING


def test_each_label_has_a_meaning_and_a_sign_of_its_own():
    assert tuple(MEANING) == LABELS
    assert len({meaning.sign for meaning in MEANING.values()}) == len(LABELS)
    assert len({meaning.headline for meaning in MEANING.values()}) == len(LABELS)
