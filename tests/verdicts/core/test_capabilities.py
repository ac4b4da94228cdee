import pytest

from verdicts.core.capabilities import (
    GEMINI_MODELS,
    KNOBS,
    PROVIDERS,
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
def test_each_family_of_the_reference_has_its_row(provider, seed, temperature):
    caps = capabilities_for(provider)
    assert (caps.supports_seed, caps.supports_temperature_zero) == (seed, temperature)


def test_every_listed_provider_is_tested_above():
    assert len(PROVIDERS) == 6


def test_only_gemini_narrows_the_seed():
    assert {name for name, caps in PROVIDERS.items() if caps.seed_bits != 64} == {"gemini"}
    assert PROVIDERS["gemini"].seed_bits == 31


@pytest.mark.parametrize("model", GEMINI_MODELS)
def test_a_models_effects_name_knobs_of_the_lock(model):
    assert set(GEMINI_MODELS[model]) <= set(KNOBS)


def test_the_default_model_honours_every_knob():
    assert GEMINI_MODELS["gemini-2.5-flash"] == {}


def test_a_knob_that_a_model_ignores_is_still_sent():
    assert GEMINI_MODELS["gemini-3.5-flash"]["temperature"] == "ignored"
    assert gemini_capabilities("gemini-3.5-flash").supports_temperature_zero


def test_a_knob_that_a_model_rejects_is_dropped(monkeypatch):
    monkeypatch.setitem(GEMINI_MODELS, "picky", {"temperature": "rejected", "seed": "rejected"})
    caps = gemini_capabilities("picky")
    assert (caps.supports_seed, caps.supports_temperature_zero) == (False, False)


def test_a_model_that_is_not_listed_has_geminis_row():
    assert gemini_capabilities("gemini-9-ultra") == PROVIDERS["gemini"]
