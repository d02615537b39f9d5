	/*
	 * A page fault takes as long as mapping a dozen pages. The dynamic linker maps the parts of a library over its beginning
	 * (MAP_FIXED), and it writes to nearly all pages of the writable part.
	 */
	if ((flags & (MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_FIXED) &&
	    len <= (prot & PROT_WRITE ? 512 * 1024 : 64 * 1024))
		flags |= MAP_POPULATE;
	return ksys_mmap_pgoff(addr, len, prot, flags, fd, off >> PAGE_SHIFT);
