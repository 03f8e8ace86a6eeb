"""The runtime image `node`: Node.js and nothing of ours; a bot brings its packages along."""

import hashlib
from typing import Final

from docker import APIClient

from referee.errors import SandboxError
from referee.sandbox.base import BaseUnavailable, Source, debian, pull
from referee.sandbox.engine import patience
from referee.sandbox.layer import Report, build_layer

REPOSITORY: Final = "treelings-runtime-node"

_SLIM: Final = "node:22-slim"
_BUILD_TIMEOUT_S: Final = 300  # each answer; an import or a commit writes some hundred megabytes

_PREPARE: Final = r"""
const fs = require("fs"), path = require("path");
const [major] = process.versions.node.split(".").map(Number);
if (major < 18) { console.error(`expected Node.js 18 or newer, got ${process.version}`); process.exit(1); }
// Packages come with a bot: what fetches them has no use in here.
for (const name of ["lib/node_modules", "bin/npm", "bin/npx", "bin/corepack", "bin/yarn", "bin/yarnpkg"])
    fs.rmSync(path.join("/usr/local", name), { recursive: true, force: true });
// Nobody needs to become another user in here.
const walk = (folder) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
        const place = path.join(folder, entry.name);
        if (entry.isDirectory()) walk(place);
        else if (entry.isFile()) {
            const mode = fs.lstatSync(place).mode;
            if (mode & 0o6000) fs.chmodSync(place, mode & 0o777);
        }
    }
};
for (const top of ["/bin", "/sbin", "/usr", "/opt", "/var", "/etc"])
    if (fs.existsSync(top) && !fs.lstatSync(top).isSymbolicLink()) walk(top);
console.log(`node ${process.versions.node}`);
"""


def image_name() -> str:
    """Name and tag of the image that this version of the referee builds."""
    return f"{REPOSITORY}:{hashlib.sha256(_PREPARE.encode()).hexdigest()[:12]}"


def build(engine: APIClient, source: Source, report: Report) -> None:
    """Build it, whatever is there. Raises SandboxError saying what failed and what to do, EngineGone; a build that
    fails leaves nothing behind.
    """
    ways = {"slim": _from_slim, "debian": _from_debian}
    closed = []
    with patience(engine, _BUILD_TIMEOUT_S):
        for name in tuple(ways) if source == "auto" else (source,):
            try:
                return ways[name](engine, report)
            except BaseUnavailable as error:
                report(f"{name}: {error}")
                closed.append(f"{name}: {error}")
    raise SandboxError(
        f"the runtime image of node cannot be built: {'; '.join(closed)}. Let the engine reach an image registry, or "
        "run `treelings image build --runtime node` as root on Debian with debootstrap installed"
    )


def _from_slim(engine: APIClient, report: Report) -> None:
    pull(engine, _SLIM, report)
    _prepare(engine, _SLIM)


def _from_debian(engine: APIClient, report: Report) -> None:
    with debian(engine, "nodejs", report) as (_, raw):
        _prepare(engine, raw)


def _prepare(engine: APIClient, parent: str) -> None:
    build_layer(engine, parent=parent, script=_PREPARE, name=image_name(), run_by=("node", "-e"))
