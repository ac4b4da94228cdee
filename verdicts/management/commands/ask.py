"""`manage.py ask "..." --tier T`: one generation outside of any order, only printed."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from audit.core.parsing import parse
from audit.core.vocabulary import TIERS, TierName
from verdicts.clients import ask_model
from verdicts.core.determinism import Overrides, SeedTooWide
from verdicts.core.errors import ModelError
from verdicts.core.prompt import QueryError, clean_query
from verdicts.generation.ask import Asked, ask_once, dropped, ignored, prepare

BAD_USAGE: Final = 2
MAX_TEMPERATURE: Final = 2.0


class Command(BaseCommand):
    help = (
        "Call the model once; print the verdict, the gate's decision and the parameters that "
        "were sent. The verdict is neither delivered, stored nor logged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", help="the idea to judge")
        parser.add_argument("--tier", required=True, choices=TIERS)
        parser.add_argument(
            "--temperature", type=float, help="0 to 2 (default: ORACLE_ASK_TEMPERATURE)"
        )
        parser.add_argument("--seed", type=int, help="default: derived, as for a customer")

    def handle(
        self, *, query: str, tier: TierName, temperature: float | None, seed: int | None, **_: Any
    ) -> str:
        if temperature is not None and not 0 <= temperature <= MAX_TEMPERATURE:
            raise CommandError("--temperature must be between 0 and 2.", returncode=BAD_USAGE)
        try:
            request = prepare(
                tier=tier,
                query=clean_query(query),
                model=settings.ORACLE_MODEL,
                overrides=Overrides(temperature=temperature, seed=seed),
                default_temperature=settings.ORACLE_ASK_TEMPERATURE,
            )
        except SeedTooWide as error:
            raise CommandError(f"Refused: {error}.", returncode=BAD_USAGE) from None
        except QueryError as error:
            raise CommandError(str(error), returncode=BAD_USAGE) from None
        try:
            asked = ask_once(request, tier=tier, ask=ask_model)
        except ModelError as error:
            raise CommandError(f"No answer: {error}.") from None
        return "\n".join(report(asked))


def report(asked: Asked) -> Iterator[str]:
    request, answer, decision = asked.request, asked.answer, asked.decision
    version = printable(answer.model_version) or "no version"
    yield f"Model        {request.model}, which reports {version}"
    yield f"             {'requested':<24} applied"
    requested = request.asked
    default = f"{settings.ORACLE_ASK_TEMPERATURE} (setting)"
    yield _row("temperature", _or(requested.temperature, default), request.applied.temperature)
    yield _row("seed", _or(requested.seed, "derived"), request.applied.seed)
    rejected = ", ".join(dropped(request))
    note = f"{rejected}: not accepted by {request.model}" if rejected else "nothing"
    yield f"Dropped      {note}"
    if without_effect := ", ".join(ignored(request)):
        yield f"Ignored      {without_effect}: sent, but without effect on {request.model}"
    score = "none" if decision.coherence_score is None else f"{decision.coherence_score:.5f}"
    outcome = "approved" if decision.approved else "REJECTED"
    yield (
        f"Gate         {outcome}: {decision.crosscheck_reason}, score {score} "
        f"(threshold {decision.threshold:.5f})"
    )
    yield f"Flags        {', '.join(decision.flags) or 'none'}"
    yield f"Tokens       {answer.prompt_tokens:,} in, {answer.output_tokens:,} out"
    yield f"Verdict      {decision.verdict_label}"
    yield ""
    payload = parse(answer.text)
    text = json.dumps(payload, indent=2, ensure_ascii=False) if payload else answer.text
    reason = printable(answer.block_reason or answer.finish_reason) or "empty"
    yield printable(text) or f"(no text: {reason})"


def printable(text: str) -> str:
    """Escapes control characters, so that a model's text cannot control the terminal."""
    return "".join(
        char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text
    )


def _row(name: str, requested: str, applied: float | None) -> str:
    return f"{name:<12} {requested:<24} {'not sent' if applied is None else applied}"


def _or(value: float | None, default: str) -> str:
    return default if value is None else str(value)
