"""A bare Django project with the site's third-party apps and middleware: its start-up baseline.

Load `benchmarks.peers.same_apps:application`, which has /healthz; APPS and MIDDLEWARE are
comma-separated lists.
"""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import include, path

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=os.environ["APPS"].split(","),
    MIDDLEWARE=os.environ["MIDDLEWARE"].split(","),
    Q_CLUSTER={"name": "bare", "orm": "default", "timeout": 60, "retry": 90},
    ROOT_URLCONF=__name__,
    SECRET_KEY="only-for-benchmarks",  # noqa: S106 - not a real secret
    STATIC_URL="static/",
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    USE_TZ=True,
)
application = get_wsgi_application()

# Both need loaded apps.
from django.contrib import admin  # noqa: E402 - after get_wsgi_application()
from drf_spectacular.views import SpectacularAPIView  # noqa: E402 - likewise


def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("alive")


urlpatterns = [
    path("healthz", healthz),
    path("api/", include([path("schema/", SpectacularAPIView.as_view())])),
    path("admin/", admin.site.urls),
]
