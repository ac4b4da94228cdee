"""The programs that run now, each with its keeper, and how others take their places."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from oracle_site.supervise.console import Console
from oracle_site.supervise.keeper import Keeper
from oracle_site.supervise.program import Backoff, Program
from oracle_site.supervise.threads import in_thread

SLOW_START = 20.0
PATIENCE = 60.0  # seconds for a successor to be ready

Tell = Callable[[str], None]


class Refused(Exception):
    """What runs is not to be replaced; the sentence says why and what to do."""


class Kept(NamedTuple):
    keeper: Keeper
    task: "asyncio.Task[None]"


class Troupe:
    def __init__(
        self,
        console: Console,
        *,
        backoff: Backoff,
        watch_every: float,
        renew: Callable[[], Sequence[Program]] | None,
    ) -> None:
        self.stop = asyncio.Event()
        self.renews = renew is not None
        self._renew = renew
        self._console = console
        self._backoff = backoff
        self._watch_every = watch_every
        self._kept: dict[str, Kept] = {}
        self._leaving: list[Kept] = []
        self._one_at_a_time = asyncio.Lock()

    def start(self, programs: Sequence[Program]) -> None:
        for program in programs:
            self._kept[program.name] = self._keep(program)

    async def welcome(self, sentence: str) -> None:
        """Say it once all are ready."""
        began, patient = time.monotonic(), True
        for name in list(self._kept):
            while name in self._kept and not await self._kept[name].keeper.is_ready():
                if patient and time.monotonic() - began > SLOW_START:
                    self._console.say(f"Still waiting for {name} to be ready.")
                    patient = False
                await asyncio.sleep(0.1)
        if sentence:
            self._console.say(sentence)

    async def restart(self, tell: Tell) -> bool:
        """Replace every program, one after the other; whether all were."""

        def say(sentence: str) -> None:
            self._console.say(sentence)
            tell(sentence)

        async with self._one_at_a_time:
            if self._renew is None or self.stop.is_set():
                return False
            say("Restarting ...")
            try:
                programs = await in_thread(self._renew)
                for program in programs:
                    await self._replace(program)
            except Refused as refusal:
                say(f"Not restarted: {refusal}")
                return False
            for name in self._kept.keys() - {program.name for program in programs}:
                self._let_go(self._kept.pop(name))
            say("Restarted.")
            return True

    def kill(self) -> None:
        """End all of it, now."""
        for keeper, _ in (*self._kept.values(), *self._leaving):
            keeper.kill()

    async def end(self) -> None:
        """Stop all and wait for it; raises what a keeper failed with."""
        everybody = [*self._kept.values(), *self._leaving]
        for _, task in everybody:
            task.cancel()
        outcomes = await asyncio.gather(*(task for _, task in everybody), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    async def _replace(self, program: Program) -> None:
        if self.stop.is_set():
            raise Refused("it is being stopped.")
        successor = self._keep(program)
        self._leaving.append(successor)  # until it has proved itself
        deadline = time.monotonic() + PATIENCE
        while not await successor.keeper.is_ready():
            if successor.keeper.stumbles or time.monotonic() > deadline:
                successor.task.cancel()
                raise Refused(
                    f"the new {program.name} did not get ready, so the old one stays, and with it "
                    "whatever comes after it. What it said is in the service log."
                )
            await asyncio.sleep(0.05)
        self._leaving.remove(successor)
        former = self._kept.get(program.name)
        self._kept[program.name] = successor
        if former:
            self._let_go(former)

    def _keep(self, program: Program) -> Kept:
        keeper = Keeper(
            program, self._console, backoff=self._backoff, watch_every=self._watch_every
        )
        task = asyncio.create_task(keeper.keep())
        task.add_done_callback(self._over)
        return Kept(keeper, task)

    def _let_go(self, kept: Kept) -> None:
        self._leaving.append(kept)
        kept.task.cancel()

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._leaving = [kept for kept in self._leaving if kept.task is not task]
        failed = not task.cancelled() and task.exception() is not None
        if failed or all(kept.task.done() for kept in self._kept.values()):
            self.stop.set()
