"""Chains on a Ray cluster: actors, messages between them, and how a chain is split across them."""
