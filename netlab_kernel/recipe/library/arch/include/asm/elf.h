/* SPDX-License-Identifier: GPL-2.0 */
/* Types that the generic code needs, although no program is ever loaded. */
#ifndef _ASM_NETLAB_ELF_H
#define _ASM_NETLAB_ELF_H
#include <asm/ptrace.h>
typedef unsigned long elf_greg_t;
#define ELF_NGREG 4
typedef elf_greg_t elf_gregset_t[ELF_NGREG];
typedef unsigned long elf_fpregset_t;
#define ELF_ARCH EM_NONE
#define ELF_CLASS ELFCLASS64
#define ELF_DATA ELFDATA2LSB
#define elf_check_arch(x) 0
#define ELF_EXEC_PAGESIZE 4096
#define ELF_HWCAP 0
#define ELF_PLATFORM NULL
#define ELF_ET_DYN_BASE 0
#endif
