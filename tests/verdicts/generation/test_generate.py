"""The bytes that are sent, for original and regeneration."""

import json

import pytest

from audit.core.vocabulary import TIERS
from audit.models import ModelCall
from verdicts.clients import ask_model
from verdicts.core.prompt import build_verdict_prompt
from verdicts.core.request_config import locked_request
from verdicts.core.tiers import TIER
from verdicts.generation.client import Answer
from verdicts.generation.generate import generate

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("tier", TIERS)
def test_original_and_regeneration_send_the_same_locked_bytes(sandbox, paid_order, settings, tier):
    order = paid_order(tier)
    for kind in ("original", "regen"):
        generate(order, kind, model=settings.ORACLE_MODEL, ask=ask_model)
    first, second = (request["raw"] for request in sandbox.requests("gemini"))
    assert first == second
    sent = json.loads(first)
    config = sent["generationConfig"]
    request = locked_request(model=settings.ORACLE_MODEL, tier=tier, query=order.query)
    assert config["temperature"] == 0
    assert config["topK"] == 1
    assert config["topP"] == 1
    assert config["candidateCount"] == 1
    assert config["seed"] == request.applied.seed
    assert config["responseJsonSchema"] == TIER[tier].schema
    (content,) = sent["contents"]
    assert [part["text"] for part in content["parts"]] == [build_verdict_prompt(tier, order.query)]


def test_provider_values_are_truncated_to_what_a_column_takes(paid_order, settings):
    odd = Answer("{}", "F" * 90, "\0", "v\ud800", "r\0" * 90, 3_000_000_000, -1)
    generate(paid_order("quick"), "original", model=settings.ORACLE_MODEL, ask=lambda _: odd)
    call = ModelCall.objects.get()
    assert (call.finish_reason, call.block_reason, call.model_version) == ("F" * 50, "", "v?")
    assert (call.prompt_tokens, call.output_tokens) == (2**31 - 1, 0)


def test_the_call_records_what_was_sent_and_what_came_back(sandbox, paid_order, settings):
    order = paid_order("quick")
    judged = generate(order, "original", model=settings.ORACLE_MODEL, ask=ask_model)
    call = ModelCall.objects.get()
    request = locked_request(model=settings.ORACLE_MODEL, tier="quick", query=order.query)
    assert judged.call == call
    assert call.sent == request.config
    assert call.asked == {"temperature": None, "seed": None}
    assert call.prompt_sha256 == request.prompt_sha256
    assert call.model_version
    assert call.response_id
    assert call.prompt_tokens > 0
    assert call.output_tokens > 0
    assert call.finish_reason == "STOP"
