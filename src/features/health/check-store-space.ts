import { type Store, StoreFull } from '#ports/store.ts';

/**
 * Refuses a change while the database's disk is full: what room is left belongs to the audit entries of downloads, and
 * to sign-ins.
 * @param leaving bytes that the change has to leave free
 * @throws StoreFull
 */
export function checkStoreSpace(store: Pick<Store, 'isFull'>, leaving = 0): void {
  if (store.isFull(leaving)) throw new StoreFull('the disk of the database is full');
}
