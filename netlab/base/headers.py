"""Sizes of packet headers in bytes, and the default queue length of the kernel in packets."""

ETHERNET_HEADER_BYTES = 14
"""The part of an Ethernet frame's overhead that the kernel's queue disciplines count."""
ETHERNET_WIRE_BYTES = 38
"""The overhead of an Ethernet frame on the wire: preamble 8, header 14, frame check sequence 4, gap 12 (IEEE 802.3)."""
IP_HEADER_BYTES = 20
UDP_HEADER_BYTES = 8
ICMP_HEADER_BYTES = 8
TCP_TIMESTAMPS_BYTES = 12
"""The option that Linux sends by default, padded (RFC 7323, appendix A)."""
TCP_HEADER_BYTES = 20 + TCP_TIMESTAMPS_BYTES

MTU_BYTES = 1500
MSS_BYTES = MTU_BYTES - IP_HEADER_BYTES - TCP_HEADER_BYTES
FRAME_BYTES = MTU_BYTES + ETHERNET_HEADER_BYTES
MIN_WIRE_FRAME_BYTES = 64 - 18 + ETHERNET_WIRE_BYTES
"""On a wire, a frame is padded to 64 bytes, of which 18 are header and check sequence."""

KERNEL_QUEUE_PACKETS = 1000
"""The kernel's default transmit queue length."""
OFFLOAD_ABOVE_MBPS = 1000
"""The rate in Mbit/s above which a link leaves segmentation offload in force, unless it says otherwise."""
