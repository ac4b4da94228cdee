"""A stand-in for Microsoft Graph's sendMail, with a mailbox page."""
