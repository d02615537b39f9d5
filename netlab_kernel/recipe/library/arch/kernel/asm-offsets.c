// SPDX-License-Identifier: GPL-2.0
/* Nothing in assembly asks for an offset, but the build wants the file. */
#define COMPILE_OFFSETS
#include <linux/kbuild.h>

int main(void);
int main(void)
{
	DEFINE(NETLAB_LIBRARY, 1);
	return 0;
}
