// SPDX-License-Identifier: GPL-2.0
/* Made by `python -m netlab_kernel.wire_format` from protocol.h and host.h. */
#define WIRE_FORMAT "d58198f2af9b999f"
