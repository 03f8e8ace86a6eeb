from frames import serve

serve(connected=lambda peer: peer.send(bytes(range(256)) * 8))
