"""Local stand-ins for Gemini, Stripe and Microsoft Graph, over real HTTP.

Standard library only. The product never imports this package: it talks to it
through the real client libraries. docs/SANDBOX.md lists what it answers.
"""
