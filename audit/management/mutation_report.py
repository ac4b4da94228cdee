"""The report of a mutation run, as text for a terminal: which mutants the gate rejects."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from textwrap import fill
from typing import Final

from audit.core.mutations.kinds import HARMLESS, KINDS, Kind
from audit.core.mutations.tally import Tally, total
from audit.core.tmm import OMEGA
from audit.core.vocabulary import TIERS
from audit.management.terminal import render_table

_COUNTS: Final = ("created", "rejected", "let through", "flagged")
HEADER: Final = ("Damage", *_COUNTS, *TIERS, "lowest", "median", "caught as")
_WIDTH: Final = 100
_NOT_A_RATE: Final = (
    "The shares are of this list of damages, not of what a model does: they tell what the "
    "mapping can see, not how often it errs."
)


def report(found: Mapping[Kind, Tally], *, good: int, left_out: int) -> str:
    damage = total(tally for kind, tally in found.items() if not kind.should_pass)
    harmless = total(tally for kind, tally in found.items() if kind.should_pass)
    verdicts = f"{good:,} good verdict{'s' * (good > 1)}"
    changed = f"{harmless.created.total():,} times changed without harm"
    lines = [
        f"{verdicts}: {damage.created.total():,} times damaged, {changed}.",
        *(["  " + _left_out(left_out)] if left_out else []),
        "",
        _table(found, damage),
        "",
        f"Approved from {OMEGA:.5f}. By tier: those let through; -: the tier has no such place.",
        "Flagged: those let through that staff find under Passed with flags.",
        "",
        *_verdict(damage, harmless),
        "",
        "What the mapping does not see",
        *_blind(found, damage),
    ]
    return "\n".join(lines)


def _left_out(count: int) -> str:
    return f"{count:,} left out: marked as bad, rejected or flagged as they are, so not good."


def _table(found: Mapping[Kind, Tally], damage: Tally) -> str:
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    for group, kinds in groupby(KINDS, key=lambda kind: kind.group):
        if group == HARMLESS:
            rules |= {len(rows), len(rows) + 1}
            rows.append(_row("All damage", damage))
        created = [(kind, found[kind]) for kind in kinds if kind in found]
        if created:
            rows.append((group, *[""] * (len(HEADER) - 1)))
            rows += [_row(f"  {kind.name}", tally) for kind, tally in created]
    return render_table(HEADER, rows, right=range(1, len(HEADER) - 1), rules_before=rules)


def _row(name: str, of: Tally) -> tuple[str, ...]:
    reason = next((reason for reason, _ in of.reasons.most_common(1)), "-")
    return (
        name,
        f"{of.created.total():,}",
        f"{of.rejected:,}",
        f"{of.passed.total():,}",
        f"{of.flagged:,}",
        *(f"{of.passed[tier]:,}" if of.created[tier] else "-" for tier in TIERS),
        *("-" if score is None else f"{score:.3f}" for score in (of.lowest, of.median)),
        reason,
    )


def _verdict(damage: Tally, harmless: Tally) -> Iterator[str]:
    created = damage.created.total()
    yield (
        f"Caught {damage.rejected:,} of {created:,} ({_share(damage.rejected, created)}), "
        f"let {damage.passed.total():,} through, {damage.flagged:,} of them with a flag."
    )
    yield f"Rejected {harmless.rejected:,} of {harmless.created.total():,} harmless changes."


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _with_tiers(kind: Kind, of: Tally) -> str:
    return f"{kind.name} ({', '.join(tier for tier in TIERS if of.passed[tier])})"


def _blind(found: Mapping[Kind, Tally], damage: Tally) -> Iterator[str]:
    damages = [(kind, found[kind]) for kind in KINDS if kind in found and not kind.should_pass]
    unseen = [kind.name for kind, of in damages if not of.rejected]
    partly = [_with_tiers(kind, of) for kind, of in damages if of.rejected and of.passed]
    silent = damage.passed.total() - damage.flagged
    for sentence in (
        f"Never rejected: {'; '.join(unseen) or 'nothing'}.",
        f"Caught in part, let through in: {'; '.join(partly) or 'nothing'}.",
        f"{silent:,} were let through without a flag, so nobody will look at them.",
        "It reads structure (invariant 7): a text counts when it is there, whatever it says.",
        _NOT_A_RATE,
    ):
        yield fill(sentence, _WIDTH, initial_indent="- ", subsequent_indent="  ")
