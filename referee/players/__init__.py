"""Ways to reach a bot: whatever it speaks, matches see a Link and games see a Player (ports.py)."""

import os

# gRPC reads this once, when it is imported, which only modules of this package do. Without it gRPC prints
# what a peer sends to stderr as it came: escape codes, fake log lines, megabytes.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
