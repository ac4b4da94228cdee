"""`python -m sandbox --port 8010`: run the sandbox as its own process."""

import argparse
import logging
import signal
import sys
from threading import Thread
from types import FrameType

from sandbox.server import SandboxServer
from sandbox.settings import WEBHOOK_SECRET, BadSetting, Settings


def main(arguments: list[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO)
    try:
        settings = Settings(
            webhook_url=options.webhook_url,
            webhook_secret=options.webhook_secret,
            latency=options.latency,
            variance=options.variance,
        )
        server = SandboxServer(options.port, settings)
    except BadSetting as error:
        sys.exit(str(error))
    except (OSError, OverflowError) as error:
        sys.exit(f"Port {options.port} cannot be used ({error}): choose another with --port.")

    def stop(number: int, frame: FrameType | None) -> None:
        # In another thread: `shutdown` waits for the serving loop, which this handler interrupts.
        Thread(target=server.stop).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    sys.stdout.write(f"The sandbox is at {server.url}/ - stop it with Ctrl-C.\n")
    sys.stdout.flush()
    server.serve_forever()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=8010, help="0 picks a free port")
    parser.add_argument("--webhook-url", help="unset: events are not sent")
    parser.add_argument("--webhook-secret", default=WEBHOOK_SECRET)
    parser.add_argument("--latency", type=float, default=0.3, help="seconds per model answer")
    parser.add_argument("--variance", type=float, default=0.0, help="share of varied answers")
    return parser


if __name__ == "__main__":
    main()
