"""The sweep over documents with sampled topics and collapsed document proportions."""
