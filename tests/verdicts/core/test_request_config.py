import pytest

from audit.core.vocabulary import TIERS
from verdicts.core.determinism import Overrides, Settings
from verdicts.core.prompt import build_verdict_prompt
from verdicts.core.request_config import build_request, canonical_config, locked_request
from verdicts.core.tiers import TIER

MODEL = "gemini-2.5-flash"


@pytest.mark.parametrize("tier", TIERS)
def test_a_locked_request_samples_greedily_with_a_derived_seed(tier):
    request = locked_request(model=MODEL, tier=tier, query="Should I?")
    config = request.config
    assert config["temperature"] == 0.0
    assert (config["top_p"], config["top_k"], config["candidate_count"]) == (1.0, 1, 1)
    assert config["thinking_budget"] == 0
    assert config["response_json_schema"] == TIER[tier].schema
    assert 0 <= config["seed"] < 2**31
    assert request.prompt == build_verdict_prompt(tier, "Should I?")


def test_equal_inputs_give_equal_requests():
    one, other = (locked_request(model=MODEL, tier="full", query="Should I?") for _ in range(2))
    assert one == other
    assert canonical_config(one.config) == canonical_config(other.config)
    assert one.prompt_sha256 == other.prompt_sha256


@pytest.mark.parametrize(
    "change",
    [
        {"query": "Should you?"},
        {"tier": "quick"},
        {"model": "gemini-2.5-pro"},
        {"authorization": 1},
    ],
)
def test_every_input_of_the_answer_changes_the_seed(change):
    base = {"model": MODEL, "tier": "full", "query": "Should I?"}
    seeds = {locked_request(**base).applied.seed, locked_request(**{**base, **change}).applied.seed}
    assert len(seeds) == 2


def test_overrides_are_sent_and_recorded():
    request = build_request(
        model=MODEL,
        tier="quick",
        query="Should I?",
        authorization=None,
        overrides=Overrides(temperature=0.7, seed=0),
        settings=Settings(),
    )
    assert (request.config["temperature"], request.config["seed"]) == (0.7, 0)
    assert (request.asked.temperature, request.asked.seed) == (0.7, 0)
