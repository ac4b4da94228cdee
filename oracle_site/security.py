"""How staff get in, and what holds for every answer of a public site. SECURITY.md tells why."""

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
    "axes.backends.AxesStandaloneBackend",  # first: whoever is locked out is not even compared
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_REDIRECT_URL: Final = "admin:index"  # from a login page that was asked for by itself
SESSION_COOKIE_AGE: Final = 12 * 3600  # only staff have one: a working day

# Five wrong passwords for one name from one address, and both wait a quarter of an hour. By name
# alone anybody could lock anybody out; by address alone a whole office would share five tries.
AXES_LOCKOUT_PARAMETERS: Final = [["username", "ip_address"]]
AXES_FAILURE_LIMIT: Final = 5
AXES_COOLOFF_TIME: Final = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT: Final = False  # the page says how long it takes
AXES_RESET_ON_SUCCESS: Final = True
AXES_CLIENT_IP_CALLABLE: Final = "verdicts.staff_auth.login_throttle.client_ip"
AXES_USERNAME_CALLABLE: Final = "verdicts.staff_auth.login_throttle.username"
AXES_LOCKOUT_CALLABLE: Final = "verdicts.staff_auth.login_throttle.lockout_response"
# Who tried from where is kept for as long as it locks somebody out, and no longer.
AXES_DISABLE_ACCESS_LOG: Final = True
AXES_SENSITIVE_PARAMETERS: Final = ["username", "ip_address", "next", "csrfmiddlewaretoken"]
AXES_VERBOSE: Final = False
AXES_ENABLE_ADMIN: Final = False
OTP_TOTP_ISSUER: Final = "Oracle"  # what an authenticator shows above the six digits

DEFAULT_EXCEPTION_REPORTER_FILTER: Final = "oracle_site.error_pages.WithoutSecrets"
X_FRAME_OPTIONS: Final = "DENY"
# A session id in an address is the key to a verdict, so only our origin is ever named. Not
# "no-referrer": browsers then send forms with "Origin: null", which Django takes for forged.
SECURE_REFERRER_POLICY: Final = "strict-origin"
SECURE_REDIRECT_EXEMPT: Final = [r"^(healthz|readyz)$"]  # asked from beside us, without a proxy


def over_https(*, public: bool, behind_proxy: bool) -> dict[str, Any]:
    """Cookies and redirects over HTTPS wherever the site is public."""
    # Named __Host-, browsers take cookies only from this very host and over HTTPS.
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
