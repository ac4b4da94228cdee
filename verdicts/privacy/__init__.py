"""Personal data: erasure on request (GDPR), export, and retention of login data."""
