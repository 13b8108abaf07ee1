"""What was found: draws made to match, consensus topics, a point partition, and tables of topics and documents."""
