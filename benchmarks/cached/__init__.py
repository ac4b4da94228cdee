"""A cached verdict under load: this site beside what a team would otherwise pick."""
