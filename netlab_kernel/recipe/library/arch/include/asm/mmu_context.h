/* SPDX-License-Identifier: GPL-2.0 */
#include <asm-generic/nommu_context.h>
