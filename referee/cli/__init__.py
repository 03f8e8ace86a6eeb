"""The `treelings` command: each command parses, calls one service and prints."""
