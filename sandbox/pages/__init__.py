"""The HTML pages of the sandbox: overview, payment page, mailbox."""
