"""Headers that are read by hand are read as the library reads them, and so is all else."""

from hpack import Decoder, Encoder, HPACKError
from hypothesis import given
from hypothesis import strategies as st

from treelings.headers import Headers, NoHeaders
from treelings.http2 import header

LONGEST = 400

names = st.sampled_from((b":path", b":method", b"te", b"x")) | st.binary(max_size=140)
pairs = st.tuples(names, st.binary(max_size=140))
plain = st.lists(st.builds(lambda pair: header(*pair), pairs) | st.sampled_from((b"\x83", b"\x86", b"\x88", b"\x20")))


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """Blocks of one peer: plain, as the library packs them, and broken ones."""
    encoder = Encoder()
    blocks = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(("plain", "plain", "packed", "broken")))
        if kind == "plain":
            blocks.append(draw(st.sampled_from((b"", b"\x20"))) + b"".join(draw(plain)))
        elif kind == "packed":
            blocks.append(encoder.encode(draw(st.lists(pairs, max_size=4)), huffman=draw(st.booleans())))
        else:
            blocks.append(draw(st.binary(max_size=20)))
    return blocks


@given(conversations())
def test_headers_are_read_as_the_library_reads_them(blocks: list[bytes]) -> None:
    ours, library = Headers(LONGEST), Decoder(max_header_list_size=LONGEST)
    for block in blocks:
        try:
            expected = {
                str(name, "ascii", "replace"): str(value, "utf-8", "replace")
                for name, value in library.decode(block, raw=True)
            }
        except (HPACKError, IndexError, ValueError, TypeError) as error:
            expected = {"refused": type(error).__name__}
        try:
            came = ours.read(block)
        except NoHeaders as error:
            came = {"refused": str(error)}
        assert came == expected
        if "refused" in expected:
            return  # the connection has ended
