"""`python -m referee.cli`: the same as `treelings`."""

from referee.cli.app import main

main()
