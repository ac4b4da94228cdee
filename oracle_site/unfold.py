"""How the console looks and what its sidebar holds; docs/CONSOLE.md tells what staff find there."""

from typing import Any

from oracle_site.version import VERSION

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Oracle",
    "SITE_HEADER": "Oracle",
    "SITE_SUBHEADER": f"Console {VERSION}",
    "SITE_SYMBOL": "balance",
    "SHOW_HISTORY": False,  # what people did is in our log, not in Django's own
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
