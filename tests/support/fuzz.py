"""Fuzzes the parsers of model output, webhooks and metadata with randomly mutated valid input.

`python -m tests.support.fuzz --seconds 600 --seed 7` runs longer than the tests do; a printed seed
reproduces a failure.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable

from audit.core.crosscheck import crosscheck
from audit.core.parsing import is_storable, parse
from audit.core.vocabulary import LABELS, TIERS
from tests.support.hostile import CORPUS
from tests.support.stripe_objects import EVENT, SECRET, charge_object, session_object, signature
from tests.support.verdict_payloads import complete
from verdicts.core.errors import BadEvent, BadSignature
from verdicts.core.presentation import defang, present
from verdicts.core.prompt import clean_query
from verdicts.core.response_body import fingerprint
from verdicts.core.sessions import CHUNKS, metadata, read_session
from verdicts.payments.client import read_event

TOKENS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\0", b"\xff", b"\xed\xa0\x80"),
    *(b"null", b"NaN", b"-0", b"1e999", b"9" * 400, b"\\u0000", b"\\ud800", b"\\udc00", b"```"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"true", b'"verdict":', b'"GREEN"', b"[" * 200, b"\r\n"),
    *(entry.text[:200].encode() for entry in CORPUS),
)


def mutated(chance: random.Random, valid: bytes) -> bytes:
    """The input with a few random mutations."""
    text = bytearray(valid)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.choice((1, 2, 5, 20, 200)))
        mutation = chance.randrange(6)
        if mutation == 0:
            text[at:to] = b""
        elif mutation == 1:
            text[at:at] = chance.choice(TOKENS)
        elif mutation == 2:
            text[at:to] = chance.choice(TOKENS)
        elif mutation == 3:
            text[at:at] = text[at:to]
        elif mutation == 4:
            del text[at:]
        elif text:
            text[at % len(text)] = chance.randrange(256)
    return bytes(text)


def model_output(chance: random.Random) -> str:
    """The gate decides on any text, and what it approves can be stored, shown and emailed."""
    tier = chance.choice(TIERS)
    valid = json.dumps(complete(tier, chance.choice(LABELS))).encode()
    text = mutated(chance, valid).decode(errors=chance.choice(("replace", "surrogateescape")))
    decision = crosscheck(text, tier)
    assert decision == crosscheck(text, tier)
    if not decision.approved:
        assert decision.crosscheck_reason != "gate_error", decision.error
        return f"rejected: {decision.crosscheck_reason}"
    payload = parse(text)
    assert payload is not None
    assert is_storable(payload)
    assert payload["verdict"] in LABELS
    reading = present(tier, payload)
    assert reading.summary.strip() or not payload["summary"].strip()
    json.dumps(payload).encode()
    str(defang(reading)).encode()
    fingerprint(payload)
    return "approved"


def webhook(chance: random.Random) -> str:
    """A body is an event, or rejected with BadEvent or BadSignature, and nothing else happens."""
    kind, make = chance.choice(
        (("checkout.session.completed", session_object), ("charge.refunded", charge_object))
    )
    event = {**EVENT, "type": kind, "data": {"object": make()}}
    body = mutated(chance, json.dumps(event).encode())
    header = signature(body)
    if chance.random() < 0.5:
        header = mutated(chance, header.encode()).decode("latin-1")
    try:
        event = read_event(body, header, [SECRET])
    except BadEvent:
        return "no event"
    except BadSignature:
        return "bad signature"
    assert isinstance(event.object, dict)
    session = read_session(event.object)
    return "a session" if session else "another event"


def reassembly(chance: random.Random) -> str:
    """The query is its pieces in order up to the first missing one, or None if that is no query."""
    query = chance.choice(CORPUS).text * chance.choice((1, 1, 9))
    pieces = dict(metadata("quick", query[:4000])) if query[:4000].strip() else {}
    for name in chance.sample(sorted(pieces), chance.randrange(len(pieces) + 1)):
        change = chance.randrange(5)
        if change == 0:
            del pieces[name]
        elif change == 1:
            pieces[name] = chance.choice((None, 7, [], {}, True))
        elif change == 2:
            pieces[name] = mutated(chance, str(pieces[name]).encode()).decode(errors="replace")
        elif change == 3:
            pieces[f"query_{chance.randrange(12)}"] = pieces[name]
    session = read_session(session_object(metadata=pieces, custom_fields=[]))
    assert session is not None
    expected = ""
    for number in range(CHUNKS):
        piece = pieces.get(f"query_{number}")
        if not isinstance(piece, str) or not piece:
            break
        expected += piece
    try:
        query = clean_query(expected)
    except ValueError:
        query = None
    assert session.query == query
    return "none" if query is None else "a query"


TARGETS: dict[str, Callable[[random.Random], str]] = {
    "model output": model_output,
    "webhook": webhook,
    "reassembly": reassembly,
}


def fuzz(name: str, seed: int, times: int) -> Counter[str]:
    """The number of inputs by result. A failure names the seed that reproduces it."""
    found: Counter[str] = Counter()
    for number in range(seed, seed + times):
        try:
            found[TARGETS[name](random.Random(number))] += 1  # noqa: S311 - must be reproducible
        except Exception as error:
            error.add_note(f"{name}: reproduce it with --target '{name}' --seed {number} --times 1")
            raise
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--seconds", type=float, default=60, help="per target")
    parser.add_argument("--times", type=int, help="number of inputs, instead of --seconds")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    for name in options.target or TARGETS:
        found: Counter[str] = Counter()
        seed, until = options.seed, time.monotonic() + options.seconds
        while time.monotonic() < until:
            found += fuzz(name, seed, options.times or 1000)
            seed += 1000
            if options.times:
                break
        print(f"{name}: {found.total():,} tried: {dict(found.most_common())}")


if __name__ == "__main__":
    main()
