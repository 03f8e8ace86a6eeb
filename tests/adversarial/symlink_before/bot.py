import os
import time
from pathlib import Path

from bait import PATH

Path(os.environ["TREELINGS_SOCKET"]).symlink_to(PATH)
time.sleep(600)
