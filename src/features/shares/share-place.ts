import { formatItemPath } from '#core/item-path.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { normalizeText } from '#core/unicode.ts';
import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { Tx } from '#ports/store.ts';
import { parseSharePath } from './share-body.ts';

const locationsByName = preparedQuery((db, p: QueryParameter<{ tid: number; name: string }>) =>
  db.selectFrom('location').selectAll().where('tid', '=', p('tid')).where('name', '=', p('name')),
);

/** Returns the location with a name. @throws Refusal 400 at location */
export async function findLocationByName(db: Tx, tid: number, name: string) {
  const [location] = await locationsByName(db, { tid, name: normalizeText(name) });
  if (!location) throw fieldRefusal('location', 'is not the name of a configured location');
  return location;
}

/**
 * Checks in the storage that the path exists, and that it is a folder or a file as the request says.
 * @throws Refusal 400 at path or folder, 503 if the location does not respond
 */
export async function checkSharedItem(
  ports: Pick<Ports, 'storages' | 'vault'>,
  location: Awaited<ReturnType<typeof findLocationByName>>,
  text: string,
  folder: boolean,
): Promise<void> {
  const path = parseSharePath(text);
  try {
    const storage = await openLocation(location, ports);
    const entry = await storage.stat(path);
    if (!entry) throw fieldRefusal('path', `must be an existing file or folder: ${formatItemPath(path)} does not exist in the location`);
    if (entry.folder !== folder)
      throw fieldRefusal('folder', entry.folder ? 'must be true: the path is a folder' : 'must be false: the path is a file');
  } catch (cause) {
    if (cause instanceof StorageUnavailable) throw new Refusal('storageAway');
    throw cause;
  }
}
