from typing import get_args

import pytest

from verdicts.core.capabilities import (
    GEMINI_MODELS,
    PROVIDERS,
    Parameter,
    capabilities_for,
    gemini_capabilities,
)


@pytest.mark.parametrize(
    ("provider", "seed", "temperature"),
    [
        ("gemini", True, True),
        ("openai", True, True),
        ("anthropic", False, True),
        ("huggingface", False, True),
        ("local", False, False),
        ("custom", False, True),
    ],
)
def test_each_provider_of_the_reference_module_is_listed(provider, seed, temperature):
    caps = capabilities_for(provider)
    assert (caps.supports_seed, caps.supports_temperature_zero) == (seed, temperature)


def test_no_other_provider_is_listed():
    assert len(PROVIDERS) == 6


def test_only_gemini_has_a_narrow_seed():
    assert {name for name, caps in PROVIDERS.items() if caps.seed_bits != 64} == {"gemini"}
    assert PROVIDERS["gemini"].seed_bits == 31


@pytest.mark.parametrize("model", GEMINI_MODELS)
def test_a_models_effects_are_of_locked_parameters(model):
    assert set(GEMINI_MODELS[model]) <= set(get_args(Parameter))


def test_the_default_model_honours_every_parameter():
    assert GEMINI_MODELS["gemini-2.5-flash"] == {}


def test_an_ignored_parameter_is_still_sent():
    assert GEMINI_MODELS["gemini-3.5-flash"]["temperature"] == "ignored"
    assert gemini_capabilities("gemini-3.5-flash").supports_temperature_zero


def test_a_rejected_parameter_is_dropped(monkeypatch):
    monkeypatch.setitem(GEMINI_MODELS, "picky", {"temperature": "rejected", "seed": "rejected"})
    caps = gemini_capabilities("picky")
    assert (caps.supports_seed, caps.supports_temperature_zero) == (False, False)


def test_an_unlisted_model_has_geminis_capabilities():
    assert gemini_capabilities("gemini-9-ultra") == PROVIDERS["gemini"]
