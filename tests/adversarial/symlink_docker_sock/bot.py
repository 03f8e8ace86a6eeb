import os
import time
from pathlib import Path

Path(os.environ["TREELINGS_SOCKET"]).symlink_to("/var/run/docker.sock")
time.sleep(600)
