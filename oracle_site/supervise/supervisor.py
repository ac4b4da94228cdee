"""All programs together: start, stop, and what is said about it."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence

from oracle_site.supervise.console import Console
from oracle_site.supervise.keeper import Keeper
from oracle_site.supervise.program import Backoff, Program
from oracle_site.supervise.threads import in_thread

SLOW_START = 20.0


def supervise(
    programs: Sequence[Program],
    *,
    welcome: str = "",
    backoff: Backoff | None = None,
    watch_every: float = 5.0,
    parent: int | None = None,
) -> int:
    """Run all programs until SIGINT, SIGTERM or SIGHUP; the exit code.

    They start in the order given, without waiting for each other; `welcome` is
    said when all are ready. A second Ctrl-C kills instead of waiting. With
    `parent`, the death of that parent process is a wish to stop, too. Must not
    be called where other threads fork without exec: copies of the supervisor's
    ends of the tethers would keep the programs alive after it.
    """
    console = Console(width=max(len(program.name) for program in programs))
    keepers = [
        Keeper(program, console, backoff=backoff or Backoff(), watch_every=watch_every)
        for program in programs
    ]
    try:
        asyncio.run(_run(programs, keepers, console, welcome, parent))
    finally:
        console.close()
    return 0


async def _run(
    programs: Sequence[Program],
    keepers: Sequence[Keeper],
    console: Console,
    welcome: str,
    parent: int | None,
) -> None:
    stop = _stop_on_signals(keepers, console)
    kept = [asyncio.create_task(keeper.keep()) for keeper in keepers]
    beside = [asyncio.create_task(_welcome(programs, console, welcome))]
    if parent is not None:
        beside.append(asyncio.create_task(_stop_without_parent(parent, stop)))
    over = asyncio.ensure_future(asyncio.wait(kept, return_when=asyncio.FIRST_EXCEPTION))
    over.add_done_callback(lambda _: stop.set())
    try:
        await stop.wait()
    finally:
        for task in (*kept, *beside, over):
            task.cancel()
        outcomes = await asyncio.gather(*kept, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    console.say("Stopped.")


def _stop_on_signals(keepers: Sequence[Keeper], console: Console) -> asyncio.Event:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        if not stop.is_set():
            console.say("Stopping ...")
            stop.set()
        elif number == signal.SIGINT:  # only that one: make repeats SIGTERM to its children
            for keeper in keepers:
                keeper.kill()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup: somebody wants it to outlive the terminal.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, on_signal, number)
    return stop


async def _welcome(programs: Sequence[Program], console: Console, welcome: str) -> None:
    began, patient = time.monotonic(), True
    for program in programs:
        while not await in_thread(program.is_ready):
            if patient and time.monotonic() - began > SLOW_START:
                console.say(f"Still waiting for {program.name} to be ready.")
                patient = False
            await asyncio.sleep(0.1)
    if welcome:
        console.say(welcome)


async def _stop_without_parent(parent: int, stop: asyncio.Event) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(0.5)
    stop.set()
