"""Generated from proto/treelings/v1 by `make proto`; do not edit."""
