import { type Store, StoreFull } from '#ports/store.ts';

/**
 * Refuses a change while the disk of the database is full. The remaining space is reserved for the audit entries of
 * downloads and for sign-ins.
 * @param minFree bytes that must be free when the change begins; PostgreSQL ignores it
 * @throws StoreFull
 */
export function checkStoreSpace(store: Pick<Store, 'isFull'>, minFree = 0): void {
  if (store.isFull(minFree)) throw new StoreFull('the disk of the database is full');
}
