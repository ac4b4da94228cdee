"""The corpus of hostile texts, and checks of where they are rendered."""

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
# Appended: some texts are hostile only at the start, and a summary has a minimum length.
ENDING = " That is what the model wrote here, and it is long enough to pass."
HARMLESS = "Tea with cake, at a fair price, in a quiet street."
URL_ATTRIBUTES = {
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
BIDI_CONTROLS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# What mail clients turn into links, roughly: somewhat more than any of them.
LINKED = re.compile(
    r"\b[a-z]{2,}://\S|\bwww\.[^\s\u200b]|\b(?:tel|sms|mailto|skype|javascript|data):[^\s\u200b]"
    r"|[\w.+-]+@[\w-]+\.\w{2}|\b[\w-]+[.\u3002\uff0e\uff61][^\W\d_]{2,}\b|\\\\\w",
    re.IGNORECASE,
)


SLOTS = 11  # text fields of a strategy verdict


def verdict_of(*texts: str) -> dict[str, object]:
    """A strategy verdict that passes the gate, with the texts in turn in its text fields."""
    filler = (text + ENDING for text in cycle(texts))
    payload = complete("strategy")
    payload["summary"] = next(filler)
    for entry in payload["breakdown"].values():
        entry["analysis"] = next(filler)
    payload["strategy"] = {
        "next_step": next(filler),
        "alternative": next(filler),
        "tests": [next(filler), next(filler), next(filler)],
    }
    return payload


def batches() -> list[list[Entry]]:
    """The corpus in batches that fit into one verdict."""
    return [CORPUS[start : start + SLOTS] for start in range(0, len(CORPUS), SLOTS)]


class Skeleton(HTMLParser):
    """The elements of a page with their attributes' names, its URLs and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.leads_to: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *sorted(name for name, _ in attrs)))
        self.text += "\n"  # separates the text of elements
        self.leads_to |= {value or "" for name, value in attrs if name in URL_ATTRIBUTES}

    def handle_comment(self, data: str) -> None:
        self.elements.append(("!--",))

    def handle_decl(self, decl: str) -> None:
        self.elements.append((f"!{decl.lower()}",))

    def handle_data(self, data: str) -> None:
        self.text += data


def control_characters(text: str) -> set[str]:
    """Characters that a terminal, mail client or browser would interpret."""
    return {
        one
        for one in text
        if one in BIDI_CONTROLS or (unicodedata.category(one) == "Cc" and one not in "\n\t\r")
    }
