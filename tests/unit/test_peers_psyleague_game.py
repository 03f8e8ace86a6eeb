"""The game script that psyleague runs: what it writes is what psyleague reads."""

import json
import subprocess
import sys

import pytest

from bench.peers.processes import LINES_BOT, environment


@pytest.mark.parametrize("games", [1, 3])
def test_a_game_script_plays_and_tells_ranks_points_and_times(games: int) -> None:
    command = [sys.executable, "-m", "bench.peers.psyleague_game", str(games), str(LINES_BOT), str(LINES_BOT)]
    ran = subprocess.run(command, env=environment(), capture_output=True, check=True, text=True)
    told = json.loads(ran.stdout)
    assert isinstance(told, dict) == (games == 1)
    results = [told] if games == 1 else told
    assert len(results) == games
    for result in results:
        first, second = (each["points"] for each in result["player_data"])
        assert result["ranks"] == [int(first < second), int(second < first)]
        assert result["errors"] == [0, 0]
        assert 0 < float(result["test_data"]["began"]) < float(result["test_data"]["ended"])
