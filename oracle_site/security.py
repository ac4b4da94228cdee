"""Settings of staff login, cookies and security headers. SECURITY.md gives the reasons."""

from datetime import timedelta
from typing import Any, Final

AUTH_PASSWORD_VALIDATORS: Final[list[dict[str, Any]]] = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": 12}),
        ("CommonPasswordValidator", {}),
        ("NumericPasswordValidator", {}),
    )
]
AUTHENTICATION_BACKENDS: Final = [
    "axes.backends.AxesStandaloneBackend",  # first: a locked-out login checks no password
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_REDIRECT_URL: Final = "admin:index"  # after a login without ?next=
SESSION_COOKIE_AGE: Final = 12 * 3600  # a working day; only staff have sessions

# Login throttle: five wrong passwords for one user name from one IP address lock that pair for
# 15 minutes. By name alone anyone could lock out a colleague; by address alone an office would
# share five attempts.
AXES_LOCKOUT_PARAMETERS: Final = [["username", "ip_address"]]
AXES_FAILURE_LIMIT: Final = 5
AXES_COOLOFF_TIME: Final = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT: Final = False  # the page shows when it ends
AXES_RESET_ON_SUCCESS: Final = True
AXES_CLIENT_IP_CALLABLE: Final = "verdicts.staff_auth.login_throttle.client_ip"
AXES_USERNAME_CALLABLE: Final = "verdicts.staff_auth.login_throttle.username"
AXES_LOCKOUT_CALLABLE: Final = "verdicts.staff_auth.login_throttle.lockout_response"
# User names and addresses are stored only while they count towards a lockout.
AXES_DISABLE_ACCESS_LOG: Final = True
AXES_SENSITIVE_PARAMETERS: Final = ["username", "ip_address", "next", "csrfmiddlewaretoken"]
AXES_VERBOSE: Final = False
AXES_ENABLE_ADMIN: Final = False
OTP_TOTP_ISSUER: Final = "Oracle"  # the account's name in an authenticator app

DEFAULT_EXCEPTION_REPORTER_FILTER: Final = "oracle_site.error_pages.SecretFilter"
X_FRAME_OPTIONS: Final = "DENY"
# A URL with a session id gives access to a verdict, so the referrer is our origin at most. Not
# "no-referrer": browsers would send forms with "Origin: null", which fails Django's CSRF check.
SECURE_REFERRER_POLICY: Final = "strict-origin"
SECURE_REDIRECT_EXEMPT: Final = [r"^(healthz|readyz)$"]  # probed locally, without the proxy


def https_settings(*, public: bool, behind_proxy: bool) -> dict[str, Any]:
    """Secure cookies, HTTPS redirect and HSTS if the site is `public`."""
    # Browsers accept __Host- cookies only from this exact host and over HTTPS.
    prefix = "__Host-" if public else ""
    return {
        "SESSION_COOKIE_NAME": f"{prefix}sessionid",
        "SESSION_COOKIE_SECURE": public,
        "CSRF_COOKIE_NAME": f"{prefix}csrftoken",
        "CSRF_COOKIE_SECURE": public,
        "SECURE_SSL_REDIRECT": public,
        "SECURE_HSTS_SECONDS": 365 * 24 * 3600 if public else 0,
        "SECURE_HSTS_INCLUDE_SUBDOMAINS": public,
        "SECURE_HSTS_PRELOAD": public,
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https") if behind_proxy else None,
    }
