"""Corpora on disk in shards."""
