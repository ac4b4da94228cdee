"""All settings, in the order of the walk. The only reader of the environment."""

import multiprocessing
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from oracle_site.dev.running_site import LOG_PATH
from oracle_site.env import Environment
from oracle_site.queues import queues
from oracle_site.security import *  # noqa: F403 - how staff get in
from oracle_site.security import over_https
from oracle_site.server.capacity import serving
from oracle_site.service_log import service_log
from oracle_site.unfold import UNFOLD  # noqa: F401 - the console's look
from oracle_site.version import VERSION
from verdicts.core.tiers import price_list

BASE_DIR = Path(__file__).resolve().parent.parent
ORACLE_VERSION = VERSION
LOCAL_SITE = "http://127.0.0.1:8000"
SHORTEST_TOKEN = 32
LOCAL_SANDBOX = "http://127.0.0.1:8010"
ENV = Environment(os.environ)

# --- Sandbox or live ---------------------------------------------------------

GEMINI_API_KEY = ENV.text("GEMINI_API_KEY", "Gemini's key; with Stripe's it makes the site live")
STRIPE_SECRET_KEY = ENV.text("STRIPE_SECRET_KEY", "Stripe's secret key")
if bool(GEMINI_API_KEY) != bool(STRIPE_SECRET_KEY):
    raise ImproperlyConfigured(
        "GEMINI_API_KEY and STRIPE_SECRET_KEY go together: set both to be live, "
        "or neither to use the sandbox."
    )
SANDBOX = not GEMINI_API_KEY
LIVE = "" if SANDBOX else "for a live site"  # the reason why something is needed
SANDBOX_URL = ENV.address(
    "SANDBOX_URL", "where the sandbox listens, while there are no keys", default=LOCAL_SANDBOX
)

# --- The site ----------------------------------------------------------------

DEBUG = ENV.flag(
    "DEBUG",
    "development mode: error pages with details, no HTTPS; off by default once there are keys",
    default=SANDBOX,
)
ALLOW_SANDBOX = ENV.flag(
    "ORACLE_ALLOW_SANDBOX", "allow the sandbox with DEBUG off: benchmarks, drills", default=False
)
if SANDBOX and not DEBUG and not ALLOW_SANDBOX:
    raise ImproperlyConfigured(
        "With DEBUG off the site must be live: set GEMINI_API_KEY and STRIPE_SECRET_KEY, "
        "or ORACLE_ALLOW_SANDBOX=1 for a benchmark or a drill."
    )
SECRET_KEY = ENV.secret(
    "SECRET_KEY",
    "a secret of 50 characters or more that signs cookies and queued jobs",
    needed=bool(LIVE) or not DEBUG,
    at_least=50,
    default="only-for-development-on-this-machine-and-never-in-public",
)
SECRET_KEY_FALLBACKS = ENV.words(
    "SECRET_KEY_FALLBACKS",
    "keys that replace SECRET_KEY or were replaced: believed, and never used to sign",
)
SITE_URL = ENV.address("SITE_URL", "where customers reach the site", default=LOCAL_SITE)
if LIVE and SITE_URL == LOCAL_SITE:
    raise ImproperlyConfigured("SITE_URL must be set for a live site: where customers reach it.")
BEHIND_PROXY = ENV.flag(
    "BEHIND_PROXY",
    "trust X-Forwarded-Proto and the last X-Forwarded-For; only where a proxy of yours sets both",
    default=False,
)
SUPPORT_EMAIL = ENV.email(
    "SUPPORT_EMAIL", "the address that customers are given", default="oracle@42sisters.ai"
)
STAFF_EMAILS = ENV.words(
    "STAFF_EMAILS",
    "who is told of rejected, failed and held orders; commas between them",
    default="staff@oracle.example" if SANDBOX else "",
)
if not STAFF_EMAILS:
    raise ImproperlyConfigured("STAFF_EMAILS must be set for a live site: who is told of trouble.")

ALLOWED_HOSTS = sorted({urlsplit(SITE_URL).hostname or "", "127.0.0.1", "localhost"})
CSRF_TRUSTED_ORIGINS = [SITE_URL]
# A query has 4,000 characters, an event of Stripe's a few KB.
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
ROOT_URLCONF = "oracle_site.urls"
WSGI_APPLICATION = "oracle_site.wsgi.application"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = "oracle_site.formats"

INSTALLED_APPS = [
    "unfold",  # before the admin that it dresses
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
    "drill",  # for its command
]
MIDDLEWARE = [
    "oracle_site.log_context.say_what_it_is_about",
    "oracle_site.csp.state_policy",
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
    "axes.middleware.AxesMiddleware",  # last, as it asks to be
]

# A drill has its own address.
HTTPS = not DEBUG and (bool(LIVE) or SITE_URL.startswith("https:"))
globals().update(over_https(public=HTTPS, behind_proxy=BEHIND_PROXY))
ORACLE_SECOND_FACTOR = ENV.choice(
    "ORACLE_SECOND_FACTOR",
    "whether staff may, or must, log in with a second factor",
    default="optional",
    among=("optional", "required"),
)

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

# --- Web process -------------------------------------------------------------

SERVING = serving(ENV)

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

# --- 2. Paid -----------------------------------------------------------------

STRIPE_URL = SANDBOX_URL if SANDBOX else None
STRIPE_SECRET_KEY = STRIPE_SECRET_KEY or "sk_test_sandbox"
STRIPE_WEBHOOK_SECRETS = ENV.words(
    "STRIPE_WEBHOOK_SECRET",
    "Stripe's signing secret of the webhook; two with a comma while one replaces the other",
    default="whsec_sandbox" if SANDBOX else "",
)
if not STRIPE_WEBHOOK_SECRETS:
    raise ImproperlyConfigured(
        "STRIPE_WEBHOOK_SECRET must be set for a live site: without it no payment is believed."
    )

# --- 3. Generate -------------------------------------------------------------

GEMINI_URL = SANDBOX_URL if SANDBOX else None
GEMINI_API_KEY = GEMINI_API_KEY or "sandbox"
ORACLE_MODEL = ENV.text("ORACLE_MODEL", "the Gemini model that judges", default="gemini-2.5-flash")
ORACLE_MODEL_DEADLINE = ENV.integer(
    "ORACLE_MODEL_DEADLINE",
    "seconds that one generation may take, retries included",
    default=60,
    at_least=1,
    at_most=80,
)

ORACLE_ASK_TEMPERATURE = ENV.number(
    "ORACLE_ASK_TEMPERATURE",
    "temperature of `manage.py ask` where none is given; customers' calls are locked at 0",
    default=0.0,
    at_least=0,
    at_most=2,
)

# --- 4. Gate and record ------------------------------------------------------

ORACLE_EVIDENCE_DAYS = ENV.integer(
    "ORACLE_EVIDENCE_DAYS",
    "days that the text of a rejected output is kept for staff",
    default=90,
    at_least=1,
    at_most=3650,
)

ORACLE_LOG_PATH = BASE_DIR / ENV.text(
    "ORACLE_LOG_PATH",
    "the append-only log; its folder must exist, and rotated files stay beside it",
    default=LOG_PATH,
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

# --- 5. Store and cache ------------------------------------------------------

ORACLE_CACHE_DAYS = ENV.integer(
    "ORACLE_CACHE_DAYS",
    "days until a cached answer expires; 0: never",
    default=0,
    at_least=0,
    at_most=3650,
)

ORACLE_CACHE_MISS = ENV.choice(
    "ORACLE_CACHE_MISS",
    "what a reader gets whose cached answer is gone: made again, or the stored original",
    default="regenerate",
    among=("regenerate", "stored"),
)
# A page is answered within 30 s whatever the model does.
ORACLE_REGENERATION_DEADLINE = ENV.integer(
    "ORACLE_REGENERATION_DEADLINE",
    "seconds that one regeneration may take, retries included",
    default=25,
    at_least=1,
    at_most=25,
)
ORACLE_SERVICE_TOKENS = ENV.words(
    "ORACLE_SERVICE_TOKENS",
    "tokens of the cache and email interfaces; several with commas while one replaces another",
    default="sandbox-service-token" if SANDBOX else "",
)
if LIVE and any(len(token) < SHORTEST_TOKEN for token in ORACLE_SERVICE_TOKENS):
    raise ImproperlyConfigured(
        f"ORACLE_SERVICE_TOKENS must have {SHORTEST_TOKEN} characters or more each."
    )

# --- 6. Deliver --------------------------------------------------------------

ORACLE_MAIL = ENV.choice(
    "ORACLE_MAIL",
    "how email is sent",
    default="sandbox" if SANDBOX else "graph",
    among=("sandbox", "file", "smtp", "graph"),
)
if LIVE and ORACLE_MAIL not in ("smtp", "graph"):
    raise ImproperlyConfigured("ORACLE_MAIL must be smtp or graph for a live site.")
DEFAULT_FROM_EMAIL = ENV.text(
    "ORACLE_FROM_EMAIL", "the sender of all email", default="Oracle <oracle@42sisters.ai>"
)
EMAIL_BACKEND = {
    "sandbox": "verdicts.mail.graph.GraphBackend",
    "file": "django.core.mail.backends.filebased.EmailBackend",
    "smtp": "django.core.mail.backends.smtp.EmailBackend",
    "graph": "verdicts.mail.graph.GraphBackend",
}[ORACLE_MAIL]
EMAIL_FILE_PATH = BASE_DIR / "var" / "mail"
BY_SMTP = "with ORACLE_MAIL=smtp" if ORACLE_MAIL == "smtp" else ""
EMAIL_HOST = ENV.needed(BY_SMTP, "EMAIL_HOST", "the SMTP server")
EMAIL_PORT = ENV.integer(
    "EMAIL_PORT", "the SMTP server's port", default=587, at_least=1, at_most=65535
)
EMAIL_HOST_USER = ENV.text("EMAIL_HOST_USER", "the SMTP user")
EMAIL_HOST_PASSWORD = ENV.text("EMAIL_HOST_PASSWORD", "the SMTP password")
EMAIL_USE_TLS = ENV.flag("EMAIL_USE_TLS", "STARTTLS with the SMTP server", default=True)
EMAIL_TIMEOUT = 10
BY_GRAPH = "with ORACLE_MAIL=graph" if ORACLE_MAIL == "graph" else ""
GRAPH_TENANT = ENV.needed(BY_GRAPH, "GRAPH_TENANT", "Microsoft's tenant id", default="sandbox")
GRAPH_CLIENT_ID = ENV.needed(
    BY_GRAPH, "GRAPH_CLIENT_ID", "Microsoft's client id", default="sandbox"
)
GRAPH_CLIENT_SECRET = ENV.needed(
    BY_GRAPH, "GRAPH_CLIENT_SECRET", "Microsoft's client secret", default="sandbox"
)
GRAPH_SENDER = ENV.needed(
    BY_GRAPH, "GRAPH_SENDER", "the mailbox that sends", default="oracle@42sisters.ai"
)
GRAPH_LOGIN_URL = "https://login.microsoftonline.com" if BY_GRAPH else SANDBOX_URL
GRAPH_URL = "https://graph.microsoft.com" if BY_GRAPH else SANDBOX_URL

# --- Queues ------------------------------------------------------------------

Q_CLUSTER = queues(ENV)
# django-q2 makes a queue when it is imported. By Python 3.14's default method, a fork server, that
# would start a helper process beside every process of ours; its pools are forked in any case.
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
    "where `manage.py preflight` collects the static files; those of older versions stay",
    default="var/static",
)
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG  # in development nothing is collected
if not DEBUG:
    STORAGES = {"staticfiles": {"BACKEND": "oracle_site.server.static_files.HashedFiles"}}
CSRF_FAILURE_VIEW = "verdicts.pages.errors.csrf_failure"

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["verdicts.api.parsing.BoundedJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "UNICODE_JSON": False,  # an error may quote what no encoding takes
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
    "the service log's lines: for people, or one JSON object each",
    default="line",
    among=("line", "json"),
)
LOGGING = service_log(ORACLE_LOG_FORMAT)
