"""Keeps one program running: starts it, sees its end or its trouble, starts it again."""

import asyncio
import time

from oracle_site.supervise.console import Console
from oracle_site.supervise.group import Group
from oracle_site.supervise.program import Backoff, Program
from oracle_site.supervise.threads import in_thread


class Keeper:
    def __init__(
        self, program: Program, console: Console, *, backoff: Backoff, watch_every: float
    ) -> None:
        self._program = program
        self._console = console
        self._backoff = backoff
        self._watch_every = watch_every
        self._group: Group | None = None
        self.stumbles = 0  # how often it has ended or was in trouble

    async def is_ready(self) -> bool:
        if self._program.announces:
            return bool(self._group and self._group.is_ready())
        return await in_thread(self._program.is_ready)

    async def keep(self) -> None:
        """Until cancelled, which stops the program; or to the end of one that is run once."""
        try:
            await self._again_and_again()
        finally:
            if self._group:
                await self._group.stop()

    async def _again_and_again(self) -> None:
        name, pause = self._program.name, None
        while True:
            began = time.monotonic()
            trouble = await self._run()
            self.stumbles += 1
            if not self._program.restart:
                self._console.say(f"{name} {trouble}.")
                return
            pause = self._backoff.after(pause, lived=time.monotonic() - began)
            self._console.say(f"{name} {trouble}; starting again in {pause:g} s.")
            if self._group:
                await self._group.stop()
            await asyncio.sleep(pause)

    def kill(self) -> None:
        if self._group:
            self._group.kill()

    async def _run(self) -> str:
        """Start it and wait; what happened to it, as the end of a sentence."""
        try:
            self._group = Group(self._program, self._console)
        except OSError as error:
            return f"cannot be started ({error})"
        ways = {
            asyncio.ensure_future(self._group.ended()),
            asyncio.ensure_future(self._complaint()),
        }
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for way in ways:
                way.cancel()

    async def _complaint(self) -> str:
        """What the program's watch says, when it says something."""
        watch = self._program.watch
        told = ""
        while watch:
            await asyncio.sleep(self._watch_every)
            try:
                sentence = await in_thread(watch)
            except Exception as error:  # noqa: BLE001 - a broken watch harms no program
                broken = f"The watch of {self._program.name} failed: {error!r}."
                if broken != told:
                    self._console.say(told := broken)
                continue
            if sentence:
                return f"is restarted ({sentence})"
        return await asyncio.Future()  # never
