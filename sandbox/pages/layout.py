"""The layout of every page: one inline style sheet, light and dark, no external resources."""

from html import escape
from pathlib import Path
from typing import Final

from sandbox.http_messages import Response

# No `form-action`: after payment, the form redirects to the shop's own URL.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

_STYLE: Final = Path(__file__).with_name("style.css").read_text()


def page(title: str, body: str, *, status: int = 200, navigation: bool = True) -> Response:
    """A complete page. `body` is HTML: the caller escapes untrusted text."""
    menu = (
        '<nav aria-label="Sandbox"><strong>Sandbox</strong><a href="/">Overview</a>'
        '<a href="/mailbox">Mailbox</a><a href="/_control/requests">Requests</a></nav>'
    )
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Sandbox</title><style>{_STYLE}</style></head><body>"
        '<p class="strip" style="margin:0" role="note"><strong>SANDBOX</strong> – a local '
        "stand-in. No money moves, no mail leaves this machine.</p>"
        f"{menu if navigation else ''}<main>{body}</main></body></html>"
    )
    headers = {
        "Content-Security-Policy": _POLICY,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(status, html.encode("utf-8", "replace"), "text/html; charset=utf-8", headers)


def table(headings: tuple[str, ...], rows: list[tuple[str, ...]], empty_text: str) -> str:
    """An HTML table, or `empty_text` if there are no rows. Cells are HTML."""
    if not rows:
        return f'<p class="quiet" style="margin:0">{escape(empty_text)}</p>'
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in headings)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
