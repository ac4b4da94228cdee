"""Settings of a house that emails every verdict twice: what a drill is there to find.

Not one that forgets an email: the real house would find that out, and make good for it.
"""

from dataclasses import replace

from django.apps import AppConfig

from drill.settings import *  # noqa: F403 - all of them
from drill.settings import INSTALLED_APPS as OF_THE_DRILL


class Repeats(AppConfig):
    name = "tests.drill.repeating"
    label = "repeating"

    def ready(self) -> None:
        from verdicts import outside  # noqa: PLC0415 - once the apps are there
        from verdicts.services.letters import Letter  # noqa: PLC0415 - see above

        send = outside.send_letter

        def send_twice(letter: Letter) -> None:
            send(letter)
            if letter.label:
                send(replace(letter, message_id=f"<again.{letter.message_id[1:]}"))

        outside.send_letter = send_twice


INSTALLED_APPS = [*OF_THE_DRILL, "tests.drill.repeating.Repeats"]
