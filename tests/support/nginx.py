"""The deployed nginx configuration, running on loopback in front of given sockets."""

import os
import re
import resource
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.programs import bring_program, find_program

DEPLOYED = Path(__file__).parents[2] / "deploy/nginx"
START_TIMEOUT = 10.0
STOP_TIMEOUT = 10.0
CLIENT_ADDRESS = "X-Test-Client-Address"  # request header that sets the client's address
TEMPORARY_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")

PLAIN = """
server {{
    listen 127.0.0.1:{plain};
    location / {{
        proxy_set_header Host 127.0.0.1:{https};
        proxy_read_timeout 70s;
        proxy_pass https://127.0.0.1:{https};
    }}
}}
"""


class Nginx(NamedTuple):
    url: str  # https://127.0.0.1:PORT
    http_url: str  # the redirecting server
    plain_url: str  # the same site without TLS, for the sandbox's webhooks and for commands
    tls: ssl.SSLContext  # trusts the certificate: httpx.Client(verify=...)
    logs: Path  # the directory of all logs
    process: subprocess.Popen[bytes]

    def connect(self) -> ssl.SSLSocket:
        """A raw connection, for clients that misbehave."""
        host, port = self.url.removeprefix("https://").split(":")
        plain = socket.create_connection((host, int(port)))
        return self.tls.wrap_socket(plain, server_hostname=host)

    def logged(self) -> str:
        """The contents of all of nginx's logs."""
        return "".join(path.read_text() for path in sorted(self.logs.iterdir()))


def find_nginx() -> str:
    """The path of an nginx that starts. Raises ProgramMissing."""
    return find_program("nginx", "-v")


def bring_nginx() -> str:
    """Like find_nginx, but tries to install it with apt-get."""
    return bring_program("nginx", "-v", packages=("nginx", "openssl"))


@contextmanager
def running_nginx(
    folder: Path, *, web: Sequence[Path], reader: Path, limits: bool = True
) -> Iterator[Nginx]:
    """deploy/nginx in front of one or two web sockets and the reader's.

    All files are in `folder`. A client's address is 127.0.0.1, or the one in its request header
    CLIENT_ADDRESS. `limits=False` removes the rate limits per address.
    """
    https, http, plain = free_ports(3)
    configuration = write_configuration(
        folder, web=web, reader=reader, https=https, http=http, limits=limits
    )
    with (folder / "oracle.conf").open("a") as site:
        site.write(PLAIN.format(plain=plain, https=https))
    command = [find_nginx(), "-p", str(folder), "-c", str(configuration), "-g", "daemon off;"]
    with (folder / "stderr.txt").open("wb") as stderr:
        process = subprocess.Popen(command, stderr=stderr)
    try:
        _wait_for_port(https, process, folder)
        tls = ssl.create_default_context(cafile=folder / "certificate.pem")
        yield Nginx(
            f"https://127.0.0.1:{https}",
            f"http://127.0.0.1:{http}",
            f"http://127.0.0.1:{plain}",
            tls,
            folder / "logs",
            process,
        )
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def write_configuration(
    folder: Path,
    *,
    web: Sequence[Path],
    reader: Path,
    https: int,
    http: int,
    limits: bool = True,
) -> Path:
    """A copy of deploy/nginx/nginx.conf with these ports, sockets and paths; returns its path."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    write_certificate(folder)
    # Workers of another user could not open sockets in a test's directory.
    user = "user root;" if os.geteuid() == 0 else ""
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    added = "".join(f"{name}_temp_path {folder}/{name};\n" for name in TEMPORARY_FOLDERS)
    added += f"set_real_ip_from 127.0.0.0/8;\nreal_ip_header {CLIENT_ADDRESS};\n"
    main = _substitute(
        (DEPLOYED / "nginx.conf").read_text(),
        {
            "user www-data;": user,
            "worker_processes auto;": "worker_processes 2;",
            "worker_rlimit_nofile 65536;": f"worker_rlimit_nofile {min(65536, allowed)};",
            "/run/nginx.pid": f"{folder}/nginx.pid",
            "/var/log/nginx/": f"{folder}/logs/",
            "include /etc/nginx/mime.types;": added,
            "/etc/nginx/conf.d/*.conf": f"{folder}/oracle.conf",
        },
    )
    site = _substitute(
        (DEPLOYED / "oracle.conf").read_text(),
        {
            "/var/log/oracle/": f"{folder}/logs/",
            "/etc/oracle/tls/fullchain.pem": f"{folder}/certificate.pem",
            "/etc/oracle/tls/privkey.pem": f"{folder}/key.pem",
            "unix:/run/oracle/web-1.sock": f"unix:{web[0]}",
            "unix:/run/oracle/web-2.sock": f"unix:{web[-1]}",
            "unix:/run/oracle-reader/reader.sock": f"unix:{reader}",
            "listen [::]:80;": "",
            "listen [::]:443 ssl;": "",
            "listen 80;": f"listen 127.0.0.1:{http};",
            "listen 443 ssl;": f"listen 127.0.0.1:{https} ssl;",
        },
    )
    if not limits:
        site = re.sub(r"^ *limit_req zone=.*$", "", site, flags=re.MULTILINE)
    (folder / "oracle.conf").write_text(site)
    path = folder / "nginx.conf"
    path.write_text(main)
    return path


def _substitute(text: str, replacements: dict[str, str]) -> str:
    for old, new in replacements.items():
        assert old in text, f"deploy/nginx no longer contains {old!r}"
        text = text.replace(old, new)
    return text


def write_certificate(folder: Path) -> None:
    """Self-signed, for 127.0.0.1: `certificate.pem` and `key.pem`."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:oracle.example"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")),
        ],
        capture_output=True,
        check=True,
    )


def free_ports(count: int) -> list[int]:
    """Ports that are free now, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _wait_for_port(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    process.kill()
    raise AssertionError(f"nginx did not start: {(folder / 'stderr.txt').read_text()}")
