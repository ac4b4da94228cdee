import re

from hypothesis import example, given
from hypothesis import strategies as st

from verdicts.api.fields import QUERY_PATTERN
from verdicts.core.prompt import QueryError, clean_query

any_text = st.text(st.characters(codec=None, categories=["L", "Z", "Cc", "P", "So"]))


@given(any_text)
@example("\x85")
@example("\u3000")
@example("\u200b")
@example("a\rb\tc\n")
def test_the_documented_pattern_matches_clean_query(text):
    try:
        clean_query(text)
    except QueryError:
        is_accepted = False
    else:
        is_accepted = True
    assert (re.search(QUERY_PATTERN, text) is not None) == is_accepted
