"""``python -m franchise``: the command line."""

from franchise.cli.main import main

main()
