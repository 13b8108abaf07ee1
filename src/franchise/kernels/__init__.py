"""Compiled loops: arrays in, arrays out; no classes, no input checks, no printing."""
