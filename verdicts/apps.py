from importlib import import_module

from django.apps import AppConfig


class VerdictsConfig(AppConfig):
    """The customer's way: pay, generate, deliver, read, regenerate."""

    name = "verdicts"
    verbose_name = "Orders and verdicts"

    def ready(self) -> None:
        import_module("verdicts.generation.checks")  # they register themselves
