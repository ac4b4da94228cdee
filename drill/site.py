"""`python -m drill.site CONTROL ENV_FILE`: the site under the drill, as `make serve` runs it.

The sandbox is not among its programs: it is the outside, and outlives every restart
of the site.
"""

import os
import sys

from oracle_site.supervise.launch import run_to_its_end


def main(control: str, env_file: str) -> None:
    code, _ = run_to_its_end([sys.executable, "manage.py", "migrate", "--verbosity=0"])
    if code:
        sys.exit(code)
    serve = ["-m", "oracle_site.serve", "--control", control, "--env-file", env_file]
    # In our place, so that whoever has started us is the one whom it serves.
    os.execv(sys.executable, [sys.executable, *serve])


if __name__ == "__main__":
    main(*sys.argv[1:])
