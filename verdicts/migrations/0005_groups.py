"""Who may what in the console: three groups that come with the site."""

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RECORDS = {
    "verdicts": ("order", "verdict", "delivery", "stripeevent", "case"),
    "audit": ("modelcall", "crosschecklog", "divergenceevent", "escalation", "action", "logentry"),
}
VIEW = [f"{app}.view_{model}" for app, models in RECORDS.items() for model in models]
REVIEW = ["verdicts.change_case", "verdicts.view_customer", "audit.view_evidence"]
GROUPS = {
    # Sees that it works, without reading what customers wrote.
    "Operator": VIEW,
    "Reviewer": [*VIEW, *REVIEW, "verdicts.refund_order"],
    # INVARIANT 6: may have a verdict made anew.
    "NOUS": [*VIEW, *REVIEW, "verdicts.refund_order", "verdicts.authorize_generation"],
}


def make_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for app in RECORDS:
        # Django makes permissions only after all migrations: too late to hand them out.
        config = apps.get_app_config(app)
        config.models_module = True  # type: ignore[assignment]  # or nothing is made
        create_permissions(config, apps=apps, verbosity=0)
        config.models_module = None
    permission = apps.get_model("auth", "Permission").objects
    for name, allowed in GROUPS.items():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=name)
        for one in allowed:
            app, codename = one.split(".")
            group.permissions.add(permission.get(content_type__app_label=app, codename=codename))


class Migration(migrations.Migration):
    dependencies = [
        ("verdicts", "0004_cases"),
        ("audit", "0004_day_counts"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
