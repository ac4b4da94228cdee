"""What a WSGI server loads: `oracle_site.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
_django = get_wsgi_application()

from verdicts.fastlane import Fastlane  # noqa: E402 - its models need Django to be set up

application = Fastlane(_django)
