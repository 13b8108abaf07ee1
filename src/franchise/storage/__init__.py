"""Everything that touches a disk: run directories, checkpoints, logs, data files."""
