"""`python -m headspan` is `headspan`."""

from headspan.cli import main

main()
