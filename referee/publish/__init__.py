"""The published leaderboard: a static site made from nights and game records, and from nothing else."""

from referee.publish.site import publish_site

__all__ = ["publish_site"]
