	bool part = (flags & (MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_FIXED);
	unsigned long eager = part ? 512 * 1024 : (flags & MAP_ANONYMOUS) ? 16 * 1024 : 0;
	unsigned long mapped;

	if (off & ~PAGE_MASK)
		return -EINVAL;

	/*
	 * A page fault takes as long as mapping a dozen pages. The dynamic linker maps the parts of a library over its beginning
	 * (MAP_FIXED), and it writes to nearly all pages of the writable part and of its own small blocks. A fault for a page of
	 * another part maps that part, and the library's symbols are before its code.
	 */
	if ((prot & PROT_WRITE) && len <= eager)
		flags |= MAP_POPULATE;
	mapped = ksys_mmap_pgoff(addr, len, prot, flags, fd, off >> PAGE_SHIFT);
	if (part && !(prot & PROT_WRITE) && !IS_ERR_VALUE(mapped)) {
		if (prot & PROT_EXEC)
			mm_populate(mapped - PAGE_SIZE, PAGE_SIZE);
		mm_populate(mapped, PAGE_SIZE);
	}
	return mapped;
