"""All settings, in the order of the walk. The only reader of the environment."""

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from oracle_site.env import Environment
from verdicts.core.tiers import price_list

BASE_DIR = Path(__file__).resolve().parent.parent
ENV = Environment(os.environ)

# --- The house ---------------------------------------------------------------

DEBUG = ENV.flag(
    "DEBUG", "development mode: error pages with details, no HTTPS; never in public", default=True
)
SECRET_KEY = ENV.secret(
    "SECRET_KEY",
    "a secret of 50 characters or more that signs cookies and queued jobs",
    needed=not DEBUG,
    at_least=50,
    default="only-for-development-on-this-machine-and-never-in-public",
)
SITE_URL = ENV.address(
    "SITE_URL", "where customers reach the site", default="http://127.0.0.1:8000"
)
BEHIND_PROXY = ENV.flag(
    "BEHIND_PROXY",
    "trust X-Forwarded-Proto; only where a proxy of yours always sets it",
    default=False,
)
SUPPORT_EMAIL = ENV.email(
    "SUPPORT_EMAIL", "the address that customers are given", default="oracle@42sisters.ai"
)

ALLOWED_HOSTS = sorted({urlsplit(SITE_URL).hostname or "", "127.0.0.1", "localhost"})
CSRF_TRUSTED_ORIGINS = [SITE_URL]
ROOT_URLCONF = "oracle_site.urls"
WSGI_APPLICATION = "oracle_site.wsgi.application"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "audit",
    "verdicts",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

# Cookies and redirects over HTTPS wherever the site is public.
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
SECURE_HSTS_SECONDS = 0 if DEBUG else 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not DEBUG
SECURE_REFERRER_POLICY = "no-referrer"  # a session id in an address is the key to a verdict
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
X_FRAME_OPTIONS = "DENY"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- One database ------------------------------------------------------------

DATABASES = {
    "default": ENV.database(
        "DATABASE_URL",
        "where everything is kept: SQLite, or PostgreSQL by postgres://user:password@host/name",
        default="sqlite:///var/oracle.sqlite3",
        root=BASE_DIR,
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- 1. Choose a tier --------------------------------------------------------

# Stripe takes no payment under 50 cents, and its largest amount has eight digits.
ORACLE_PRICES = price_list(
    quick_cents=ENV.integer(
        "ORACLE_PRICE_QUICK",
        "price of the Quick Take in Canadian cents",
        default=200,
        at_least=50,
        at_most=99_999_999,
    ),
    strategy_cents=ENV.integer(
        "ORACLE_PRICE_STRATEGY",
        "price of the Strategy Session in Canadian cents",
        default=1500,
        at_least=50,
        at_most=99_999_999,
    ),
)

# --- The record --------------------------------------------------------------

ORACLE_LOG_PATH = BASE_DIR / ENV.text(
    "ORACLE_LOG_PATH",
    "the append-only log; its folder must exist, and rotated files stay beside it",
    default="var/oracle_log.jsonl",
)
ORACLE_LOG_NAME = (
    ENV.text(
        "ORACLE_LOG_NAME",
        "whose log it is: one name per log file, kept for good; without it the host's name",
    )
    or socket.gethostname()
)
ORACLE_LOG_SYNC = ENV.flag(
    "ORACLE_LOG_SYNC", "wait for the disk at every write to the log", default=True
)

# --- Pages -------------------------------------------------------------------

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
