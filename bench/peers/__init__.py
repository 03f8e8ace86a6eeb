"""The same game and the same bot the way others would run them, for `make bench` to compare with.

Each is set up as its makers would have it. The rules are ours, so that they cost a peer nothing more, and no peer
checks what its bot sends or receives. Bots run as bare processes, which isolates nothing.
"""
