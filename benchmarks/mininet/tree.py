"""Mininet's own tree of depth 2 and fanout 3. Theory: nine hosts, every ping answered."""

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topolib import TreeTopo

setLogLevel("info")
net = Mininet(TreeTopo(depth=2, fanout=3), switch=LinuxBridge, controller=None)
net.start()
net.pingAll()
net.stop()
