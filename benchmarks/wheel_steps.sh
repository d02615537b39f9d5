#!/bin/sh
# What a student with netlab's wheel types, in an empty home; prints a row of the table of wheel.sh.
#
#   benchmarks/wheel_steps.sh PLACE WHEEL PYTHON          such as "Debian 12" dist/netlab-*x86_64.whl /usr/bin/python3
#
# What the commands print is kept in ~/said, a file for each column.
set -u
place=$1 wheel=$2 python=$3
cd && rm -rf env said netlab-chapters && mkdir said
now() { date +%s.%N 2>/dev/null | grep -v N || "$python" -c 'import time; print(time.time())'; }
# The seconds of a command, or "failed" with the last line that it printed.
timed() {
    name=$1 began=$(now) && shift
    if "$@" >"said/$name" 2>&1 </dev/null; then
        echo "$began $(now)" | awk '{ printf "%.1f", $2 - $1 }'
    else
        echo "failed: $(tail -n 1 "said/$name")"
    fi
}
"$python" -m venv env || exit 1
PATH=$PWD/env/bin:$PATH
pip=$(timed pip pip install --no-cache-dir --progress-bar off --disable-pip-version-check "$wheel")
size=$(du -sm env | cut -f 1)
# With the wheel itself; pip rounds the size of each package.
fetched=$({
    wc -c <"$wheel"
    sed -n 's/^ *Downloading .*(\([0-9.]*\) \([kM]B\)).*/\1 \2/p' said/pip
} | awk '{ sum += $2 == "MB" ? $1 : $2 == "kB" ? $1 / 1e3 : $1 / 1e6 } END { printf "%.1f", sum }')
# The first command after the installation: seconds until JupyterLab answers, until chapter 1 shows its network and until it shows
# its first measurement. The cells are run by a client of their own, because a bare system has no browser.
cat >open_lab.py <<'PYTHON'
import re
import subprocess
import sys
import time
import urllib.request

import nbformat

FIGURE = "application/vnd.plotly.v1+json"
began_s = time.monotonic()
lab = subprocess.Popen(["netlab", "lab"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
addresses = (re.search(r"http://127\.0\.0\.1:\d+/\S*token=\w+", line) for line in lab.stdout)
try:
    address = next(found.group() for found in addresses if found)
    for _ in range(600):
        try:
            print("HTTP", urllib.request.urlopen(address).status)
            break
        except OSError:
            time.sleep(0.05)
    else:
        sys.exit("no answer in 30 s")
    seconds = [time.monotonic() - began_s]
    from nbclient import NotebookClient

    book = nbformat.read("netlab-chapters/01_udp_loss.ipynb", 4)
    client = NotebookClient(book, resources={"metadata": {"path": "netlab-chapters"}})
    with client.setup_kernel():
        for number, cell in enumerate(book.cells):
            client.execute_cell(cell, number)
            if any(FIGURE in output.get("data", {}) for output in cell.get("outputs", [])):
                seconds.append(time.monotonic() - began_s)
                if len(seconds) == 3:
                    break
    print(*(f"{each:.1f}" for each in seconds))
finally:
    lab.terminate()
PYTHON
lab=$(timed lab python open_lab.py)
[ "${lab#failed}" != "$lab" ] || lab=$(tail -n 1 said/lab | sed 's/ / | /g')
[ "${lab#failed}" = "$lab" ] || lab="$lab | |"
first=$(timed demo netlab demo)
second=$(timed demo netlab demo)
doctor=$(timed doctor netlab doctor)
[ "${doctor#failed}" != "$doctor" ] || doctor=$(grep -o '^Ready' said/doctor)
cat >live.py <<'PYTHON'
import netlab as nl

link = nl.Link("h1", "h2", rate_mbps=5, delay_ms=10, queue_packets=50)
with nl.live(nl.Topology(["h1", "h2"], links=[link]), seed=1) as lab:
    lab["h2"].start("python3 -m http.server 80")
    fetch = "import urllib.request; print('HTTP', urllib.request.urlopen('http://h2/').status)"
    answer = lab["h1"].run(f'python3 -c "{fetch}"')
    flow = lab.start(nl.Tcp("h1", "h2"))
    lab.advance(10)
    print(lab.flows.goodput_mbps[0])
    if "HTTP 200" not in answer:
        raise SystemExit(answer)
PYTHON
live=$(timed live python live.py)
cat >two_hosts.py <<'PYTHON'
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2))
net.start()
dropped = net.pingAll()
net.stop()
if dropped:
    raise SystemExit(f"{dropped} % dropped")
PYTHON
mininet=$(timed mininet netlab mininet two_hosts.py)
chapter=$(timed chapter jupyter execute --output=/tmp/netlab-chapter.ipynb netlab-chapters/01_udp_loss.ipynb)
missing=$(for name in cc bash ip tc ping; do command -v "$name" >/dev/null || printf '%s ' "$name"; done)
echo "| $place | $("$python" -V | cut -d ' ' -f 2) | $(id -un) | ${missing:-nothing} | $pip | $fetched | $size | $lab |" \
    "$first | $second | $doctor | $live | $chapter | $mininet |"
