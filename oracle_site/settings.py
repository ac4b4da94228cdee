"""All settings, grouped by the steps of an order. The only module that reads the environment."""

import multiprocessing
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from oracle_site.dev.running_site import LOG_PATH
from oracle_site.env import Environment
from oracle_site.queues import queues
from oracle_site.security import *  # noqa: F403 - staff login, headers
from oracle_site.security import https_settings
from oracle_site.server.capacity import serving
from oracle_site.service_log import service_log
from oracle_site.unfold import UNFOLD  # noqa: F401 - the console's theme
from oracle_site.version import VERSION
from verdicts.core.tiers import price_list

BASE_DIR = Path(__file__).resolve().parent.parent
ORACLE_VERSION = VERSION
LOCAL_SITE = "http://127.0.0.1:8000"
MIN_TOKEN_LENGTH = 32
LOCAL_SANDBOX = "http://127.0.0.1:8010"
ENV = Environment(os.environ)

# --- Sandbox or live ---------------------------------------------------------

GEMINI_API_KEY = ENV.text(
    "GEMINI_API_KEY", "Gemini API key; the site is live if this and STRIPE_SECRET_KEY are set"
)
# Keys of the payment provider; each further one needs its own.
STRIPE_SECRET_KEY = ENV.text("STRIPE_SECRET_KEY", "Stripe secret key")
if bool(GEMINI_API_KEY) != bool(STRIPE_SECRET_KEY):
    raise ImproperlyConfigured(
        "GEMINI_API_KEY and STRIPE_SECRET_KEY go together: set both for a live site, "
        "or neither to use the sandbox."
    )
SANDBOX = not GEMINI_API_KEY
LIVE = "" if SANDBOX else "for a live site"  # the reason that required_text() gives
SANDBOX_URL = ENV.url(
    "SANDBOX_URL", "URL of the sandbox, used while there are no keys", default=LOCAL_SANDBOX
)

# --- The site ----------------------------------------------------------------

DEBUG = ENV.flag(
    "DEBUG",
    "development mode: detailed error pages, no HTTPS; off by default once the keys are set",
    default=SANDBOX,
)
ALLOW_SANDBOX = ENV.flag(
    "ORACLE_ALLOW_SANDBOX",
    "allow the sandbox with DEBUG off, for benchmarks and drills",
    default=False,
)
if SANDBOX and not DEBUG and not ALLOW_SANDBOX:
    raise ImproperlyConfigured(
        "With DEBUG off the site must be live: set GEMINI_API_KEY and STRIPE_SECRET_KEY, "
        "or ORACLE_ALLOW_SANDBOX=1 for a benchmark or a drill."
    )
SECRET_KEY = ENV.secret(
    "SECRET_KEY",
    "secret of at least 50 characters that signs cookies and queued jobs",
    required=bool(LIVE) or not DEBUG,
    min_length=50,
    default="only-for-development-on-this-machine-and-never-in-public",
)
SECRET_KEY_FALLBACKS = ENV.comma_separated(
    "SECRET_KEY_FALLBACKS",
    "the next or previous SECRET_KEY during a rotation: accepted, but never used to sign",
)
SITE_URL = ENV.url("SITE_URL", "public URL of the site", default=LOCAL_SITE)
if LIVE and SITE_URL == LOCAL_SITE:
    raise ImproperlyConfigured("SITE_URL must be set for a live site: its public URL.")
BEHIND_PROXY = ENV.flag(
    "BEHIND_PROXY",
    "trust X-Forwarded-Proto and the last X-Forwarded-For; only if your own proxy sets both",
    default=False,
)
SUPPORT_EMAIL = ENV.email(
    "SUPPORT_EMAIL", "support address shown to customers", default="oracle@42sisters.ai"
)
STAFF_EMAILS = ENV.comma_separated(
    "STAFF_EMAILS",
    "recipients of alerts about rejected, failed and held orders, separated by commas",
    default="staff@oracle.example" if SANDBOX else "",
)
if not STAFF_EMAILS:
    raise ImproperlyConfigured("STAFF_EMAILS must be set for a live site: who receives alerts.")

ALLOWED_HOSTS = sorted({urlsplit(SITE_URL).hostname or "", "127.0.0.1", "localhost"})
CSRF_TRUSTED_ORIGINS = [SITE_URL]
# A query has at most 4,000 characters, a Stripe event a few KB.
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
ROOT_URLCONF = "oracle_site.urls"
WSGI_APPLICATION = "oracle_site.wsgi.application"
USE_TZ = True
TIME_ZONE = "UTC"
# There are no translations (gettext): customer-facing text is in templates/, in static/*.js and in
# the modules that use these words.
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = "oracle_site.formats"

INSTALLED_APPS = [
    "unfold",  # before the admin, whose templates it overrides
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_q",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "audit",
    "verdicts",
    "drill",  # for its management command
]
MIDDLEWARE = [
    "oracle_site.log_context.log_session_middleware",
    "oracle_site.csp.csp_middleware",
    "django.middleware.security.SecurityMiddleware",
    "oracle_site.server.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "verdicts.staff_auth.two_factor_middleware.require_two_factor",
    "axes.middleware.AxesMiddleware",  # last, as its documentation requires
]

# A drill runs with DEBUG off, and with or without HTTPS.
HTTPS = not DEBUG and (bool(LIVE) or SITE_URL.startswith("https:"))
globals().update(https_settings(public=HTTPS, behind_proxy=BEHIND_PROXY))
ORACLE_SECOND_FACTOR = ENV.choice(
    "ORACLE_SECOND_FACTOR",
    "two-factor authentication of staff",
    default="optional",
    choices=("optional", "required"),
)

# --- One database ------------------------------------------------------------

DATABASES = {
    "default": ENV.database(
        "DATABASE_URL",
        "the database: SQLite, or PostgreSQL with postgres://user:password@host/name",
        default="sqlite:///var/oracle.sqlite3",
        root=BASE_DIR,
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Web process -------------------------------------------------------------

SERVING = serving(ENV)

# --- 1. Choose a tier --------------------------------------------------------

# Stripe accepts no payment under 50 cents, and amounts of at most eight digits.
# A new tier needs its price here, as a setting.
ORACLE_PRICES = price_list(
    quick_cents=ENV.integer(
        "ORACLE_PRICE_QUICK",
        "price of the Quick Take in Canadian cents",
        default=200,
        minimum=50,
        maximum=99_999_999,
    ),
    strategy_cents=ENV.integer(
        "ORACLE_PRICE_STRATEGY",
        "price of the Strategy Session in Canadian cents",
        default=1500,
        minimum=50,
        maximum=99_999_999,
    ),
)

# --- 2. Paid -----------------------------------------------------------------

STRIPE_URL = SANDBOX_URL if SANDBOX else None
STRIPE_SECRET_KEY = STRIPE_SECRET_KEY or "sk_test_sandbox"
STRIPE_WEBHOOK_SECRETS = ENV.comma_separated(
    "STRIPE_WEBHOOK_SECRET",
    "signing secret of Stripe's webhook; two, separated by a comma, during a rotation",
    default="whsec_sandbox" if SANDBOX else "",
)
if not STRIPE_WEBHOOK_SECRETS:
    raise ImproperlyConfigured(
        "STRIPE_WEBHOOK_SECRET must be set for a live site: without it no webhook is accepted."
    )

# --- 3. Generate -------------------------------------------------------------

GEMINI_URL = SANDBOX_URL if SANDBOX else None
GEMINI_API_KEY = GEMINI_API_KEY or "sandbox"
ORACLE_MODEL = ENV.text("ORACLE_MODEL", "Gemini model of the verdicts", default="gemini-2.5-flash")
ORACLE_MODEL_DEADLINE = ENV.integer(
    "ORACLE_MODEL_DEADLINE",
    "deadline of one generation in seconds, retries included",
    default=60,
    minimum=1,
    maximum=80,
)

ORACLE_ASK_TEMPERATURE = ENV.number(
    "ORACLE_ASK_TEMPERATURE",
    "default temperature of `manage.py ask`; calls for customers are locked at 0",
    default=0.0,
    minimum=0,
    maximum=2,
)

# --- 4. Gate and record ------------------------------------------------------

ORACLE_EVIDENCE_DAYS = ENV.integer(
    "ORACLE_EVIDENCE_DAYS",
    "days until the text of a rejected output is deleted",
    default=90,
    minimum=1,
    maximum=3650,
)

ORACLE_LOG_PATH = BASE_DIR / ENV.text(
    "ORACLE_LOG_PATH",
    "path of the append-only log; its directory must exist, and rotated files stay in it",
    default=LOG_PATH,
)
ORACLE_LOG_NAME = (
    ENV.text(
        "ORACLE_LOG_NAME",
        "name of this host's log file: unique, and never changed; default: the host name",
    )
    or socket.gethostname()
)
ORACLE_LOG_SYNC = ENV.flag(
    "ORACLE_LOG_SYNC", "fsync after every write to the append-only log", default=True
)

# --- 5. Store and cache ------------------------------------------------------

ORACLE_CACHE_DAYS = ENV.integer(
    "ORACLE_CACHE_DAYS",
    "days until a cached verdict expires; 0: never",
    default=0,
    minimum=0,
    maximum=3650,
)

ORACLE_CACHE_MISS = ENV.choice(
    "ORACLE_CACHE_MISS",
    "response to a cache miss: a regenerated verdict, or the stored original",
    default="regenerate",
    choices=("regenerate", "stored"),
)
# Below the 30 s within which every page must be answered.
ORACLE_REGENERATION_DEADLINE = ENV.integer(
    "ORACLE_REGENERATION_DEADLINE",
    "deadline of one regeneration in seconds, retries included",
    default=25,
    minimum=1,
    maximum=25,
)
ORACLE_SERVICE_TOKENS = ENV.comma_separated(
    "ORACLE_SERVICE_TOKENS",
    "bearer tokens of the cache, email and metrics APIs, of at least 32 characters; several, "
    "separated by commas, during a rotation",
    default="sandbox-service-token" if SANDBOX else "",
)
if LIVE and any(len(token) < MIN_TOKEN_LENGTH for token in ORACLE_SERVICE_TOKENS):
    raise ImproperlyConfigured(
        f"ORACLE_SERVICE_TOKENS must have at least {MIN_TOKEN_LENGTH} characters each."
    )

# --- 6. Deliver --------------------------------------------------------------

ORACLE_MAIL = ENV.choice(
    "ORACLE_MAIL",
    "how email is sent",
    default="sandbox" if SANDBOX else "graph",
    choices=("sandbox", "file", "smtp", "graph"),
)
if LIVE and ORACLE_MAIL not in ("smtp", "graph"):
    raise ImproperlyConfigured("ORACLE_MAIL must be smtp or graph for a live site.")
DEFAULT_FROM_EMAIL = ENV.text(
    "ORACLE_FROM_EMAIL", "sender of all email", default="Oracle <oracle@42sisters.ai>"
)
EMAIL_BACKEND = {
    "sandbox": "verdicts.mail.graph.GraphBackend",
    "file": "django.core.mail.backends.filebased.EmailBackend",
    "smtp": "django.core.mail.backends.smtp.EmailBackend",
    "graph": "verdicts.mail.graph.GraphBackend",
}[ORACLE_MAIL]
EMAIL_FILE_PATH = BASE_DIR / "var" / "mail"
BY_SMTP = "with ORACLE_MAIL=smtp" if ORACLE_MAIL == "smtp" else ""
EMAIL_HOST = ENV.required_text(BY_SMTP, "EMAIL_HOST", "SMTP server")
EMAIL_PORT = ENV.integer(
    "EMAIL_PORT", "port of the SMTP server", default=587, minimum=1, maximum=65535
)
EMAIL_HOST_USER = ENV.text("EMAIL_HOST_USER", "SMTP user")
EMAIL_HOST_PASSWORD = ENV.text("EMAIL_HOST_PASSWORD", "SMTP password")
EMAIL_USE_TLS = ENV.flag("EMAIL_USE_TLS", "use STARTTLS with the SMTP server", default=True)
EMAIL_TIMEOUT = 10
BY_GRAPH = "with ORACLE_MAIL=graph" if ORACLE_MAIL == "graph" else ""
GRAPH_TENANT = ENV.required_text(BY_GRAPH, "GRAPH_TENANT", "Microsoft tenant id", default="sandbox")
GRAPH_CLIENT_ID = ENV.required_text(
    BY_GRAPH, "GRAPH_CLIENT_ID", "Microsoft client id", default="sandbox"
)
GRAPH_CLIENT_SECRET = ENV.required_text(
    BY_GRAPH, "GRAPH_CLIENT_SECRET", "Microsoft client secret", default="sandbox"
)
GRAPH_SENDER = ENV.required_text(
    BY_GRAPH, "GRAPH_SENDER", "mailbox that sends the email", default="oracle@42sisters.ai"
)
GRAPH_LOGIN_URL = "https://login.microsoftonline.com" if BY_GRAPH else SANDBOX_URL
GRAPH_URL = "https://graph.microsoft.com" if BY_GRAPH else SANDBOX_URL

# --- Queues ------------------------------------------------------------------

Q_CLUSTER = queues(ENV)
# django-q2 creates a multiprocessing queue on import. With Python 3.14's default start method, the
# fork server, that would start a helper process beside every process that imports it.
multiprocessing.set_start_method("fork", force=True)

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
                "verdicts.pages.context_processors.site_context",
            ],
        },
    },
]
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / ENV.text(
    "ORACLE_STATIC_PATH",
    "directory where `manage.py preflight` collects static files; those of older versions stay",
    default="var/static",
)
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG  # development collects no static files
if not DEBUG:
    STORAGES = {"staticfiles": {"BACKEND": "oracle_site.server.static_files.HashedFiles"}}
CSRF_FAILURE_VIEW = "verdicts.pages.errors.csrf_failure"

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["verdicts.api.parsing.BoundedJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "UNICODE_JSON": False,  # an error may quote a lone surrogate, which UTF-8 cannot encode
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "verdicts.api.problem.as_problem",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Oracle",
    "DESCRIPTION": "Verdicts on ideas: order, pay at Stripe, read the result.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "REDOC_DIST": "SIDECAR",  # nothing is loaded from elsewhere
    "SERVERS": [{"url": SITE_URL}],
}

# --- Service log -------------------------------------------------------------

ORACLE_LOG_FORMAT = ENV.choice(
    "ORACLE_LOG_FORMAT",
    "format of the service log: text lines, or one JSON object per line",
    default="line",
    choices=("line", "json"),
)
LOGGING = service_log(ORACLE_LOG_FORMAT)
