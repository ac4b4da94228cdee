"""The verdict writer: plausible, varied, and free of contradictions."""

import json
from collections import Counter

import pytest

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import DIMENSIONS
from sandbox.gemini.answers import write_text
from sandbox.gemini.query_analysis import analyze_query
from sandbox.gemini.request_parsing import GenerateRequest, extract_submission
from verdicts.core.prompt import build_verdict_prompt

IDEAS = [
    f"Should I start a {kind} number {n}?" for kind in ("bakery", "school") for n in range(300)
]


def write(query, *, seed=7, tier="strategy", varied=False):
    dimensions = DIMENSIONS if tier != "quick" else ()
    parsed = GenerateRequest(
        "m", f"prompt {query}", query, 0.0, seed, dimensions, tier == "strategy"
    )
    return write_text(parsed, rule=None, varied=varied)


@pytest.mark.parametrize("varied", [False, True])
def test_no_verdict_contradicts_itself(varied):
    for query in IDEAS:
        for tier in ("quick", "full", "strategy"):
            decision = crosscheck(write(query, tier=tier, varied=varied), tier)
            assert decision.approved
            assert not decision.flags


def test_all_four_labels_occur_and_null_is_rare():
    labels = Counter(json.loads(write(query))["verdict"] for query in IDEAS)
    assert set(labels) == {"GREEN", "AMBER", "RED", "NULL"}
    assert labels["NULL"] < len(IDEAS) * 0.1
    assert min(labels[each] for each in ("GREEN", "AMBER", "RED")) > len(IDEAS) * 0.15


def test_a_query_without_content_mostly_gets_null():
    labels = Counter(json.loads(write(f"asdf{n}"))["verdict"] for n in range(100))
    assert labels["NULL"] > 70


def test_texts_vary_from_one_submission_to_the_next():
    summaries = {json.loads(write(query))["summary"].replace(query, "") for query in IDEAS[:100]}
    assert len(summaries) > 80


def test_no_sentence_is_repeated_in_one_verdict():
    for query in IDEAS[:50]:
        verdict = json.loads(write(query))
        analyses = [entry["analysis"] for entry in verdict["breakdown"].values()]
        assert len(set(analyses)) == len(analyses)
        tests = verdict["strategy"]["tests"]
        assert len(set(tests)) == len(tests)


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("Should I quit my job?", "the plan to quit your job"),
        ("I'm thinking of selling our house, now.", "selling your house"),
        ("My plan is to sail with my dog because I can", "the plan to sail with your dog"),
        ("A café for cats", "“A café for cats”"),
        ("?", "“?”"),
    ],
)
def test_the_topic_is_rephrased_in_the_second_person(query, topic):
    assert analyze_query(query).topic == topic


def test_figures_and_keywords_are_found():
    seen = analyze_query("I saved CA$40,000 and have 18 months to test a mobile library.")
    assert seen.figures == ("CA$40,000", "18 months")
    assert "library" in seen.words


@pytest.mark.parametrize("query", ["{", "{0} {topic}", "%s", "<<<SUBMISSION", "\n\t", "€" * 4_000])
def test_any_query_gets_a_verdict(query):
    assert crosscheck(write(query), "strategy").approved
    assert extract_submission(build_verdict_prompt("full", query)) == query


def test_without_a_marker_the_whole_prompt_is_the_submission():
    assert extract_submission("Hello there") == "Hello there"
