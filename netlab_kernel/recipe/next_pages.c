/*
 * A page fault takes as long as filling a dozen pages. A program that writes to the page after an existing one is likely to
 * continue, as each heap does when a program starts. So such a fault also fills the next pages, with pages that are contiguous in
 * the guest's memory, which the host maps by one call.
 */
#define NETLAB_NEXT_PAGES 15

#include <linux/rmap.h>
#include <linux/swap.h>

static void netlab_fill_page(struct vm_area_struct *vma, unsigned long address, struct folio *folio)
{
	struct mm_struct *mm = vma->vm_mm;
	spinlock_t *lock;
	pte_t *pte = pte_offset_map_lock(mm, pmd_off(mm, address), address, &lock);

	if (pte && pte_none(*pte)) {
		pte_t entry = pte_mkwrite(mk_pte(&folio->page, vma->vm_page_prot), vma);

		__folio_mark_uptodate(folio);
		inc_mm_counter(mm, MM_ANONPAGES);
		folio_add_new_anon_rmap(folio, vma, address, RMAP_EXCLUSIVE);
		folio_add_lru(folio);
		set_pte_at(mm, address, pte, pte_mkyoung(pte_mkdirty(entry)));
	} else {
		folio_put(folio);
	}
	if (pte)
		pte_unmap_unlock(pte, lock);
}

/* Called with mmap_lock, after a page fault for writing to this address. */
static void netlab_fill_next_pages(struct vm_area_struct *vma, unsigned long address)
{
	unsigned long first = (address & PAGE_MASK) + PAGE_SIZE, table_end = (address & PMD_MASK) + PMD_SIZE;
	unsigned long end = min3(vma->vm_end, table_end, first + NETLAB_NEXT_PAGES * PAGE_SIZE);
	unsigned long at;
	pte_t *pte;
	char *memory;

	if (!vma_is_anonymous(vma) || (vma->vm_flags & (VM_WRITE | VM_LOCKED)) != VM_WRITE || !vma->anon_vma)
		return;
	/* The page before may be in another page table. */
	if (first - PAGE_SIZE == max(vma->vm_start, table_end - PMD_SIZE))
		return;
	pte = pte_offset_kernel(pmd_off(vma->vm_mm, address), first - PAGE_SIZE);
	if (!pte_present(pte[-1]))
		return;
	for (at = first; at < end && pte_none(*++pte); at += PAGE_SIZE)
		;
	if (at == first)
		return;
	memory = alloc_pages_exact(at - first, GFP_USER | __GFP_MOVABLE | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY);
	if (!memory)
		return;
	for (end = at, at = first; at < end; at += PAGE_SIZE)
		netlab_fill_page(vma, at, virt_to_folio(memory + (at - first)));
}

