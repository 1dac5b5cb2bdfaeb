import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { mustMark, refuseOriginal } from '#core/policy/delivery.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import {
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
  type VisitPorts,
} from '#features/visits/authorization/authorize-visit.ts';
import { storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import { headOf } from '#features/visits/files/download-file.ts';
import type { OpenFile } from '#ports/storage.ts';
import { type ArchivedFolder, chosenEntries, walkArchivedFolder, walkInSlices } from './folder-walk.ts';
import { joinSmallPieces } from './join-pieces.ts';
import { below } from './pending-folders.ts';
import { type ArchiveEntry, maxPlannedEntries, memoryCostOf, planZip, type ZipPlan } from './zip-plan.ts';
import { type ArchiveRange, zipRange } from './zip-range.ts';
import { type ZipSource, zipOf } from './zip-writer.ts';

/** A folder that may leave as an archive. */
export interface FolderArchive {
  /** Name of the folder, without an ending. */
  readonly name: string;
  /** Its length and validator where its layout is known beforehand; null: it is made as it is sent. */
  readonly known: { readonly size: number; readonly etag: string } | null;
  readonly pieces: (wanted: ArchiveRange) => AsyncIterable<Buffer>;
  /** To be called at the end, whatever was taken of it. */
  readonly close: () => Promise<void>;
  /** May it still leave, and still as it is? */
  readonly stillPermitted: () => Promise<boolean>;
  readonly appendEntry: () => Promise<TransferEntry>;
}

/** Returns whether a file of the folder would have to be signed. */
async function mustBeSigned({ media }: VisitPorts, file: OpenFile, { permit }: AuthorizedVisit): Promise<boolean> {
  return refuseOriginal('downloadFolder', permit.share, media.isPdf(await headOf(file)) ? 'pdf' : 'other') !== null;
}

/** Yields after every slice of the files. @throws 503 where a PDF among what is packed would have to be signed */
async function* checkSignatures(ports: VisitPorts, packed: ArchivedFolder, visit: AuthorizedVisit): AsyncGenerator<void> {
  for await (const one of walkInSlices(packed)) {
    if (!one) yield;
    if (!one || one.entry.folder) continue;
    packed.left.throwIfAborted();
    const file = await packed.storage.open(below(packed.folder, one.name));
    if (!file) continue;
    try {
      if (await mustBeSigned(ports, file, visit)) throw new Refusal('signingUnavailable');
    } finally {
      await file.close();
    }
  }
}

async function* sourcesOf(ports: VisitPorts, packed: ArchivedFolder, visit: AuthorizedVisit): AsyncGenerator<ZipSource> {
  const { digitalSignature } = visit.permit.share;
  for await (const one of walkArchivedFolder(packed)) {
    if (!one) continue;
    const { entry, name } = one;
    // An empty file has no bytes to read, and so none to look at.
    const open = async () => {
      const file = await packed.storage.open(below(packed.folder, name));
      // Looked at again on the very file that leaves: a name may have been given to another file since.
      if (file && digitalSignature && (await mustBeSigned(ports, file, visit))) {
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
async function* planOf(packed: ArchivedFolder, mostFound: () => number): AsyncGenerator<void, ZipPlan | null> {
  const found: ArchiveEntry[] = [];
  let cost = 0;
  for await (const one of walkInSlices(packed)) {
    if (!one) yield;
    else found.push(one);
    cost += one ? memoryCostOf(one) : 0;
    if (cost > Math.min(maxPlannedEntries, mostFound())) {
      for await (const _present of chosenEntries(packed)); // those that come later must be there too
      return null;
    }
  }
  return planZip(found);
}

/** An archive: to the byte beforehand, unless it is too many entries, or what each is has to be looked at again. */
async function archiveOf(
  ports: VisitPorts,
  packed: ArchivedFolder,
  visit: AuthorizedVisit,
): Promise<Pick<FolderArchive, 'known' | 'pieces' | 'close'>> {
  const { viewId, address } = visit.visitorRequest;
  const asker = { viewId, address, locationId: visit.link.location_id };
  const { archives } = ports;
  const { digitalSignature } = visit.permit.share;
  if (digitalSignature) await archives.look(asker, packed.left, checkSignatures(ports, packed, visit));
  const used = digitalSignature ? null : await archives.plan(asker, packed.left, (mostFound) => planOf(packed, mostFound));
  const room = archives.beginPieces();
  // Found once more while it is sent: thousands of entries do not wait in memory for a client who reads slowly.
  if (!used)
    return {
      known: null,
      pieces: () => joinSmallPieces(zipOf(sourcesOf(ports, packed, visit), room, packed.beginNames()), room),
      close: async () => room.end(),
    };
  const { storage, folder } = packed;
  return {
    known: used.plan,
    pieces: (wanted) =>
      joinSmallPieces(
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
async function mayStillLeave({ permit, decideAgain }: AuthorizedVisit): Promise<boolean> {
  const now = await decideAgain();
  return now !== null && !mustMark(now.share) && (permit.share.digitalSignature || !now.share.digitalSignature);
}

/** A folder of a share, or what is chosen of it, as a zip. @param left aborted when the visitor leaves before the answer */
export async function downloadFolder(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  chosenNames: readonly string[] | null,
  left: AbortSignal,
): Promise<FolderArchive> {
  // One choice is one archive and one download, in whatever order it is sent.
  const names = chosenNames && [...new Set(chosenNames)].sort();
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'downloadFolder' });
  const { link, permit, authenticated } = visit;
  const told = {
    link,
    visitor: authenticated?.signedIn ?? null,
    visitorRequest,
    action: 'downloadFolder',
    path: formatItemPath(path),
  } as const;
  // Whole before any is looked at: what would have to be marked never leaves as it is.
  const denial = mustMark(permit.share) ? refuseOriginal('downloadFolder', permit.share, 'image') : null;
  if (denial) {
    ports.audit.note({ ...told, outcome: 'refused', after: { because: denial } });
    throw new Refusal(denial);
  }
  return withStorageErrors(async () => {
    if (link.folder === 0) throw new Refusal('itemAbsent');
    const { storage, locationPath: at } = await storageFor(visit, ports);
    const folder = at(path);
    const entry = await storage.stat(folder);
    if (!entry?.folder) throw new Refusal('itemAbsent');
    const archive = await archiveOf(
      ports,
      { storage, folder, names, left, beginNames: () => ports.archives.beginNames(visitorRequest.address) },
      visit,
    );
    const event = { ...told, outcome: 'begun', ...(names ? { after: chosenInAudit(names) } : {}) } as const;
    return {
      ...archive,
      name: folder.at(-1) ?? link.title,
      stillPermitted: () => mayStillLeave(visit),
      appendEntry: () => ports.audit.begin(event, archive.known?.etag ?? null, link.alert_download === 1),
    };
  });
}
