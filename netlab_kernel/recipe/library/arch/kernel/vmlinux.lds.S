/* SPDX-License-Identifier: GPL-2.0 */
/* Joins the kernel's objects to one object, with sections in the order that its code expects, to be linked with the host program. */
#include <asm-generic/vmlinux.lds.h>
#include <asm/cache.h>
#include <asm/page.h>
#include <asm/thread_info.h>

jiffies = jiffies_64;
SECTIONS
{
	__init_begin = .;
	HEAD_TEXT_SECTION
	INIT_TEXT_SECTION(PAGE_SIZE)
	INIT_DATA_SECTION(16)
	PERCPU_SECTION(L1_CACHE_BYTES)
	__init_end = .;
	.text : {
		_stext = .;
		_text = .;
		TEXT_TEXT
		IRQENTRY_TEXT
		SOFTIRQENTRY_TEXT
		SCHED_TEXT
		LOCK_TEXT
		KPROBES_TEXT
		_etext = .;
	}
	_sdata = .;
	RO_DATA(PAGE_SIZE)
	RW_DATA(L1_CACHE_BYTES, PAGE_SIZE, THREAD_SIZE)
	_edata = .;
	EXCEPTION_TABLE(16)
	BSS_SECTION(0, 0, 0)
	_end = .;
	ELF_DETAILS
	DISCARDS
}
