"""Loaded into every process of the drilled site: kills it at the stages that are armed.

The product knows nothing of this: `drill.settings` has Django load this module,
which wraps the product's steps by name.
"""

import os
import signal
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import AppConfig

from drill.faults.kill_stages import FOLDER, KILLS, STAGES, WITH_GROUP, Stage


class Stages(AppConfig):
    """Loaded last, when all that is wrapped can be imported."""

    name = "drill.faults.kill_stage_app"
    label = "drill_inside"

    def ready(self) -> None:
        role = os.environ.get("Q_CLUSTER_NAME", "web")
        folder = Path(os.environ[FOLDER])
        for stage in STAGES:
            if stage.role == role:
                _install(stage, folder)


def _install(stage: Stage, folder: Path) -> None:
    armed = folder / stage.file
    owner, name = _resolve(stage.step)
    if stage.when == "signal":
        getattr(owner, name).connect(lambda **_: _pass(stage, armed), weak=False)
    else:
        setattr(owner, name, _wrapped(getattr(owner, name), stage, armed))


def _resolve(step: str) -> tuple[Any, str]:
    """What the step is an attribute of: a module, or a class in one."""
    path, _, name = step.rpartition(".")
    try:
        return import_module(path), name
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(import_module(module), owner), name


def _wrapped(step: Callable[..., Any], stage: Stage, armed: Path) -> Callable[..., Any]:
    @wraps(step)
    def passing(*args: Any, **kwargs: Any) -> Any:
        if stage.when == "before":
            _pass(stage, armed)
        if stage.when == "half-way":
            log, data = args
            _pass(stage, armed, first=lambda: step(log, data[: len(data) // 2], **kwargs))
        result = step(*args, **kwargs)
        if stage.when == "after":
            _pass(stage, armed)
        return result

    return passing


def _pass(stage: Stage, armed: Path, *, first: Callable[[], Any] | None = None) -> None:
    """Die here, if this stage is armed and nobody else has taken it."""
    try:
        how = armed.read_text()
        armed.unlink()
    except FileNotFoundError:
        return
    if first:
        first()
    with (armed.parent / KILLS).open("a") as told:
        told.write(f"{stage.role}: {stage.name}, {how}\n")
    if how == WITH_GROUP:
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
