"""Comments of real bots, from `say` to the record, within what a bot may send."""

from dataclasses import replace

from referee.game import play_game
from referee.model import GameRecord, GameSpec, SeatHolder
from referee.records import from_json, problems, to_json
from tests.support.bot_process import BotProcess
from tests.support.bot_sources import kit_bot, wire_bot
from tests.support.players import FakePlayer
from tests.support.playing import CLOCK, DECK, link_to

LEAST_SENT_BYTES = 64 * 1024  # that a league may allow a bot for a game


async def game_of(source: str) -> GameRecord:
    """A game of this bot on seat 0 of two, with as small a budget of bytes as there can be."""
    spec = GameSpec("demo/0/r0", "test", None, "one-vs-two", "demo/0", 0, "start", ("one", "two"))
    seats = [SeatHolder(name, "sha256:" + "0" * 64) for name in spec.bots]
    async with BotProcess(source) as bot:
        bot.limits = replace(bot.limits, sent_bytes=LEAST_SENT_BYTES)
        link = link_to(bot)
        record = await play_game(spec, DECK, seats, [link.player(), FakePlayer()], CLOCK)
        await link.close()
    assert problems(record) == []
    assert from_json(to_json(record)) == record
    return record


async def test_a_bot_that_says_as_much_as_it_can_with_each_move_is_within_its_budget_of_bytes() -> None:
    record = await game_of(
        kit_bot("""
        def choose(self, view):
            self.say(chr(0x1f409) * 200)
            return view.legal_moves[-1]
        """)
    )
    assert record.ended == "festival"
    assert record.faults == ()
    assert record.moves[0].comment == "\U0001f409" * 200


async def test_a_comment_of_another_kit_that_is_too_long_is_cut_and_no_fault() -> None:
    record = await game_of(
        wire_bot("""
        yield READY
        for number, query in enumerate(queries(requests)):
            message = BotMessage.FromString(first(query))
            message.reply.comment = "" if number else chr(0x202e) + "x" * 15_000
            yield message.SerializeToString()
        """)
    )
    assert record.faults == ()
    assert [move.comment for move in record.moves[:3]] == ["\\u202e" + "x" * 193 + "…", "", ""]
