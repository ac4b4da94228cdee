"""A stand-in for Stripe: Checkout Sessions, refunds, events and signed webhooks."""
