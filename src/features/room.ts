import { type Store, StoreFull } from '#ports/store.ts';

/**
 * Refuses a change while the database's disk is full: what room is left belongs to the audit entries of downloads, and
 * to sign-ins.
 * @throws StoreFull
 */
export function checkRoom(store: Pick<Store, 'isFull'>): void {
  if (store.isFull()) throw new StoreFull('the disk of the database is full');
}
