"""Calls the sandbox's Gemini the way the product does."""

from typing import Any

from google import genai
from google.genai import types

from verdicts.core.prompt import build_verdict_prompt
from verdicts.core.tiers import TIER

QUERY = "Should I quit my job and open a bakery in Montreal with savings of $40,000?"
MODEL = "gemini-2.5-flash"


def ask(
    client: genai.Client,
    query: str = QUERY,
    tier: str = "full",
    *,
    model: str = MODEL,
    **config: Any,
) -> types.GenerateContentResponse:
    locked = {"temperature": 0.0, "top_p": 1.0, "top_k": 1, "candidate_count": 1, "seed": 7}
    return client.models.generate_content(
        model=model,
        contents=build_verdict_prompt(tier, query),
        config=types.GenerateContentConfig(
            response_mime_type="application/json",
            response_json_schema=TIER[tier].schema,
            **{**locked, **config},
        ),
    )
