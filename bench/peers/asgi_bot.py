"""The bot behind uvicorn with no framework, its ASGI written by hand: python -m bench.peers.asgi_bot PORT."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

from bench.peers.talk import Games

Message = dict[str, Any]


def main() -> None:
    """Serve until ended, on the fastest parts that uvicorn can be given."""
    games = Games()

    async def app(
        _scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        answer = json.dumps({"move": games.move(json.loads(body))}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    uvicorn.run(
        app, port=int(sys.argv[1]), loop="uvloop", http="httptools", lifespan="off", log_level="warning",
        access_log=False,
    )  # fmt: skip


if __name__ == "__main__":
    main()
