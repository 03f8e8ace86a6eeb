"""The PettingZoo environment: PettingZoo's own tests, and that it is the game that bots play."""

import copy
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from pettingzoo.test.api_test import api_test
from pettingzoo.test.seed_test import seed_test
from pettingzoo.utils.wrappers import OrderEnforcingWrapper, TerminateIllegalWrapper

from tests.support.local import play, points, sample_bot
from treelings import Clock, GameStart, IllegalMove, Refill, State, TreelingsError, View, derive_deck
from treelings.cards import FIREFLY
from treelings.env import ACTIONS, Reward, TreelingsEnv, action_of, encode, env, layout
from treelings.errors import DeckError
from treelings.rules import REFILLS

TABLES = list(product([2, 3, 4, 5], REFILLS))
PAGE = (Path(__file__).parents[2] / "docs/env.md").read_text(encoding="utf-8")
DECK = derive_deck(bytes(32), "demo/0")


@pytest.mark.parametrize(("players", "refill"), TABLES)
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array", "ignore:Observation space for each agent")
def test_it_passes_the_tests_of_pettingzoo(players: int, refill: Refill) -> None:
    # They warn of any observation that is a dict with a mask, but for those of a list of PettingZoo's own.
    api_test(env(players, refill), num_cycles=100)  # type: ignore[no-untyped-call]  # theirs
    seed_test(lambda: env(players, refill), num_cycles=100)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(("players", "refill"), TABLES)
def test_each_observation_is_what_a_bot_is_shown_and_the_mask_its_legal_moves(players: int, refill: Refill) -> None:
    table = env(players, refill)
    table.reset(options={"deck": DECK})
    state = State.deal(DECK, players, refill)
    rng = random.Random(players)
    while not state.over:
        agent = table.agent_selection
        view = View.of(state)
        assert agent == f"player_{view.seat}"
        assert table.view == View.of(state, table.view.history)
        observation = table.observe(agent)
        assert observation["observation"].tobytes() == encode(view)
        assert set(np.flatnonzero(observation["action_mask"])) == {action_of(move) for move in view.legal_moves}
        move = rng.choice(view.legal_moves)
        table.step(np.int64(action_of(move)))
        state.play(move)
    assert len(table.view.history) == state.turn


def test_a_seat_that_is_not_on_turn_sees_the_same_table_from_its_own_side_and_has_no_action() -> None:
    table = env(3)
    table.reset(options={"deck": DECK})
    rows, seat = layout(3)["rows"], layout(3)["seat"]
    seen = [table.observe(agent) for agent in table.agents]
    assert [one["observation"][seat].tolist() for one in seen] == [[0], [1], [2]]
    assert not any(one["action_mask"].any() for one in seen[1:])
    assert seen[1]["observation"][rows].tolist() == np.roll(seen[0]["observation"][rows], -36).tolist()
    assert all(table.observation_space(agent).contains(one) for agent, one in zip(table.agents, seen, strict=True))


def test_whoever_changes_an_observation_changes_nothing_else() -> None:
    table = env()
    table.reset(seed=1)
    before = table.observe("player_0")
    for array in table.observe("player_0").values():
        array[:] = 1
    after = table.observe("player_0")
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.parametrize(("players", "refill"), TABLES)
def test_rewards_come_at_the_end_and_are_the_leagues_points_or_the_margin_and_sum_to_nothing(
    players: int, refill: Refill
) -> None:
    for reward in get_args(Reward):
        table = env(players, refill, reward)
        table.reset(options={"deck": DECK})
        given = dict(finish(table, random.Random(7)))
        state = State.deal(DECK, players, refill)
        for move in table.view.history:
            state.play(move)
        assert state.over
        assert [given[agent] for agent in table.possible_agents] == pytest.approx([
            state.margin(seat) if reward == "margin" else 2 * points(state.scores(), seat) - 1
            for seat in range(players)
        ])  # fmt: skip
        assert sum(given.values()) == pytest.approx(0)
        assert table.agents == []


def test_a_seed_gives_the_same_games_again_and_without_one_they_are_others() -> None:
    one, two, other = env(), env(), env()
    one.reset(seed=3)
    two.reset(seed=4)
    two.reset(seed=3)
    other.reset()
    assert games(one) == games(two) != games(other)
    assert len(set(games(one))) == 5


def test_the_deck_of_a_seed_never_changes() -> None:
    table = env(render_mode="ansi")
    table.reset(seed=1)
    assert table.render() == RENDERED.rstrip("\n")


RENDERED = """\
turn 0  market ROYBP  pile 97, firefly below 77 cards
* player_0  O2 P1  = 2
  player_1  Y2 G1  = 2
"""


def test_bots_play_in_it_what_they_play_without_it() -> None:
    names = ["greedy", "random", "neighbour"]
    _, moves = play([sample_bot(name) for name in names], DECK)
    bots = [sample_bot(name)() for name in names]
    for seat, bot in enumerate(bots):
        bot.start(GameStart("local", seat, 3, "start", Clock()))
    table = env(3)
    table.reset(options={"deck": DECK})
    while not table.terminations[table.agent_selection]:
        view = table.view
        table.step(action_of(bots[view.seat].choose(view)))
    assert table.view.history == moves


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    table = env()
    table.reset(seed=1)
    before = table.observe("player_0")
    illegal = np.flatnonzero(before["action_mask"] == 0)[0]
    for action in (int(illegal), illegal, -1, ACTIONS, None):
        with pytest.raises(IllegalMove, match="illegal action"):
            table.step(action)
    assert (table.observe("player_0")["observation"] == before["observation"]).all()
    assert table.agent_selection == "player_0"


@pytest.mark.parametrize("action", [1.5, "3", None, [3]])
def test_an_action_is_a_whole_number_and_is_not_made_one(action: Any) -> None:
    table = env()
    table.reset(seed=1)
    with pytest.raises((TypeError, IllegalMove)):
        table.step(action)
    assert table.view.turn == 0


def test_the_order_of_the_cards_that_nobody_sees_shows_nowhere() -> None:
    hidden = DECK.index(FIREFLY) + 1  # from here on they lie below the firefly, till the last round
    tables = [env(3, "end"), env(3, "end")]
    for table, deck in zip(tables, (DECK, DECK[:hidden] + DECK[: hidden - 1 : -1]), strict=True):
        table.reset(options={"deck": deck})
    assert tables[0].view == tables[1].view
    while not tables[0].view.firefly_out:
        for agent in tables[0].agents:
            one, other = (table.observe(agent) for table in tables)
            assert all(np.array_equal(one[part], other[part]) for part in one)
        for table in tables:
            table.step(action_of(table.view.legal_moves[0]))


def test_a_negative_seed_is_refused_since_it_would_be_the_positive_one() -> None:
    with pytest.raises(ValueError, match="seed: expected 0 or more, got -5"):
        env().reset(seed=-5)


def test_a_seed_may_be_a_number_of_numpys_own() -> None:
    one, other = env(), env()
    one.reset(seed=4)
    other.reset(seed=np.int64(4))  # type: ignore[arg-type]  # as learners do
    assert one.view == other.view


def test_a_deck_that_is_empty_is_none() -> None:
    with pytest.raises(DeckError):
        env().reset(options={"deck": ""})


def test_a_step_without_a_game_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TreelingsError, match="reset deals one"):
        env().step(0)
    table = env()
    table.reset(seed=1)
    assert len(dict(finish(table, random.Random(1)))) == 2
    for ask in (lambda: table.step(None), table.last):
        with pytest.raises(TreelingsError, match="no game is on; reset deals one"):
            ask()


@pytest.mark.parametrize(
    ("ask", "error"),
    [(lambda table: table.observe("player_0"), TreelingsError),
     (lambda table: table.view, TreelingsError),
     (lambda table: table.render(), TreelingsError),
     (lambda table: table.agent_iter(), TreelingsError),
     (lambda table: table.last(), TreelingsError),
     (lambda table: table.last(observe=False), TreelingsError),
     *((lambda table, name=name: getattr(table, name), AttributeError)
       for name in ("agent_selection", "rewards", "terminations", "truncations", "infos"))],
)  # fmt: skip
def test_whoever_asks_for_a_game_before_one_is_dealt_is_told_to_deal_it(
    ask: Callable[[TreelingsEnv], object], error: type[Exception]
) -> None:
    table = env(render_mode="ansi")
    with pytest.raises(error, match="no game is on; reset deals one"):
        ask(table)
    table.reset(seed=1)
    assert ask(table) is not None


def test_what_it_never_has_is_an_attribute_error_and_it_can_be_copied() -> None:
    table = env()
    with pytest.raises(AttributeError, match="'TreelingsEnv' object has no attribute 'reward'"):
        _ = table.reward
    assert not hasattr(table, "rewards")
    for each in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        each.reset(seed=1)
        assert each.rewards == {"player_0": 0, "player_1": 0}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"players": 1}, "players: expected one of 2, 3, 4, 5, got 1"),
     ({"refill": "middle"}, "refill: expected one of 'start', 'end', got 'middle'"),
     ({"reward": "money"}, "reward: expected one of 'win', 'margin', got 'money'"),
     ({"render_mode": "human"}, "render_mode: expected one of None, 'ansi', got 'human'")],
)  # fmt: skip
def test_what_there_is_not_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        env(**wrong)


def test_the_wrappers_of_pettingzoo_fit_round_it() -> None:
    table: Any = OrderEnforcingWrapper(TerminateIllegalWrapper(env(), illegal_reward=-1))
    table.reset(seed=1)
    observation, *_ = table.last()
    table.step(int(np.flatnonzero(observation["action_mask"] == 0)[0]))
    assert table.terminations == {"player_0": True, "player_1": True}
    assert table.rewards["player_0"] == -1


def test_the_kit_alone_loads_neither_numpy_nor_pettingzoo() -> None:
    code = """
import sys, treelings, treelings.server, treelings.encoding
assert not {"numpy", "gymnasium", "pettingzoo"} & set(sys.modules)
sys.modules["pettingzoo"] = None
try:
    import treelings.env
except ModuleNotFoundError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "treelings.env needs pettingzoo, which is not installed: pip install 'treelings[env]'\n"


def test_the_page_shows_code_that_runs_and_names_each_part_of_an_observation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/env.md", "exec"), {})
    assert re.fullmatch(r"(player_\d: [+-][01]\n){2}", capsys.readouterr().out)
    table = PAGE.split("## Observations")[1].split("## ")[0]
    assert re.findall(r"^\| .+? \| `(\w+)` \| ", table, re.MULTILINE) == list(layout(2))


def games(table: TreelingsEnv) -> list[bytes]:
    """What is seen first in the game that is on and in four more."""
    seen = []
    for _ in range(5):
        seen.append(table.observe("player_0")["observation"].tobytes())
        table.reset()
    return seen


def finish(table: TreelingsEnv, rng: random.Random) -> Iterator[tuple[str, float]]:
    """Play on at random; what each agent is given at the end."""
    for agent in table.agent_iter():
        observation, reward, over, truncated, _ = table.last()
        assert not truncated
        assert over or reward == 0
        if over:
            yield agent, reward
            table.step(None)
        else:
            assert observation is not None
            table.step(rng.choice(np.flatnonzero(observation["action_mask"])))
