/*
 * The host maps pages that are contiguous in the guest's memory by one call. So when a file's code is mapped, the whole file is
 * read to such pages, and a page fault maps all of its pages in the same page table.
 */
#include <linux/swap.h>

#define NETLAB_PROGRAM_BYTES	(16L << 20)
#define NETLAB_PIECE_BYTES	(2L << 20)

/* Read bytes from the offset `at` on to the page cache. Returns true if they are there. */
static bool netlab_read_piece(struct file *file, loff_t at, size_t bytes)
{
	size_t whole = PAGE_ALIGN(bytes), offset;
	char *memory = alloc_pages_exact(whole, GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	loff_t from = at;
	bool complete;

	if (!memory)
		return false;
	complete = read_file(FILE_HOSTFS_I(file)->fd, &from, memory, bytes) == bytes;
	memset(memory + bytes, 0, whole - bytes);
	for (offset = 0; offset < whole; offset += PAGE_SIZE) {
		struct folio *folio = virt_to_folio(memory + offset);

		if (complete && !filemap_add_folio(file->f_mapping, folio, (at + offset) >> PAGE_SHIFT, GFP_KERNEL)) {
			folio_mark_uptodate(folio);
			folio_unlock(folio);
		}
		folio_put(folio);
	}
	return complete;
}

static void netlab_read_program(struct file *file)
{
	struct address_space *mapping = file->f_mapping;
	loff_t size = i_size_read(mapping->host), at = 0;

	if (size > NETLAB_PROGRAM_BYTES || mapping->nrpages >= DIV_ROUND_UP(size, PAGE_SIZE))
		return;
	/* Drop the pages that were read with the file's header, because they are not contiguous with the others. */
	lru_add_drain_all();
	invalidate_mapping_pages(mapping, 0, -1);
	if (mapping->nrpages)
		return;
	filemap_invalidate_lock_shared(mapping);
	while (at < size && netlab_read_piece(file, at, min(size - at, NETLAB_PIECE_BYTES)))
		at += NETLAB_PIECE_BYTES;
	filemap_invalidate_unlock_shared(mapping);
}

static vm_fault_t netlab_map_pages(struct vm_fault *vmf, pgoff_t start, pgoff_t end)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long table = vmf->address & PMD_MASK;

	return filemap_map_pages(vmf, linear_page_index(vma, max(vma->vm_start, table)),
				 linear_page_index(vma, min(vma->vm_end, table + PMD_SIZE)) - 1);
}

static const struct vm_operations_struct netlab_file_vm_ops = {
	.fault		= filemap_fault,
	.map_pages	= netlab_map_pages,
	.page_mkwrite	= filemap_page_mkwrite,
};

static int netlab_mmap_prepare(struct vm_area_desc *desc)
{
	int err = generic_file_mmap_prepare(desc);

	if (err)
		return err;
	desc->vm_ops = &netlab_file_vm_ops;
	if (vma_desc_test(desc, VMA_EXEC_BIT))
		netlab_read_program(desc->file);
	return 0;
}

