"""Where a neighbour's sockets are; written anew for a case that has the check `bait`, and else nowhere."""

PATH = "/nowhere/bot.sock"
NAME = "nowhere"
