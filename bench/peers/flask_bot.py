"""The bot behind Flask, as starter bots of Battlesnake have it: python -m bench.peers.flask_bot PORT."""

import logging
import sys

from flask import Flask, request

from bench.peers.talk import Games


def main() -> None:
    """Serve until ended."""
    app, games = Flask("bot"), Games()
    app.add_url_rule("/move", view_func=lambda: {"move": games.move(request.get_json())}, methods=["POST"])
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run(host="127.0.0.1", port=int(sys.argv[1]))


if __name__ == "__main__":
    main()
