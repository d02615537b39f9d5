/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_NETLAB_SETUP_H
#define _ASM_NETLAB_SETUP_H
#include <uapi/asm/setup.h>
#endif
