import { type Entry, type ListingPage, type ListingQuery, PageSelection } from '#core/listing.ts';
import type { TenantMemory } from './memory-budget.ts';

const maxPageMemory = 32 << 20; // bytes for the entries of a large folder up to the end of the page

/** Returns one sorted page of a folder whose service lists it unsorted. @throws PageTooDeep, StorageBusy */
export async function selectPage(
  batches: AsyncIterable<readonly Entry[]>,
  query: ListingQuery,
  tenantMemory: TenantMemory,
): Promise<ListingPage> {
  const selection = new PageSelection<Entry>(query, maxPageMemory);
  using memory = tenantMemory.begin();
  for await (const batch of batches) {
    selection.add(batch);
    memory.set(selection.bytes);
  }
  return selection.page();
}
