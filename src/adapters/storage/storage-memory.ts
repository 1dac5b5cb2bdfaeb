import { MemoryBudget } from '#core/memory-budget.ts';
import { StorageBusy } from '#ports/storage-errors.ts';

const defaultTotal = 256 << 20; // bytes

/**
 * Creates a memory budget that all tenants share, for data that is read from storage services.
 * @param total bytes
 * @returns a budget whose reservations throw StorageBusy if not enough bytes are left for the tenant
 */
export const storageMemory = (total = defaultTotal) =>
  new MemoryBudget(total, () => new StorageBusy('too many long lists of files are being read'));
