"""Environment variables from a file, so that a restart can change them.

    # a comment
    SECRET_KEY=a value, as it stands to the end of the line
    SITE_URL="https://oracle.example"

As systemd's EnvironmentFile reads it, less its escapes and continued lines:
blanks around a value and one pair of quotes are dropped, nothing is expanded.
"""

import re
from pathlib import Path
from typing import Final

LINE: Final = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
QUOTES: Final = ('"', "'")


class EnvFileError(Exception):
    """The sentence names the file and the line, and never a value."""


def read_env_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise EnvFileError(f"{path} cannot be read: {cause}.") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith(("#", ";")):
            continue
        parts = LINE.fullmatch(text)
        if not parts:
            raise EnvFileError(f"{path} line {number} is not of the form NAME=value.")
        name, value = parts[1], parts[2].strip()
        quoted = len(value) >= 2 and value[0] in QUOTES and value[-1] == value[0]
        found[name] = value[1:-1] if quoted else value
    return found
