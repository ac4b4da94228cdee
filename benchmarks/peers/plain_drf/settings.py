"""DATABASE is `sqlite:PATH` or `postgresql:HOST,NAME`; REDIS_URL is the cache."""

import os

engine, _, address = os.environ["DATABASE"].partition(":")

SECRET_KEY = "only-for-benchmarks"  # noqa: S105 - not a real secret
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = ["rest_framework", "benchmarks.peers.plain_drf"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]
ROOT_URLCONF = "benchmarks.peers.plain_drf.urls"
USE_TZ = True
if engine == "sqlite":
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": address,
            "CONN_MAX_AGE": None,
            "OPTIONS": {"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"},
        }
    }
else:
    host, name = address.split(",")
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": host,
            "NAME": name,
            "USER": "postgres",
            "CONN_MAX_AGE": None,
        }
    }
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": os.environ.get("REDIS_URL", ""),
    }
}
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
}
