"""kaggle-environments' own server for an agent: python -m bench.peers.kaggle_server http-server --port PORT."""

from kaggle_environments.main import main

import bench.peers.kaggle_treelings  # noqa: F401 - the server must know the environment

if __name__ == "__main__":
    main()
