from frames import serve

serve(connected=lambda peer: peer.send(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(117)))
