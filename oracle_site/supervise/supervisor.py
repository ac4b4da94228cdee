"""All programs together: start, replace, stop, and what is said about it."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from oracle_site.supervise.console import Console
from oracle_site.supervise.control import Control
from oracle_site.supervise.program import Backoff, Program
from oracle_site.supervise.troupe import Troupe


def supervise(
    programs: Sequence[Program],
    *,
    welcome: str = "",
    backoff: Backoff | None = None,
    watch_every: float = 5.0,
    parent: int | None = None,
    renew: Callable[[], Sequence[Program]] | None = None,
    control: Path | None = None,
    stopping: Callable[[], None] = lambda: None,
) -> int:
    """Run all programs until SIGINT, SIGTERM or SIGHUP; the exit code.

    They start in the order given, without waiting for each other; `welcome` is
    said when all are ready. A second Ctrl-C kills instead of waiting. With
    `parent`, the death of that parent process is a wish to stop, too.

    With `renew`, SIGHUP is a wish to replace: it is asked, in a thread, what shall
    run from now on (or raises Refused), and each program is stopped once its
    successor is ready. `control` is a socket at which the same can be asked for.
    `stopping` is called when a stop begins.

    Must not be called where other threads fork without exec: copies of the
    supervisor's ends of the tethers would keep the programs alive after it.
    """
    console = Console(width=max(len(program.name) for program in programs))
    troupe = Troupe(console, backoff=backoff or Backoff(), watch_every=watch_every, renew=renew)

    async def run() -> None:
        _listen_to_signals(troupe, console)
        troupe.start(programs)
        beside = [asyncio.create_task(troupe.welcome(welcome))]
        if parent is not None:
            beside.append(asyncio.create_task(_stop_without_parent(parent, troupe.stop)))
        async with Control(control, {"restart": troupe.restart}):
            try:
                await troupe.stop.wait()
            finally:
                stopping()
                for task in beside:
                    task.cancel()
                await troupe.end()
        console.say("Stopped.")

    try:
        asyncio.run(run())
    finally:
        console.close()
    return 0


def _listen_to_signals(troupe: Troupe, console: Console) -> None:
    loop = asyncio.get_running_loop()
    restarts = set()

    def on_signal(number: signal.Signals) -> None:
        if not troupe.stop.is_set():
            console.say("Stopping ...")
            troupe.stop.set()
        elif number == signal.SIGINT:  # only that one: make repeats SIGTERM to its children
            troupe.kill()

    def on_hangup() -> None:
        restarts.add(task := asyncio.create_task(troupe.restart(lambda _: None)))
        task.add_done_callback(restarts.discard)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGHUP and troupe.renews:
            loop.add_signal_handler(number, on_hangup)
        # nohup: somebody wants it to outlive the terminal.
        elif number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, on_signal, number)


async def _stop_without_parent(parent: int, stop: asyncio.Event) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(0.5)
    stop.set()
