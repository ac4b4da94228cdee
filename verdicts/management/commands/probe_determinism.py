"""`manage.py probe_determinism --tier T -n 20`: does the model repeat its answer?"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from audit.core.vocabulary import TIERS, TierName
from audit.management.terminal import ProgressBar, render_table
from audit.models import DeterminismProbe
from verdicts.clients import ask_model
from verdicts.core.errors import ModelError
from verdicts.core.formatting import format_interval
from verdicts.core.prompt import QueryError, clean_query
from verdicts.generation.probe import probe

BAD_USAGE: Final = 2
MIN_CALLS: Final = 2
MAX_CALLS: Final = 1000
QUERY: Final = (
    "I want to open a bakery that bakes at night and delivers bread before seven, by "
    "subscription. I have savings for eight months and have baked for ten years."
)


class Command(BaseCommand):
    help = (
        "Make the same locked call several times and compare the answers with the first. The "
        "result is stored for the console; no order is involved, nothing is delivered or logged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tier", required=True, choices=TIERS)
        parser.add_argument("-n", type=int, default=20, dest="times", help="calls (default: 20)")
        parser.add_argument("--query", default=QUERY, help="the idea to judge")
        price = "dollars per million tokens, to show the cost"
        parser.add_argument("--prompt-price", type=float, help=price)
        parser.add_argument("--output-price", type=float, help=price)

    def handle(
        self,
        *,
        tier: TierName,
        times: int,
        query: str,
        prompt_price: float | None,
        output_price: float | None,
        **_: Any,
    ) -> str:
        if not MIN_CALLS <= times <= MAX_CALLS:
            raise CommandError(
                f"-n must be between {MIN_CALLS} and {MAX_CALLS}.", returncode=BAD_USAGE
            )
        if (prompt_price is None) != (output_price is None):
            raise CommandError(
                "--prompt-price and --output-price go together: give both, or neither.",
                returncode=BAD_USAGE,
            )
        try:
            query = clean_query(query)
        except QueryError as error:
            raise CommandError(str(error), returncode=BAD_USAGE) from None
        try:
            with ProgressBar(f"of {times:,} calls") as tick:
                found = probe(
                    tier=tier,
                    query=query,
                    model=settings.ORACLE_MODEL,
                    times=times,
                    ask=ask_model,
                    progress=lambda done: tick(done, done / times),
                )
        except ModelError as error:
            raise CommandError(f"Stopped, nothing is stored: {error}.") from None
        if found is None:
            raise CommandError("Fewer than two answers: there is nothing to compare.")
        rows = [*report(found), *_cost(found, prompt_price, output_price)]
        return render_table(("", ""), rows)


def report(found: DeterminismProbe) -> Iterator[tuple[str, str]]:
    answered = found.asked - found.unanswered
    yield "Model", f"{found.model}, which reports {', '.join(found.model_versions)}"
    yield "Sent", f"temperature {found.temperature}, seed {found.seed}"
    yield "Answered", f"{answered} of {found.asked}, {found.rejected} rejected by the gate"
    for name, same in (
        ("label", found.same_label),
        ("dimensions", found.same_dimensions),
        ("text", found.same_text),
    ):
        if same is not None:
            share = same / found.compared
            yield f"Same {name}", f"{same} of {found.compared} as the first ({share:.1%})"
    yield "Label, 95%", format_interval(found.low, found.high)
    yield "Texts", f"{found.distinct_texts} distinct"
    yield "Tokens", f"{found.prompt_tokens:,} in, {found.output_tokens:,} out"


def _cost(
    found: DeterminismProbe, prompt: float | None, output: float | None
) -> Iterator[tuple[str, str]]:
    if prompt is not None and output is not None:
        dollars = (found.prompt_tokens * prompt + found.output_tokens * output) / 1_000_000
        yield "Cost", f"about ${dollars:.4f}, ${dollars / found.asked:.6f} a call"
