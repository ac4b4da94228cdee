"""deploy/systemd: complete, hardened, and with valid command lines."""

import subprocess

import pytest
from django.core.management import get_commands, load_command_class

from tests.support.systemd_analyze import FOLDER, ROOT, SERVICES, command, directives, value

MAX_EXPOSURE = 2.0
PYTHON = ["/usr/bin/env", ".venv/bin/python"]
HARDENING = "# Hardening"


def test_there_is_a_unit_for_every_process():
    assert SERVICES == [
        "oracle-flush-log.service",
        "oracle-generate.service",
        "oracle-reader.service",
        "oracle-web@.service",
        "oracle-worker.service",
    ]


@pytest.mark.parametrize("unit", SERVICES)
def test_a_service_is_hardened(systemd_analyze, unit):
    run = subprocess.run(
        [systemd_analyze, "security", "--offline=true", "--no-pager", FOLDER / unit],
        capture_output=True,
        text=True,
        check=True,
    )
    overall = float(run.stdout.rpartition(": ")[2].split()[0])
    assert overall <= MAX_EXPOSURE, run.stdout


def test_all_units_pass_systemd_analyze_verify(systemd_analyze):
    units = [str(path) for path in sorted(FOLDER.iterdir())]
    run = subprocess.run(
        [systemd_analyze, "verify", "--man=no", *units],
        env={"SYSTEMD_UNIT_PATH": f"{FOLDER}:/lib/systemd/system", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in run.stderr.splitlines() if "oracle" in line]
    assert (run.returncode, complaints) == (0, [])


@pytest.mark.parametrize("unit", SERVICES)
def test_all_services_have_the_same_hardening(unit):
    def lines(name: str) -> str:
        return (FOLDER / name).read_text().partition(HARDENING)[2].partition("[Install]")[0]

    assert lines(unit)
    assert lines(unit) == lines(SERVICES[0])


@pytest.mark.parametrize("unit", SERVICES)
def test_a_service_is_always_restarted(unit):
    assert value(unit, "Restart") == "always"
    assert value(unit, "StartLimitIntervalSec", "Unit") == "0"
    assert 1 <= float(value(unit, "RestartSec")) <= 5


@pytest.mark.parametrize("unit", SERVICES)
def test_data_is_private_to_the_service_user(unit):
    assert value(unit, "User") == "oracle"
    assert value(unit, "UMask") == "0077"
    assert value(unit, "ReadWritePaths") == "/srv/oracle/data"


@pytest.mark.parametrize("unit", SERVICES)
def test_a_service_uses_the_paths_of_a_release_and_host(unit):
    assert value(unit, "WorkingDirectory") == "/srv/oracle/current"
    assert value(unit, "EnvironmentFile") == "/etc/oracle/oracle.env"
    for name, line in directives(unit):
        if name in ("ExecStart", "ExecStartPre"):
            assert line.startswith(" ".join(PYTHON)), line


@pytest.mark.parametrize("unit", ["oracle-generate.service", "oracle-worker.service"])
def test_a_worker_has_time_to_finish_its_job(settings, unit):
    queue = value(unit, "Environment").removeprefix("Q_CLUSTER_NAME=")
    longest = settings.Q_CLUSTER["ALT_CLUSTERS"][queue]["timeout"]
    assert value(unit, "KillMode") == "mixed"
    assert int(value(unit, "TimeoutStopSec")) >= longest + 20


@pytest.mark.parametrize("unit", [unit for unit in SERVICES if "manage.py" in command(unit)])
def test_management_commands_of_units_accept_their_arguments(unit):
    before = [line for name, line in directives(unit) if name == "ExecStartPre"]
    for line in (*(one.split() for one in before), command(unit)):
        assert line[:3] == [*PYTHON, "manage.py"]
        name, *arguments = line[3:]
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        parser.parse_args(arguments)


def test_the_web_units_preflight_collects_static_files():
    assert command("oracle-web@.service", "ExecStartPre")[3:] == ["preflight", "--collect-static"]


def test_the_web_service_has_the_socket_that_nginx_uses():
    socket = "oracle-web@.socket"
    assert value(socket, "ListenStream", "Socket") == "/run/oracle/web-%i.sock"
    assert value(socket, "SocketGroup", "Socket") == "www-data"
    assert value(socket, "SocketMode", "Socket") == "0660"
    assert value("oracle-web@.service", "Requires", "Unit") == "oracle-web@%i.socket"
    site = (ROOT / "deploy/nginx/oracle.conf").read_text()
    for instance in (1, 2):
        assert f"unix:/run/oracle/web-{instance}.sock" in site


def test_the_reader_closes_idle_connections_later_than_nginx():
    arguments = command("oracle-reader.service")
    path = arguments[arguments.index("--uds") + 1]
    site = (ROOT / "deploy/nginx/oracle.conf").read_text()
    assert f"server unix:{path} " in site
    assert path.startswith(f"/run/{value('oracle-reader.service', 'RuntimeDirectory')}/")
    timeout = int(arguments[arguments.index("--http1-header-read-timeout") + 1])
    assert "keepalive_timeout 50s;" in site.partition("upstream oracle_reader")[2].partition("}")[0]
    assert timeout > 50_000
