"""The corpus of hostile texts, and what a text must not have become once it is shown."""

import json
import re
import unicodedata
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from tests.support.verdict_payloads import complete


class Entry(NamedTuple):
    kind: str
    name: str
    text: str


CORPUS = [
    Entry(**json.loads(line))
    for line in (Path(__file__).parents[1] / "data/hostile.jsonl").read_text().splitlines()
]
# Long enough for a summary, and behind the text: some of it bites only at the start.
ENDING = " That is what the model wrote here, and it is long enough to pass."
HARMLESS = "Tea with cake, at a fair price, in a quiet street."
ADDRESSES = {
    "href",
    "src",
    "action",
    "formaction",
    "srcset",
    "srcdoc",
    "poster",
    "data",
    "xlink:href",
}
TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# What mail programs make a link of, roughly; a little more than any of them.
LINKED = re.compile(
    r"\b[a-z]{2,}://\S|\bwww\.[^\s\u200b]|\b(?:tel|sms|mailto|skype|javascript|data):[^\s\u200b]"
    r"|[\w.+-]+@[\w-]+\.\w{2}|\b[\w-]+[.\u3002\uff0e\uff61][^\W\d_]{2,}\b|\\\\\w",
    re.IGNORECASE,
)


SLOTS = 11  # places of a strategy verdict that take a text


def verdict_of(*texts: str) -> dict[str, object]:
    """A strategy verdict that passes the gate, with the texts, in turn, wherever one is taken."""
    said = (text + ENDING for text in cycle(texts))
    payload = complete("strategy")
    payload["summary"] = next(said)
    for entry in payload["breakdown"].values():
        entry["analysis"] = next(said)
    payload["strategy"] = {
        "next_step": next(said),
        "alternative": next(said),
        "tests": [next(said), next(said), next(said)],
    }
    return payload


def handfuls() -> list[list[Entry]]:
    """The corpus in as many parts as a verdict has room for at once."""
    return [CORPUS[start : start + SLOTS] for start in range(0, len(CORPUS), SLOTS)]


class Skeleton(HTMLParser):
    """The elements of a page with their attributes' names, where they lead, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.leads_to: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *sorted(name for name, _ in attrs)))
        self.text += "\n"  # another element's words are not these
        self.leads_to |= {value or "" for name, value in attrs if name in ADDRESSES}

    def handle_comment(self, data: str) -> None:
        self.elements.append(("!--",))

    def handle_decl(self, decl: str) -> None:
        self.elements.append((f"!{decl.lower()}",))

    def handle_data(self, data: str) -> None:
        self.text += data


def steers(text: str) -> set[str]:
    """Characters in it that a terminal, a mail program or a browser would act on."""
    return {
        one
        for one in text
        if one in TURNING or (unicodedata.category(one) == "Cc" and one not in "\n\t\r")
    }
