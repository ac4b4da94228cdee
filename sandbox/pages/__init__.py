"""The pages of the sandbox for people: overview, payment page, mailbox."""
