"""The tests of the reference module, in the same order, then our own."""

import subprocess
import sys
from itertools import combinations

import pytest

from tests.support.vectors import load
from verdicts.core.capabilities import PROVIDERS, capabilities_for
from verdicts.core.determinism import (
    Applied,
    Capabilities,
    Inputs,
    Overrides,
    SeedTooWide,
    Settings,
    decide,
    derive_seed,
    sources_fingerprint,
)

INPUTS = Inputs("what is the meaning of life?", "abc123")
FULL = PROVIDERS["openai"]
NO_SEED = PROVIDERS["anthropic"]
NO_TEMPERATURE = PROVIDERS["local"]
GEMINI = PROVIDERS["gemini"]


def applied(
    caps: Capabilities, *, default: float = 0.0, temperature: float | None = None, seed=None
) -> Applied:
    return decide(INPUTS, caps, Overrides(temperature, seed), Settings(default))


def test_default_temperature_is_zero():
    assert decide(INPUTS, FULL, Overrides(), Settings()).temperature == 0.0


def test_default_seed_is_derived_from_question_and_fingerprint():
    assert applied(FULL).seed == derive_seed(INPUTS.question, INPUTS.sources_fingerprint)


def test_temperature_override_wins_over_default():
    assert applied(FULL, temperature=0.7).temperature == 0.7


def test_seed_override_wins_over_derivation():
    assert applied(FULL, seed=42).seed == 42


def test_settings_default_temperature_is_honoured_without_override():
    assert applied(FULL, default=0.3).temperature == 0.3


def test_override_temperature_beats_settings_default():
    assert applied(FULL, default=0.3, temperature=0.9).temperature == 0.9


def test_no_seed_capability_drops_derived_seed():
    assert applied(NO_SEED) == Applied(temperature=0.0, seed=None)


def test_no_seed_capability_drops_override_seed_too():
    assert applied(NO_SEED, seed=42).seed is None


def test_no_temperature_capability_drops_temperature():
    assert applied(NO_TEMPERATURE) == Applied(None, None)


def test_no_temperature_capability_drops_override_temperature():
    assert applied(NO_TEMPERATURE, temperature=0.7).temperature is None


def test_conservative_capabilities_drop_seed_keep_temperature():
    assert applied(Capabilities.conservative()) == Applied(temperature=0.0, seed=None)


def test_derive_seed_is_the_same_across_calls():
    assert derive_seed("question", "fp") == derive_seed("question", "fp")


def test_derive_seed_differs_on_question_change():
    assert derive_seed("question A", "fp") != derive_seed("question B", "fp")


def test_derive_seed_differs_on_fingerprint_change():
    assert derive_seed("question", "fp1") != derive_seed("question", "fp2")


def test_derive_seed_is_injective_across_the_field_boundary():
    assert derive_seed("ab", "c") != derive_seed("a", "bc")


def test_decide_is_the_same_across_calls():
    assert applied(FULL) == applied(FULL)


def test_applied_has_both_parameters_when_the_provider_supports_both():
    assert None not in (applied(FULL).temperature, applied(FULL).seed)


def test_zero_temperature_is_an_override():
    assert applied(FULL, default=0.5, temperature=0.0).temperature == 0.0


def test_zero_seed_is_an_override():
    assert applied(FULL, seed=0).seed == 0


# Not in the reference module: vectors, seed width, fingerprint.


@pytest.mark.parametrize("vector", load("determinism"), ids=lambda v: v["question"][:20] or "empty")
def test_vector(vector):
    inputs = Inputs(vector["question"], vector["sources_fingerprint"])
    assert derive_seed(inputs.question, inputs.sources_fingerprint) == int(vector["seed_u64"])
    narrowed = decide(inputs, GEMINI, Overrides(), Settings()).seed
    assert narrowed == vector["seed_31_bits"]


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_an_override_seed_wider_than_the_provider_supports_is_rejected(seed):
    with pytest.raises(SeedTooWide, match="between 0 and 2147483647"):
        applied(GEMINI, seed=seed)


def test_the_widest_seed_that_fits_is_sent():
    assert applied(GEMINI, seed=2**31 - 1).seed == 2**31 - 1


def test_an_unknown_provider_is_treated_conservatively():
    assert capabilities_for("brand-new") == Capabilities.conservative()


def test_the_seed_is_the_same_in_every_process():
    program = "from verdicts.core.determinism import derive_seed as d; print(d('question', 'fp'))"
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for hash_seed in ("0", "1", "random")
    }
    assert runs == {str(derive_seed("question", "fp"))}


def test_every_input_of_the_answer_changes_the_fingerprint():
    base = {"model": "m", "tier": "full", "template_sha256": "t"}
    variants = [
        base,
        {**base, "model": "n"},
        {**base, "tier": "quick"},
        {**base, "template_sha256": "u"},
        {**base, "authorization": 1},
        {**base, "authorization": 2},
    ]
    fingerprints = [sources_fingerprint(**variant) for variant in variants]
    assert all(len(one) == 64 for one in fingerprints)
    assert all(one != other for one, other in combinations(fingerprints, 2))
