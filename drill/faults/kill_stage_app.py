"""Loaded into every process of the drilled site: kills it at armed stages.

The product does not know about it: `drill.settings` makes Django load this app, which wraps
functions of the product by name.
"""

import os
import signal
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from django.apps import AppConfig

from drill.faults.kill_stages import (
    FOLDER,
    STAGES,
    Scope,
    Stage,
    disarm,
    record_kill,
    record_replaced_pool,
)

POOL: Final = "verdicts.jobs.worker_health.Pool"


class KillStages(AppConfig):
    """Last of the installed apps, so that everything it wraps can be imported."""

    name = "drill.faults.kill_stage_app"
    label = "kill_stages"

    def ready(self) -> None:
        queue = os.environ.get("Q_CLUSTER_NAME")
        folder = Path(os.environ[FOLDER])
        for stage in STAGES:
            if stage.role == (queue or "web"):
                _install(stage, folder)
        if queue:
            _record_replacements(queue, folder)


def _install(stage: Stage, folder: Path) -> None:
    owner, name = _resolve(stage.function)
    if stage.when == "signal":
        getattr(owner, name).connect(lambda **_: _die_if_armed(stage, folder), weak=False)
    else:
        setattr(owner, name, _wrapped(getattr(owner, name), stage, folder))


def _record_replacements(queue: str, folder: Path) -> None:
    """Records each kill of a pool that is still alive: its watchdog found it stuck."""
    owner, name = _resolve(POOL)
    pool = getattr(owner, name)
    kill = pool.kill

    @wraps(kill)
    def recording(self: Any) -> None:
        if self.is_alive():
            record_replaced_pool(folder, queue)
        kill(self)

    pool.kill = recording


def _resolve(path: str) -> tuple[Any, str]:
    """What the function is an attribute of: a module, or a class in one."""
    owner, _, name = path.rpartition(".")
    try:
        return import_module(owner), name
    except ModuleNotFoundError:
        module, _, class_name = owner.rpartition(".")
        return getattr(import_module(module), class_name), name


def _wrapped(function: Callable[..., Any], stage: Stage, folder: Path) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if stage.when == "before":
            _die_if_armed(stage, folder)
        if stage.when == "half-way":
            log, data = args
            half = data[: len(data) // 2]
            _die_if_armed(stage, folder, first=lambda: function(log, half, **kwargs))
        result = function(*args, **kwargs)
        if stage.when == "after":
            _die_if_armed(stage, folder)
        return result

    return wrapper


def _die_if_armed(stage: Stage, folder: Path, *, first: Callable[[], Any] | None = None) -> None:
    scope = disarm(folder / stage.file)
    if scope is None:
        return
    if first:
        first()
    record_kill(folder, stage, scope)
    if scope is Scope.GROUP:
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
