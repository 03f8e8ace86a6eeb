"""Records of games that nobody played, of which only the ranks count."""

from collections.abc import Sequence

from referee.model import GameRecord, SeatHolder


def result(
    bots: Sequence[str], ranks: Sequence[int], *, deal: str = "deal", rotation: int = 0, night: int | None = 1
) -> GameRecord:
    """Bots by seat, and the rank of each."""
    return GameRecord(
        league="thursday",
        night=night,
        match="-vs-".join(sorted(bots)),
        deal=deal,
        rotation=rotation,
        refill="start",
        seats=tuple(SeatHolder(bot, "sha256:" + "0" * 64) for bot in bots),
        deck="",
        moves=(),
        festival_turn=None,
        ended="festival",
        faults=(),
        scores=None,
        ranks=tuple(ranks),
    )
