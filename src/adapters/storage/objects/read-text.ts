import type { ObjectStore } from './object-store.ts';
import { readBody } from './service-request.ts';

/** Reads a small object. @returns null if there is none. @throws StorageUnavailable, also if the object is longer than `maxBytes` */
export async function readText(store: ObjectStore, key: string, maxBytes: number): Promise<string | null> {
  const response = await store.get(key);
  if (!response) return null;
  return Buffer.from(await readBody('GET', () => response.read(maxBytes))).toString();
}
