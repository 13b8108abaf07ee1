"""Posteriors: matched draws, consensus topics, a point partition, and tables of topics and documents."""
