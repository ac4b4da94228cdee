"""The mailbox: every accepted message, as its recipient would see it."""

import re
from html import escape
from typing import Final

from sandbox.graph.mailbox import Received
from sandbox.http_messages import Reply, Request, Response
from sandbox.pages.layout import page, table
from sandbox.state import State

MAX_ROWS: Final = 200
_HEAD: Final = re.compile(r"<head\b[^>]*>", re.IGNORECASE)
_URL: Final = re.compile(r"(https?://[^\s<>\"']*[^\s<>\"'.,;:!?)])")


def show_all(state: State, request: Request) -> Reply:
    received = state.mailbox.received(to=request.query.get("to"))
    newest = received[::-1][:MAX_ROWS]
    body = table(
        ("Received", "To", "Subject", "Parts"),
        [_row(each) for each in newest],
        "No messages yet. Email sent by the site appears here.",
    )
    count = "1 message" if len(received) == 1 else f"{len(received):,} messages"
    more = f", the newest {MAX_ROWS} shown" if len(received) > MAX_ROWS else ""
    heading = f'<h1>Mailbox</h1><p class="quiet">{count}{more}, newest first.</p>'
    return page("Mailbox", f'{heading}<section class="card">{body}</section>')


def _row(received: Received) -> tuple[str, ...]:
    mail = received.mail
    parts = " + ".join(
        name for name, part in (("text", mail.text), ("HTML", mail.html)) if part is not None
    )
    return (
        f'<span style="white-space:nowrap">{received.at:%d %b, %H:%M:%S}</span>',
        escape(", ".join(mail.to)),
        f'<a href="/mailbox/{received.number}">{escape(mail.subject or "(no subject)")}</a>',
        f'<span class="quiet">{parts or "empty"}</span>',
    )


def show_one(state: State, request: Request) -> Reply:
    received = state.mailbox.get(request.segment(1))
    if received is None:
        return page("Not found", "<h1>This message does not exist.</h1>", status=404)
    mail = received.mail
    lines = {
        "From": mail.sent_from,
        "To": ", ".join(mail.to),
        "Received": f"{received.at:%d %B %Y, %H:%M:%S} UTC",
        "Message-ID": mail.message_id or "none",
    }
    described = "".join(f"<dt>{n}</dt><dd>{escape(v)}</dd>" for n, v in lines.items())
    title = escape(mail.subject or "(no subject)")
    parts = [f'<section class="card mail"><h1>{title}</h1><dl>{described}</dl></section>']
    if mail.html is not None:
        # No scripts, no forms; links open in a new window, as in a mail client.
        parts.append(
            '<section class="card"><h2>As HTML</h2><iframe title="The message as HTML" '
            'sandbox="allow-popups allow-popups-to-escape-sandbox" '
            f'srcdoc="{escape(_with_links_in_new_window(mail.html), quote=True)}"></iframe>'
            "</section>"
        )
    if mail.text is not None:
        parts.append(
            f'<section class="card mail"><h2>As text</h2><pre>{_linked(mail.text)}</pre></section>'
        )
    headers = "\n".join(f"{name}: {value}" for name, value in mail.headers)
    parts.append(
        '<section class="card mail"><details><summary>All headers</summary>'
        f'<pre style="margin-top:.75rem">{escape(headers)}</pre></details>'
        f'<p style="margin:.75rem 0 0"><a href="/mailbox/{received.number}/raw">Raw '
        'message</a> · <a href="/mailbox">Back to the mailbox</a></p></section>'
    )
    return page(mail.subject or "Message", "".join(parts))


def _with_links_in_new_window(html: str) -> str:
    base = '<base target="_blank">'
    head = _HEAD.search(html)
    return html[: head.end()] + base + html[head.end() :] if head else base + html


def _linked(text: str) -> str:
    """The text, escaped, with its URLs as links."""
    pieces = _URL.split(text)  # every second one is a URL
    return "".join(
        f'<a href="{escape(piece, quote=True)}" target="_blank" rel="noopener">{escape(piece)}</a>'
        if position % 2
        else escape(piece)
        for position, piece in enumerate(pieces)
    )


def show_raw(state: State, request: Request) -> Reply:
    received = state.mailbox.get(request.segment(1))
    if received is None:
        return page("Not found", "<h1>This message does not exist.</h1>", status=404)
    headers = {"X-Content-Type-Options": "nosniff"}
    return Response(200, received.mail.raw, "text/plain; charset=utf-8", headers)
