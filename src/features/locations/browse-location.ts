import Type from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { formatItemPath, parseItemPath, pathRule } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { limits } from '#core/records/field.ts';
import { lastChange } from '#core/records/visit.ts';
import { normalizeText } from '#core/unicode.ts';
import { readOperation } from '#features/operation.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';

const maxEntries = 10_000;

const BrowseResponse = Type.Object({
  path: Type.String({ description: 'The folder, within the location.' }),
  entries: Type.Array(
    Type.Object({
      name: Type.String(),
      folder: Type.Boolean(),
      size: Type.Integer(),
      modifiedDateTime: lastChange,
    }),
  ),
  complete: Type.Boolean({ description: `false: the folder has more than ${maxEntries} entries, and this list is incomplete.` }),
});

const foldersFirst = (a: Entry, b: Entry) => Number(b.folder) - Number(a.folder) || (a.name < b.name ? -1 : 1);

/**
 * Reads the first entries of a folder. `complete` is false if the folder has more.
 * @throws the reason of `timedOut`: a service could send empty batches without end
 */
async function readEntries(
  batches: AsyncIterable<readonly Entry[]>,
  timedOut: AbortSignal | undefined,
): Promise<{ entries: Entry[]; complete: boolean }> {
  const entries: Entry[] = [];
  for await (const batch of batches) {
    timedOut?.throwIfAborted();
    entries.push(...batch);
    if (entries.length > maxEntries) return { entries: entries.slice(0, maxEntries), complete: false };
  }
  return { entries, complete: true };
}

export const browseLocation = readOperation({
  name: 'location/browse',
  locationName: ({ location }) => normalizeText(location),
  method: 'GET',
  role: 'editor',
  summary: 'Lists a folder of a location, to choose the path of a share.',
  body: Type.Object(
    {
      location: Type.String({ minLength: 1, maxLength: limits.name, description: 'Name of the location.' }),
      path: Type.Optional(Type.String({ maxLength: limits.path, description: 'Folder within the location; default: its root.' })),
    },
    { additionalProperties: false },
  ),
  response: BrowseResponse,
  async read(query, caller, { store, storages, vault }, _inTurn, timedOut) {
    const row = await store.read
      .selectFrom('location')
      .selectAll()
      .where('tid', '=', caller.tid)
      .where('name', '=', normalizeText(query.location))
      .executeTakeFirst();
    if (!row) throw fieldRefusal('location', 'is not the name of a configured location');
    const path = parseItemPath(query.path ?? '/');
    if (!path) throw fieldRefusal('path', pathRule);
    try {
      const storage = await openLocation(row, { storages, vault });
      const batches = await storage.list(path);
      if (!batches) throw fieldRefusal('path', 'is not a folder of that location');
      const { entries, complete } = await readEntries(batches, timedOut);
      const list = entries.sort(foldersFirst).map(({ name, folder, size, modified }) => ({
        name,
        folder,
        size,
        modifiedDateTime: modified === null ? null : formatInstant(modified),
      }));
      return { path: formatItemPath(path), entries: list, complete };
    } catch (cause) {
      if (cause instanceof StorageUnavailable) throw new Refusal('storageAway');
      throw cause;
    }
  },
});
