"""`manage.py ask "..." --tier T`: one generation, shown here and delivered to nobody."""

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
HOTTEST: Final = 2.0


class Command(BaseCommand):
    help = (
        "Ask the model once and show verdict, the gate's decision and what was sent. It is "
        "delivered to nobody, stored nowhere and not logged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", help="the idea to be judged")
        parser.add_argument("--tier", required=True, choices=TIERS)
        parser.add_argument(
            "--temperature", type=float, help="0 to 2; without it ORACLE_ASK_TEMPERATURE"
        )
        parser.add_argument("--seed", type=int, help="without it derived, as for a customer")

    def handle(
        self, *, query: str, tier: TierName, temperature: float | None, seed: int | None, **_: Any
    ) -> str:
        if temperature is not None and not 0 <= temperature <= HOTTEST:
            raise CommandError("The temperature lies between 0 and 2.", returncode=BAD_USAGE)
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
    itself = printable(answer.model_version) or "nothing"
    yield f"Model        {request.model}, which calls itself {itself}"
    yield f"             {'requested':<24} applied"
    wanted = request.asked
    default = f"{settings.ORACLE_ASK_TEMPERATURE} (setting)"
    yield _row("temperature", _or(wanted.temperature, default), request.applied.temperature)
    yield _row("seed", _or(wanted.seed, "derived"), request.applied.seed)
    gone = ", ".join(dropped(request))
    yield f"Dropped      {f'{gone}: {request.model} does not take it' if gone else 'nothing'}"
    if deaf := ", ".join(ignored(request)):
        yield f"Ignored      {deaf}: sent, but {request.model} does not act on it"
    score = "none" if decision.coherence_score is None else f"{decision.coherence_score:.5f}"
    word = "approved" if decision.approved else "REJECTED"
    yield (
        f"Gate         {word}: {decision.crosscheck_reason}, score {score} "
        f"(approved from {decision.threshold:.5f})"
    )
    yield f"Flags        {', '.join(decision.flags) or 'none'}"
    yield f"Tokens       {answer.prompt_tokens:,} in, {answer.output_tokens:,} out"
    yield f"Verdict      {decision.verdict_label}"
    yield ""
    payload = parse(answer.text)
    text = json.dumps(payload, indent=2, ensure_ascii=False) if payload else answer.text
    why = printable(answer.block_reason or answer.finish_reason) or "empty"
    yield printable(text) or f"(no text: {why})"


def printable(text: str) -> str:
    """What a model wrote must not steer the terminal that shows it."""
    return "".join(
        one if one.isprintable() or one == "\n" else f"\\u{ord(one):04x}" for one in text
    )


def _row(name: str, requested: str, applied: float | None) -> str:
    return f"{name:<12} {requested:<24} {'not sent' if applied is None else applied}"


def _or(value: float | None, default: str) -> str:
    return default if value is None else str(value)
