"""Split-merge moves whose launch state is drawn from the union of two topics."""
