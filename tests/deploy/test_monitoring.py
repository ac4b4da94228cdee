"""deploy/prometheus and deploy/logrotate, checked with promtool and logrotate if installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_scrape_job_names_the_rules_and_keeps_the_token_out_of_the_file():
    job = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    (scrape,) = job["scrape_configs"]
    assert job["rule_files"] == ["/etc/prometheus/oracle-alerts.yml"]
    assert list(scrape["authorization"]) == ["credentials_file"]
    assert scrape["metrics_path"] == "/metrics"
    assert int(scrape["scrape_interval"].removesuffix("s")) > 5  # metrics are cached for 5 s


def test_promtool_accepts_job_and_rules(tmp_path):
    promtool = shutil.which("promtool")
    if not promtool:
        pytest.skip("no promtool on this machine")
    (tmp_path / "token").write_text("token")
    text = (DEPLOY / "prometheus/prometheus.yml").read_text()
    text = text.replace("/etc/prometheus/oracle-alerts.yml", f"{DEPLOY}/prometheus/alerts.yml")
    text = text.replace("/etc/prometheus/oracle-token", f"{tmp_path}/token")
    (tmp_path / "prometheus.yml").write_text(text)
    check = [promtool, "check", "config", tmp_path / "prometheus.yml"]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "rules found" in run.stdout


def test_the_append_only_log_is_renamed_not_copied():
    text = (DEPLOY / "logrotate/oracle").read_text()
    rule = text.partition("/srv/oracle/data/oracle_log.jsonl {")[2].partition("}")[0].split("\n")
    directives = {line.strip() for line in rule}
    assert "nocreate" in directives
    assert not {"copytruncate", "copy", "create", "shred"} & directives


def test_all_logs_of_nginx_are_rotated():
    site = (DEPLOY / "nginx/oracle.conf").read_text()
    written = set(re.findall(r"^ *(?:access|error)_log (\S+)", site, re.MULTILINE))
    rules = (DEPLOY / "logrotate/oracle").read_text()
    rotated = re.search(r"^(/\S+) (/\S+) \{$", rules, re.MULTILINE)
    assert written == set(rotated.groups())


def test_logrotate_renames_both(tmp_path):
    logrotate = shutil.which("logrotate")
    if not logrotate:
        pytest.skip("no logrotate on this machine")
    text = (DEPLOY / "logrotate/oracle").read_text()
    text = re.sub(r"^ *(su|create) .*$", "", text, flags=re.MULTILINE)  # users of a real host
    for folder in ("/var/log/oracle", "/srv/oracle/data"):
        text = text.replace(f"{folder}/", f"{tmp_path}/")
    names = ("access.log", "error.log", "oracle_log.jsonl")
    for name in names:
        (tmp_path / name).write_text("a line\n")
    (tmp_path / "rules").write_text(text.replace("/run/nginx.pid", f"{tmp_path}/no.pid"))
    command = [logrotate, "--force", "--state", tmp_path / "state", tmp_path / "rules"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for name in names:
        (rotated,) = tmp_path.glob(f"{name}-*")
        assert rotated.read_text() == "a line\n"
    assert not (tmp_path / "oracle_log.jsonl").exists()
