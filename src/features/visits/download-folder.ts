import { formatItemPath, type ItemPath, joinPaths, parseSegments, rootPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { mustMark, refuseOriginal } from '#core/policy/delivery.ts';
import type { Storage } from '#ports/storage.ts';
import { type Approaching, type Entered, enter, type VisitPorts } from './enter.ts';
import { headOf } from './hand-out-file.ts';
import { guarded, storageFor } from './shared-storage.ts';
import type { ByteRecord } from './visit-trail.ts';
import { type ZipSource, zipOf } from './zip-writer.ts';

/** A folder that may leave as an archive. */
export interface FolderArchive {
  /** Name of the folder, without an ending. */
  readonly name: string;
  readonly pieces: AsyncIterable<Buffer>;
  readonly entered: Entered;
  readonly record: () => Promise<ByteRecord>;
}

const below = (path: ItemPath, name: string): ItemPath => joinPaths(path, parseSegments([name]) ?? rootPath);

/** What lies below a folder, the folder's own entries first; names relative to it. */
async function* walk(storage: Storage, folder: ItemPath, prefix: string): AsyncGenerator<{ entry: Entry; path: ItemPath; name: string }> {
  const batches = await storage.list(folder);
  if (!batches) return; // gone since it was found
  const folders: string[] = [];
  for await (const batch of batches)
    for (const entry of batch) {
      yield { entry, path: below(folder, entry.name), name: `${prefix}${entry.name}${entry.folder ? '/' : ''}` };
      if (entry.folder) folders.push(entry.name);
    }
  for (const name of folders) yield* walk(storage, below(folder, name), `${prefix}${name}/`);
}

/** The chosen children of a folder, or all of them. @throws 404 for one that is not there */
async function* chosen(storage: Storage, folder: ItemPath, names: readonly string[] | null) {
  if (!names) return yield* walk(storage, folder, '');
  for (const name of new Set(names)) {
    const path = below(folder, name);
    const entry = await storage.stat(path);
    if (!entry) throw new Refusal('itemAbsent');
    yield { entry, path, name: `${name}${entry.folder ? '/' : ''}` };
    if (entry.folder) yield* walk(storage, path, `${name}/`);
  }
}

/** @throws 503 where a PDF among them would have to be signed */
async function checkSignatures(
  ports: VisitPorts,
  storage: Storage,
  items: AsyncIterable<{ entry: Entry; path: ItemPath }>,
  { permit }: Entered,
): Promise<void> {
  for await (const { entry, path } of items) {
    if (entry.folder) continue;
    const file = await storage.open(path);
    if (!file) continue;
    try {
      const { kind } = await ports.media.byBytes(await headOf(file));
      const denial = refuseOriginal('downloadFolder', permit.share, kind);
      if (denial) throw new Refusal(denial);
    } finally {
      await file.close();
    }
  }
}

async function* sourcesOf(
  ports: VisitPorts,
  storage: Storage,
  items: AsyncIterable<{ entry: Entry; path: ItemPath; name: string }>,
  entered: Entered,
): AsyncGenerator<ZipSource> {
  const { digitalSignature } = entered.permit.share;
  for await (const { entry, path, name } of items) {
    const open = async () => {
      const file = await storage.open(path);
      // Looked at again on the very file that leaves: a name may have been given to another file since.
      if (
        file &&
        digitalSignature &&
        refuseOriginal('downloadFolder', entered.permit.share, (await ports.media.byBytes(await headOf(file))).kind)
      ) {
        await file.close();
        throw new Refusal('signingUnavailable');
      }
      return file;
    };
    yield { name, modified: entry.modified, open: entry.folder ? null : open };
  }
}

/** A folder of a share, or what is chosen of it, as a zip that is made while it is sent. */
export async function downloadFolder(
  ports: VisitPorts,
  approaching: Approaching,
  path: ItemPath,
  names: readonly string[] | null,
): Promise<FolderArchive> {
  const entered = await enter(ports, approaching, { request: 'downloadFolder' });
  const { link, permit, recognised } = entered;
  const told = { link, visitor: recognised?.signedIn ?? null, approaching, action: 'downloadFolder', path: formatItemPath(path) } as const;
  // Whole before any is looked at: what would have to be marked never leaves as it is.
  const denial = mustMark(permit.share) ? refuseOriginal('downloadFolder', permit.share, 'image') : null;
  if (denial) {
    ports.trail.note({ ...told, outcome: 'refused', after: { because: denial } });
    throw new Refusal(denial);
  }
  return guarded(async () => {
    if (link.folder === 0) throw new Refusal('itemAbsent');
    const { storage, at } = await storageFor(entered, ports);
    const folder = at(path);
    const entry = await storage.stat(folder);
    if (!entry?.folder) throw new Refusal('itemAbsent');
    for (const name of names ?? []) if (!(await storage.stat(below(folder, name)))) throw new Refusal('itemAbsent');
    if (permit.share.digitalSignature) await checkSignatures(ports, storage, chosen(storage, folder, names), entered);
    return {
      name: folder.at(-1) ?? link.title,
      pieces: zipOf(sourcesOf(ports, storage, chosen(storage, folder, names), entered)),
      entered,
      record: () =>
        ports.trail.begin({ ...told, outcome: 'begun', ...(names ? { after: { names } } : {}) }, null, link.alert_download === 1),
    };
  });
}
