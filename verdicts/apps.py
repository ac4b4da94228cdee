from importlib import import_module

from django.apps import AppConfig


class VerdictsConfig(AppConfig):
    """Orders: pay, generate, deliver, read, regenerate."""

    name = "verdicts"
    verbose_name = "Orders and verdicts"

    def ready(self) -> None:
        import_module("verdicts.generation.checks")  # registers system checks
