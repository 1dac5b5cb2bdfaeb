import { type Entry, type ListingPage, type ListingQuery, memoryOfEntry, PageSelection } from '#core/listing.ts';
import type { TenantMemory } from './memory-budget.ts';

const maxPageMemory = 32 << 20; // bytes for the entries of a large folder up to the end of the page

/** Returns one sorted page, with its memory, of a folder whose service lists it unsorted. @throws PageTooDeep, StorageBusy */
export async function selectPage(
  batches: AsyncIterable<readonly Entry[]>,
  query: ListingQuery,
  tenantMemory: TenantMemory,
): Promise<ListingPage> {
  const selection = new PageSelection<Entry>(query, maxPageMemory);
  using atError = new DisposableStack();
  const memory = atError.use(tenantMemory.begin());
  for await (const batch of batches) {
    selection.add(batch);
    memory.set(selection.bytes);
  }
  const page = selection.page();
  memory.set(page.entries.reduce((sum, entry) => sum + memoryOfEntry(entry), 0));
  return { ...page, memory: atError.move() };
}
