"""Many short programs: each round, h1 writes a file and h2 fetches it with curl from h1's web server."""

import random
import sys
from time import sleep

from mininet.net import Mininet

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
net = Mininet()
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2)
net.start()
h1.cmd("python3 -m http.server 8000 >/dev/null 2>&1 &")
sleep(1)
fetched = 0
for number in range(rounds):
    sleep(random.uniform(0.001, 0.01))  # noqa: S311
    h1.cmd(f"echo {number} > message.txt")
    fetched += h2.cmd("curl -s http://10.0.0.1:8000/message.txt").strip() == str(number)
print(f"{fetched} of {rounds} fetched")
net.stop()
