/* SPDX-License-Identifier: GPL-2.0 */
/* The memory is contiguous at a fixed address, so a page's number follows from its address by a shift. */
#ifndef _ASM_NETLAB_PAGE_H
#define _ASM_NETLAB_PAGE_H
#include <linux/const.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#include <vdso/page.h>
#else
#define PAGE_SHIFT 12
#define PAGE_SIZE (_AC(1, UL) << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))
#endif
#ifdef __wasm__
#define PAGE_OFFSET _AC(0x4000000, UL)		/* behind the program's own data and heap */
#else
#define PAGE_OFFSET _AC(0x100000000, UL)	/* the host program maps the memory here */
#endif
#ifndef __ASSEMBLER__
#include <linux/pfn.h>
extern unsigned long memory_start, memory_end;
#define clear_page(page) memset((page), 0, PAGE_SIZE)
#define copy_page(to, from) memcpy((to), (from), PAGE_SIZE)
#define clear_user_page(page, vaddr, pg) clear_page(page)
#define copy_user_page(to, from, vaddr, pg) copy_page(to, from)
typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pmd[16]; } pmd_t;
typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pgprot; } pgprot_t;
typedef struct page *pgtable_t;
#define pte_val(x) ((x).pte)
#define pmd_val(x) ((&x)->pmd[0])
#define pgd_val(x) ((x).pgd)
#define pgprot_val(x) ((x).pgprot)
#define __pte(x) ((pte_t) { (x) })
#define __pgd(x) ((pgd_t) { (x) })
#define __pgprot(x) ((pgprot_t) { (x) })
#define __pa(v) ((unsigned long)(v))
#define __va(p) ((void *)(unsigned long)(p))
static inline unsigned long virt_to_pfn(const void *address) { return __pa(address) >> PAGE_SHIFT; }
static inline void *pfn_to_virt(unsigned long pfn) { return __va(pfn << PAGE_SHIFT); }
#define virt_to_page(a) pfn_to_page(virt_to_pfn((const void *)(a)))
#define page_to_virt(p) pfn_to_virt(page_to_pfn(p))
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define page_to_phys(p) (page_to_pfn(p) << PAGE_SHIFT)
#define phys_to_page(p) pfn_to_page((p) >> PAGE_SHIFT)
#endif
#define virt_addr_valid(a) ((unsigned long)(a) >= memory_start && (unsigned long)(a) < memory_end)
#define ARCH_PFN_OFFSET (PAGE_OFFSET >> PAGE_SHIFT)
#include <asm-generic/memory_model.h>
#include <asm-generic/getorder.h>
#endif
#define VM_DATA_DEFAULT_FLAGS VM_DATA_FLAGS_NON_EXEC
#endif
