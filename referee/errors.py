"""The errors of the referee's own side, one tree.

What a bot does wrong is a Fault (model.py), never an error.

RefereeError
├── UsageError        the caller asked for something that cannot be (exit code 2)
│   ├── ConfigError       league.toml is wrong
│   └── SubmissionError   a folder that is no acceptable bot
│       └── BotFileError      its bot.toml is missing or wrong
├── SandboxError      a bot could not be run for a reason that is not the bot's
│   ├── EngineGone        the Docker engine does not answer (any more)
│   └── Overloaded        the machine took time from a bot that was its to use
├── RecordError       a file that is no game record
├── StoreError        the league's database is missing, foreign or too new
└── LeagueBusy        another process is running this league
"""

import errno
from typing import Final

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The numbers of an OSError where a disk, or what a user or a process may take of it, is full."""


class RefereeError(Exception):
    """Root of every error that the referee raises on purpose; its text is fit to be shown."""


class UsageError(RefereeError):
    """The caller asked for something that cannot be."""


class ConfigError(UsageError):
    """league.toml does not say what a league needs, or says something unknown."""


class SubmissionError(UsageError):
    """A folder that is no acceptable bot; names the file and the reason."""


class BotFileError(SubmissionError):
    """A bot's bot.toml is missing, or does not say what it must; names file, key, expected and got."""


class SandboxError(RefereeError):
    """A bot could not be run, and not through any doing of the bot."""


class EngineGone(SandboxError):
    """The Docker engine does not answer."""


class Overloaded(SandboxError):
    """The referee stood still, or a bot waited for a core, for so long that no clock was fair to it."""


class RecordError(RefereeError):
    """Text that is no game record of a known format."""


class StoreError(RefereeError):
    """The league's database is missing, foreign, or of another schema version."""


class LeagueBusy(RefereeError):
    """Another process holds the league."""
