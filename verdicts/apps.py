from django.apps import AppConfig


class VerdictsConfig(AppConfig):
    """The customer's way: pay, generate, deliver, read, regenerate."""

    name = "verdicts"
    verbose_name = "Orders and verdicts"
