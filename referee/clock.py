"""The chess clock of one seat; pure arithmetic, told the time that each answer took."""

from treelings.view import Clock


class SeatClock:
    """What one seat may still spend, in milliseconds.

    A bank for the whole game that each answer draws on and each answer adds the increment to; and no
    answer, however full the bank, may take longer than the limit of a move.
    """

    __slots__ = ("_control", "bank_ms")

    def __init__(self, control: Clock) -> None:
        self._control = control
        self.bank_ms: float = control.bank_ms

    @property
    def limit_ms(self) -> int:
        """Time for the next answer: the smaller of the move limit and the bank, whole milliseconds."""
        return min(self._control.move_ms, int(self.bank_ms))

    def charge(self, ms: float) -> None:
        """Book an answer that came within the limit and took `ms`."""
        self.bank_ms += self._control.increment_ms - ms
