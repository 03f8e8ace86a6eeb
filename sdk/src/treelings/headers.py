"""Headers as HPACK packs them (RFC 7541): the plainest are read here, all others by the library hpack.

Both our ends send plain ones, and a bot whose referee does so never imports the library, which would take a tenth of
its start.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hpack import Decoder

_NO_TABLE: Final = 0x20  # the peer will have nothing remembered
_NEW_NAME: Final = (0x00, 0x10)  # a literal that no table is to remember, or may
_KNOWN: Final = {0x83: (":method", "POST"), 0x86: (":scheme", "http"), 0x88: (":status", "200")}
_LENGTHS: Final = 0x7F  # from here on, a length takes more bytes than one, or the text is packed
_OVERHEAD: Final = 32  # of each header, in the size of their list (RFC 7541, 4.1)


class NoHeaders(Exception):
    """The bytes are no headers, or more than there may be; says which error it was."""


class Headers:
    """Reads one block of headers after the other, of one peer."""

    def __init__(self, longest: int) -> None:
        """`longest` is what a block's headers may come to, in bytes, unpacked."""
        self._longest = longest
        self._no_table = False
        self._decoder: Decoder | None = None

    def read(self, packed: bytes) -> dict[str, str]:
        """The headers by name; of some with one name the last. Raises NoHeaders."""
        if self._decoder is None:  # else there is a table, and nothing is plain any more
            headers = self._plain(packed)
            if headers is not None:
                return headers
        return self._any(packed)

    def _plain(self, packed: bytes) -> dict[str, str] | None:
        """The same of a plain block; None of any other."""
        headers: dict[str, str] = {}
        size, at, end = 0, 0, len(packed)
        if no_table := packed.startswith(bytes((_NO_TABLE,))):
            at = 1
        while at < end:
            first = packed[at]
            at += 1
            if first in _KNOWN:
                name, value = _KNOWN[first]
            elif first in _NEW_NAME:
                texts = []
                for errors in ("ascii", "utf-8"):
                    length = packed[at] if at < end else _LENGTHS
                    stop = at + 1 + length
                    if length >= _LENGTHS or stop > end:
                        return None
                    texts.append(str(packed[at + 1 : stop], errors, "replace"))
                    at = stop
                name, value = texts
            else:
                return None
            size += len(name) + len(value.encode()) + _OVERHEAD
            headers[name] = value
        if size > self._longest:
            return None
        self._no_table = self._no_table or no_table
        return headers

    def _any(self, packed: bytes) -> dict[str, str]:
        from hpack import Decoder, HPACKError

        if self._decoder is None:
            self._decoder = Decoder(max_header_list_size=self._longest)
            if self._no_table:
                self._decoder.decode(bytes((_NO_TABLE,)))
        try:
            return {
                str(name, "ascii", "replace"): str(value, "utf-8", "replace")
                for name, value in self._decoder.decode(packed, raw=True)
            }
        except (HPACKError, IndexError, ValueError, TypeError) as error:
            raise NoHeaders(type(error).__name__) from error
