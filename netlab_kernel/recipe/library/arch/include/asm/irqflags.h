/* SPDX-License-Identifier: GPL-2.0 */
/* There are no interrupts; the flag is kept because the generic code asks for it. */
#ifndef _ASM_NETLAB_IRQFLAGS_H
#define _ASM_NETLAB_IRQFLAGS_H
extern unsigned long library_irqs_on;
#define ARCH_IRQ_DISABLED 0
#define ARCH_IRQ_ENABLED 1
static inline unsigned long arch_local_save_flags(void) { return library_irqs_on; }
#define arch_local_save_flags arch_local_save_flags
static inline void arch_local_irq_restore(unsigned long flags)
{
	barrier();
	library_irqs_on = flags;
	barrier();
}
#define arch_local_irq_restore arch_local_irq_restore
#include <asm-generic/irqflags.h>
#endif
