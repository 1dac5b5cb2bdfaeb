import { MemoryBudget } from '#core/memory-budget.ts';
import { StorageBusy } from '#ports/storage-errors.ts';

const defaultTotal = 256 << 20; // bytes

/**
 * Returns the budget of all tenants for what is read from services.
 * @param total bytes
 * @throws StorageBusy if a tenant needs too many of them
 */
export const storageMemory = (total = defaultTotal) =>
  new MemoryBudget(total, () => new StorageBusy('too many long lists of files are being read'));
