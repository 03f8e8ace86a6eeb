"""What a league answers when it is asked or told to do something."""

from dataclasses import dataclass

from referee.model import Night, Submission, VoidGame


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a bot that was handed in; `changed` is False if this version was in already."""

    submission: Submission
    changed: bool


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to.

    played  games recorded by this run
    done    games of the night that have a record
    voids   games that our side failed to finish: the night stays open for them
    """

    night: int
    played: int
    done: int
    total: int
    voids: tuple[VoidGame, ...]

    @property
    def finished(self) -> bool:
        """Every game of the night has a record."""
        return self.done == self.total


@dataclass(frozen=True, slots=True)
class Status:
    """How far a league is; `night` is the open one, or else the last one, and None before the first."""

    league: str
    bots: int
    night: Night | None
    done: int
    total: int
    next: str

    def lines(self) -> tuple[str, ...]:
        """The same in words."""
        lines = [f"{self.league}: {self.bots} bots"]
        if self.night is None:
            lines.append("no night yet")
        else:
            state = f"finished {self.night.finished}" if self.night.finished else f"opened {self.night.opened}"
            lines.append(f"night {self.night.number}: {self.done} of {self.total} games, {state}")
            lines += (f"void: {void.game}: {void.reasons[-1]}" for void in self.night.voids)
        return (*lines, f"next: {self.next}")
