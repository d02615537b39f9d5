// SPDX-License-Identifier: GPL-2.0
/* Made by `python -m netlab_kernel.wire_format` from protocol.h and host.h. */
#define WIRE_FORMAT "ffa95a4ea3513650"
