"""Theme and navigation of the console; docs/CONSOLE.md describes its pages."""

from typing import Any

from oracle_site.version import VERSION

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Oracle",
    "SITE_HEADER": "Oracle",
    "SITE_SUBHEADER": f"Console {VERSION}",
    "SITE_SYMBOL": "balance",
    "SHOW_HISTORY": False,  # staff actions are in the append-only log, not in Django's LogEntry
    "ENVIRONMENT": "verdicts.admin.navigation.environment",
    "DASHBOARD_CALLBACK": "verdicts.admin.home.home.home",
    "ACCOUNT": {"navigation": "verdicts.admin.navigation.account"},
    "SIDEBAR": {"navigation": "verdicts.admin.navigation.navigation"},
    "STYLES": ["verdicts.admin.navigation.stylesheet"],
    "SCRIPTS": ["verdicts.admin.navigation.script"],
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "#eef4fb",
            "100": "#dbe7f6",
            "200": "#bcd3ee",
            "300": "#8fb5e1",
            "400": "#5d91d0",
            "500": "#4f8ad6",
            "600": "#2a5b9c",
            "700": "#23497f",
            "800": "#203f69",
            "900": "#1e3658",
            "950": "#14233a",
        },
    },
}
