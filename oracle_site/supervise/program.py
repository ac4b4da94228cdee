"""What is to be kept running, and when it counts as ready."""

import http.client
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

PATIENCE = 2.0  # seconds for one look at a port or a page


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Pauses before a program is started again, in seconds."""

    first: float = 0.5
    longest: float = 10.0
    forgiven_after: float = 30.0  # alive for so long, it starts at `first` again

    def after(self, pause: float | None, *, lived: float) -> float:
        """The pause that follows `pause`, which is None before the first."""
        if pause is None or lived >= self.forgiven_after:
            return self.first
        return min(pause * 2, self.longest)


@dataclass(frozen=True)
class Program:
    """One program with all that it forks.

    To stop it, the program itself gets SIGTERM; when it has ended, or `grace`
    seconds later, whatever is left of its process group is killed. Processes
    that leave the group (setsid) are out of reach.
    """

    name: str
    argv: Sequence[str]
    _: KW_ONLY
    env: Mapping[str, str] = field(default_factory=dict)
    # A port on this machine, an http:// address, or any question. None: as soon as started.
    ready: int | str | Callable[[], bool] | None = None
    # It is started with `--ready FD` and writes a byte there once it is ready.
    announces: bool = False
    folder: Path | None = None  # where it runs; here, unless said
    keeps: Sequence[int] = ()  # descriptors of ours that it inherits, by their numbers
    # Asked every few seconds in a thread; a sentence means: restart it, because of this.
    watch: Callable[[], str | None] | None = None
    restart: bool = True
    grace: float = 10.0
    quiet: bool = False  # drop its stdout, show its stderr

    def is_ready(self) -> bool:
        if callable(self.ready):
            try:
                return self.ready()
            except Exception:  # noqa: BLE001 - what cannot be asked yet is not ready
                return False
        if isinstance(self.ready, int):
            return listens(self.ready)
        return self.ready is None or answers(self.ready)


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except OSError:
        return False
    return True


def answers(url: str) -> bool:
    """Whether the address gives a page, asked directly: proxies are not for this machine."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        connection.request("GET", f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")
        return connection.getresponse().status < 400
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
