import time

from frames import serve

serve(connected=lambda peer: time.sleep(600))
