import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { mustMark, refuseOriginal } from '#core/policy/delivery.ts';
import type { ByteRecord } from '#features/audit/visit-audit.ts';
import { type Approaching, type Entered, enter, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { guarded, storageFor } from '#features/visits/authorization/shared-storage.ts';
import { headOf } from '#features/visits/files/download-file.ts';
import type { OpenFile } from '#ports/storage.ts';
import { chosenEntries, find, findInSlices, type Packed } from './folder-walk.ts';
import { gather } from './join-pieces.ts';
import { below } from './pending-folders.ts';
import { costOf, type Found, mostPlanned, planZip, type ZipPlan } from './zip-plan.ts';
import { type Wanted, zipRange } from './zip-range.ts';
import { type ZipSource, zipOf } from './zip-writer.ts';

/** A folder that may leave as an archive. */
export interface FolderArchive {
  /** Name of the folder, without an ending. */
  readonly name: string;
  /** Its length and validator where its layout is known beforehand; null: it is made as it is sent. */
  readonly known: { readonly size: number; readonly etag: string } | null;
  readonly pieces: (wanted: Wanted) => AsyncIterable<Buffer>;
  /** To be called at the end, whatever was taken of it. */
  readonly close: () => Promise<void>;
  /** May it still leave, and still as it is? */
  readonly stillPermitted: () => Promise<boolean>;
  readonly record: () => Promise<ByteRecord>;
}

/** Returns whether a file of the folder would have to be signed. */
async function mustBeSigned({ media }: VisitPorts, file: OpenFile, { permit }: Entered): Promise<boolean> {
  return refuseOriginal('downloadFolder', permit.share, media.isPdf(await headOf(file)) ? 'pdf' : 'other') !== null;
}

/** Yields after every slice of the files. @throws 503 where a PDF among what is packed would have to be signed */
async function* checkSignatures(ports: VisitPorts, packed: Packed, entered: Entered): AsyncGenerator<void> {
  for await (const one of findInSlices(packed)) {
    if (!one) yield;
    if (!one || one.entry.folder) continue;
    packed.left.throwIfAborted();
    const file = await packed.storage.open(below(packed.folder, one.name));
    if (!file) continue;
    try {
      if (await mustBeSigned(ports, file, entered)) throw new Refusal('signingUnavailable');
    } finally {
      await file.close();
    }
  }
}

async function* sourcesOf(ports: VisitPorts, packed: Packed, entered: Entered): AsyncGenerator<ZipSource> {
  const { digitalSignature } = entered.permit.share;
  for await (const one of find(packed)) {
    if (!one) continue;
    const { entry, name } = one;
    // An empty file has no bytes to read, and so none to look at.
    const open = async () => {
      const file = await packed.storage.open(below(packed.folder, name));
      // Looked at again on the very file that leaves: a name may have been given to another file since.
      if (file && digitalSignature && (await mustBeSigned(ports, file, entered))) {
        await file.close();
        throw new Refusal('signingUnavailable');
      }
      return file;
    };
    yield { name, modified: entry.modified, open: entry.folder || entry.size === 0 ? null : open };
  }
}

/**
 * Plans the archive, and yields after every slice; null: it is too many entries to be planned.
 * @param mostFound how many may be held in memory now
 * @throws as `find`
 */
async function* planOf(packed: Packed, mostFound: () => number): AsyncGenerator<void, ZipPlan | null> {
  const found: Found[] = [];
  let cost = 0;
  for await (const one of findInSlices(packed)) {
    if (!one) yield;
    else found.push(one);
    cost += one ? costOf(one) : 0;
    if (cost > Math.min(mostPlanned, mostFound())) {
      for await (const _present of chosenEntries(packed)); // those that come later must be there too
      return null;
    }
  }
  return planZip(found);
}

/** An archive: to the byte beforehand, unless it is too many entries, or what each is has to be looked at again. */
async function archiveOf(ports: VisitPorts, packed: Packed, entered: Entered): Promise<Pick<FolderArchive, 'known' | 'pieces' | 'close'>> {
  const { viewId, address } = entered.approaching;
  const asker = { viewId, address, locationId: entered.link.location_id };
  const { archives } = ports;
  const { digitalSignature } = entered.permit.share;
  if (digitalSignature) await archives.look(asker, packed.left, checkSignatures(ports, packed, entered));
  const used = digitalSignature ? null : await archives.plan(asker, packed.left, (mostFound) => planOf(packed, mostFound));
  const room = archives.beginPieces();
  // Found once more while it is sent: thousands of entries do not wait in memory for a client who reads slowly.
  if (!used)
    return {
      known: null,
      pieces: () => gather(zipOf(sourcesOf(ports, packed, entered), room, packed.beginNames()), room),
      close: async () => room.end(),
    };
  const { storage, folder } = packed;
  return {
    known: used.plan,
    pieces: (wanted) =>
      gather(
        zipRange(used, ({ name }) => storage.open(below(folder, name)), wanted, room),
        room,
      ),
    async close() {
      used.release();
      room.end();
    },
  };
}

const mostAudited = 1000; // characters of names in an audit entry

/** What an audit entry tells of a choice: how many names, and the first of them. */
function chosenInAudit(names: readonly string[]) {
  let left = mostAudited;
  const first = names.filter((name) => {
    left -= name.length;
    return left >= 0;
  });
  return { names: first, ...(first.length < names.length ? { count: names.length } : {}) };
}

/** Signatures that are asked for since it began: what has left was looked at without them. */
async function mayStillLeave({ permit, decideAgain }: Entered): Promise<boolean> {
  const now = await decideAgain();
  return now !== null && !mustMark(now.share) && (permit.share.digitalSignature || !now.share.digitalSignature);
}

/** A folder of a share, or what is chosen of it, as a zip. @param left aborted when the visitor leaves before the answer */
export async function downloadFolder(
  ports: VisitPorts,
  approaching: Approaching,
  path: ItemPath,
  chosenNames: readonly string[] | null,
  left: AbortSignal,
): Promise<FolderArchive> {
  // One choice is one archive and one download, in whatever order it is sent.
  const names = chosenNames && [...new Set(chosenNames)].sort();
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
    const archive = await archiveOf(
      ports,
      { storage, folder, names, left, beginNames: () => ports.archives.beginNames(approaching.address) },
      entered,
    );
    const event = { ...told, outcome: 'begun', ...(names ? { after: chosenInAudit(names) } : {}) } as const;
    return {
      ...archive,
      name: folder.at(-1) ?? link.title,
      stillPermitted: () => mayStillLeave(entered),
      record: () => ports.trail.begin(event, archive.known?.etag ?? null, link.alert_download === 1),
    };
  });
}
