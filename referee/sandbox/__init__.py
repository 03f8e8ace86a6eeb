"""Ways to run bots: in Docker containers, or as plain processes that nothing isolates (sandbox.md)."""
