"""All figures in one table: python -m bench (make bench)."""

import platform

from bench import core, league, publish, query, ratings, start
from referee.errors import SandboxError

_GOALS = {
    "public_vs_chess": ">= 8",
    "playout_vs_chess": ">= 25",
    "referee_vs_bare": "<= 1.3",
    "relay_ms_a_move": "<= 0.15",
    "ratings_s_50000_games": "<= 5",
    "publish_s": "<= 20",
    "publish_mb": "<= 150",
    "publish_one_match_s": "<= 3",
    "index_kb": "<= 150",
}


def main() -> None:
    """Measure everything that can be measured here and print it."""
    print(f"{platform.machine()}, Python {platform.python_version()}; medians; only ratios compare between machines\n")
    for title, measure in (
        ("the core, two seats, against python-chess", core.measure),
        ("a query, referee to bot and back", query.measure),
        ("a container, from its start", start.measure),
        ("a league of four fast bots, 120 games", league.measure),
        ("publishing 20 bots and 3,800 games", publish.measure),
        ("ratings of 20 bots after 50,000 games of four", ratings.measure),
    ):
        print(title)
        try:
            figures = measure()
        except SandboxError as error:
            print(f"  left out: {error}\n")
            continue
        for name, value in figures.items():
            goal = f"  goal {_GOALS[name]}" if name in _GOALS else ""
            print(f"  {name:32}{value:14,.2f}{goal}")
        print()


if __name__ == "__main__":
    main()
