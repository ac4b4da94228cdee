"""One run of a program: its tether, itself, and all that it forked."""

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from oracle_site.supervise.console import STDERR, STDOUT, Console
from oracle_site.supervise.launch import exit_code, launch
from oracle_site.supervise.program import Program
from oracle_site.supervise.threads import in_thread

SETTLING = 2.0  # seconds for killed processes to vanish, and for their last lines


class Group:
    def __init__(self, program: Program, console: Console) -> None:
        """Start it. Needs a running event loop."""
        self.program = program
        outputs = [console.follow(program.name, to) for to in (STDOUT, STDERR)]
        (stdout, _), (stderr, _) = outputs
        self._readers = [reader for _, reader in outputs]
        reading, writing = os.pipe()
        saying = ["--ready", str(writing)] if program.announces else []
        try:
            self._tether, self._line = launch(
                [*program.argv, *saying],
                env=program.env,
                stdout=subprocess.DEVNULL if program.quiet else stdout,
                stderr=stderr,
                folder=program.folder,
                keeps=[*program.keeps, writing] if program.announces else program.keeps,
            )
        finally:
            for end in (stdout, stderr, writing):
                os.close(end)
        self._announced = threading.Event()
        threading.Thread(target=self._hear, args=(reading,), daemon=True).start()
        self._over = in_thread(self._tether.wait)
        self._asked = self._gone = False

    def is_ready(self) -> bool:
        """Whether it has said so; of those only that say it."""
        return self._announced.is_set()

    async def ended(self) -> str:
        """How it ended, once it has, with everything gone and its last words shown."""
        await asyncio.shield(self._over)
        self.kill()  # finds somebody only where the tether itself was killed
        await in_thread(self._settle)
        self._gone = True  # from here on the group's number may be another's
        with self._line:
            code = exit_code(self._line)
        if code is None:
            return f"lost its tether, which {describe(self._tether.returncode)}"
        return describe(code)

    async def stop(self) -> None:
        """Ask the program to end, wait, end the rest."""
        if self._gone:
            return
        if not self._over.done():
            if not self._asked:  # once: a stop can overtake a restart that is under way
                self._asked = True
                self._signal(os.kill, signal.SIGTERM)
                self._signal(os.killpg, signal.SIGCONT)
            await asyncio.wait({self._over}, timeout=self.program.grace)
            self.kill()
        await self.ended()

    def kill(self) -> None:
        """End all of it, now."""
        if not self._gone:
            self._signal(os.killpg, signal.SIGKILL)

    def _signal(self, send: Callable[[int, int], None], number: signal.Signals) -> None:
        # PermissionError: macOS, where only zombies are left.
        with suppress(ProcessLookupError, PermissionError):
            send(self._tether.pid, number)

    def _hear(self, reading: int) -> None:
        with open(reading, "rb", buffering=0) as source:
            if source.read(1):  # else all are gone who could have written
                self._announced.set()

    def _settle(self) -> None:
        """Until the outputs end, which is when the last process that holds them is gone."""
        deadline = time.monotonic() + SETTLING
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))


def describe(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}" if code else "ended"
