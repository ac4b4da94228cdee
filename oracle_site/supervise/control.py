"""A socket at which a running supervisor is asked to do something, and says how it went.

The question is one word on a line. Each line of the answer is a sentence for
people, but the last, which is an exit code.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

Errand = Callable[[Callable[[str], None]], Awaitable[bool]]
LONGEST = 100  # bytes of a path, which the kernel limits


class NobodyThere(Exception):
    """No supervisor listens at this place."""


class Control:
    def __init__(self, path: Path | None, errands: Mapping[str, Errand]) -> None:
        self._path = path
        self._errands = errands
        self._server: asyncio.AbstractServer | None = None

    async def __aenter__(self) -> None:
        if self._path:
            self._path.unlink(missing_ok=True)  # one that nobody answers at
            self._server = await asyncio.start_unix_server(self._answer, self._path)
            self._path.chmod(0o600)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._server and self._path:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def _answer(self, question: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # whoever asked is gone, and the errand is done all the same
            errand = self._errands.get((await question.readline()).decode().strip())
            done = (
                await errand(lambda text: answer.write(f"{text}\n".encode())) if errand else False
            )
            answer.write(f"{0 if done else 1}\n".encode())
            await answer.drain()
        answer.close()


def ask(path: Path, question: str, tell: Callable[[str], None]) -> int:
    """Have the supervisor at `path` do something; its exit code."""
    with connected(path) as line:
        line.sendall(f"{question}\n".encode())
        said = ""
        for following in line.makefile():
            if said:
                tell(said)
            said = following.rstrip("\n")
    return int(said) if said.isdigit() else 1


def somebody_is_there(path: Path) -> bool:
    try:
        connected(path).close()
    except NobodyThere:
        return False
    return True


def connected(path: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(str(path))
    except OSError as error:
        line.close()
        raise NobodyThere(str(error)) from None
    return line
