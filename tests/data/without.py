"""A package that is not installed, as far as a test can tell."""

import builtins


def without(monkeypatch, package):
    """Let every import of a package fail."""
    original = builtins.__import__

    def fail(name, *arguments, **options):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", fail)
