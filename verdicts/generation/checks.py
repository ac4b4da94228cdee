"""System checks: what the chosen model does with the locked parameters (R16).

oracle.E001  the model rejects a locked parameter: no verdict could be generated
oracle.W001  the model ignores a locked parameter: answers may vary more
oracle.W002  the model is not in our table of capabilities
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from verdicts.core.capabilities import GEMINI_MODELS, Effect


@checks.register()
def model_honours_the_lock(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001 - Django's signature
    **kwargs: Any,  # noqa: ARG001 - likewise
) -> list[checks.CheckMessage]:
    model: str = settings.ORACLE_MODEL
    effects = GEMINI_MODELS.get(model)
    if effects is None:
        return [
            checks.Warning(
                f"ORACLE_MODEL={model} is not in the table of models.",
                hint="Add it to verdicts/core/capabilities.py with its effect on each parameter.",
                id="oracle.W002",
            )
        ]

    def parameters(effect: Effect) -> str:
        return ", ".join(name for name, what in effects.items() if what == effect)

    found: list[checks.CheckMessage] = []
    if rejected := parameters("rejected"):
        found.append(
            checks.Error(
                f"ORACLE_MODEL={model} rejects {rejected}, which every call sends.",
                hint="Choose a model that takes the locked parameters.",
                id="oracle.E001",
            )
        )
    if ignored := parameters("ignored"):
        found.append(
            checks.Warning(
                f"ORACLE_MODEL={model} ignores {ignored}: regenerated verdicts may differ more.",
                hint="Watch the divergence rate, or choose a model that honours the lock.",
                id="oracle.W001",
            )
        )
    return found
