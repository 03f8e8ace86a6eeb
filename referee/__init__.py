"""Runs leagues of Treelings bots: the referee, its sandboxes, its records and its leaderboard."""
