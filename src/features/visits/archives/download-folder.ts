import { deliver, hasSameForms, requiresNewFiles, requiresWatermark } from '#core/authorization/delivery.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import {
  type AuthorizationPorts,
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
} from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { markOf } from '#features/visits/documents/visit-mark.ts';
import type { PageMark } from '#ports/documents.ts';
import type { Ports } from '#ports/ports.ts';
import { type ArchivedFolder, chosenEntries, walkArchivedFolder, walkInSlices } from './folder-walk.ts';
import { joinSmallPieces } from './join-small-pieces.ts';
import { archivedItemPath } from './pending-folders.ts';
import { type ProtectedFilePorts, ProtectedFiles } from './protected-files.ts';
import { type ArchiveEntry, maxPlanCost, memoryCostOf, planZip, type ZipPlan } from './zip-plan.ts';
import { type ArchiveRange, zipRange } from './zip-range.ts';
import { writeZip, type ZipSource } from './zip-writer.ts';

/** A folder, or chosen entries of it, that may be sent as an archive. */
export interface FolderArchive {
  /** Name of the folder, or, if the folder is the root of its location, the title of the share; the sender appends ".zip". */
  readonly name: string;
  /** Size in bytes and ETag if the archive is planned; null: they are not known before it is sent. */
  readonly layout: { readonly size: number; readonly etag: string } | null;
  readonly pieces: (range: ArchiveRange) => AsyncIterable<Buffer>;
  /** Must be called at the end, even if nothing was sent. */
  readonly close: () => Promise<void>;
  /** Returns whether the archive may still be sent unchanged. */
  readonly stillPermitted: () => Promise<boolean>;
  readonly appendEntry: () => Promise<TransferEntry>;
}

type ArchivePorts = ProtectedFilePorts & Pick<Ports, 'vault'> & Pick<VisitServices, 'archives'>;

async function* zipSources(archivedFolder: ArchivedFolder): AsyncGenerator<ZipSource> {
  for await (const item of walkArchivedFolder(archivedFolder)) {
    if (!item) continue;
    const { entry, name } = item;
    const open = () => archivedFolder.storage.open(archivedItemPath(archivedFolder.folder, name));
    yield { name, modified: entry.modified, open: entry.folder || entry.size === 0 ? null : open }; // an empty file has no bytes to read
  }
}

/**
 * Plans the archive, and yields after every slice. Returns null if its entries need too much memory for a plan.
 * @param maxEntries returns the greatest sum of `memoryCostOf` that may be held in memory now
 * @throws as `walkInSlices`
 */
async function* createPlan(archivedFolder: ArchivedFolder, maxEntries: () => number): AsyncGenerator<void, ZipPlan | null> {
  const entries: ArchiveEntry[] = [];
  let cost = 0;
  for await (const item of walkInSlices(archivedFolder)) {
    if (!item) yield;
    else entries.push(item);
    cost += item ? memoryCostOf(item) : 0;
    if (cost > Math.min(maxPlanCost, maxEntries())) {
      for await (const _entry of chosenEntries(archivedFolder)); // throws 404 if a later chosen name does not exist
      return null;
    }
  }
  return planZip(entries);
}

type ArchiveContent = Pick<FolderArchive, 'layout' | 'pieces' | 'close'>;

/** Returns an archive without a plan: each item is read when it is sent. */
function unplannedArchive(
  { archives }: ArchivePorts,
  { createNameMemory }: ArchivedFolder,
  sources: (range: ArchiveRange) => AsyncIterable<ZipSource>,
): ArchiveContent {
  const pieceMemory = archives.createPieceMemory();
  return {
    layout: null,
    pieces: (range) => joinSmallPieces(writeZip(sources(range), pieceMemory, createNameMemory()), pieceMemory),
    close: async () => pieceMemory.end(),
  };
}

/**
 * Creates the archive with a plan, so that its size is known beforehand. It has no plan if it has too many entries, if the plans in use
 * already hold too many, or if the share requires a watermark or a signature.
 * @param mark of the files; null: they need none
 */
async function createArchive(
  ports: ArchivePorts,
  archivedFolder: ArchivedFolder,
  visit: AuthorizedVisit,
  mark: PageMark | null,
): Promise<ArchiveContent> {
  const { viewId, address } = visit.visitorRequest;
  const visitor = { viewId, address, tid: visit.link.tid, locationId: visit.link.location_id };
  const { archives } = ports;
  const { storage, folder, clientGone } = archivedFolder;
  if (requiresNewFiles(visit.permit.share)) {
    const files = new ProtectedFiles(ports, visit, archivedFolder, mark);
    await archives.inspect(visitor, clientGone, files.check());
    return unplannedArchive(ports, archivedFolder, ({ onRead }) => files.sources(onRead));
  }
  const planInUse = await archives.plan(visitor, clientGone, (maxEntries) => createPlan(archivedFolder, maxEntries));
  // Without a plan, the response lists the folders a second time: thousands of entries must not stay in memory for a slow client.
  if (!planInUse) return unplannedArchive(ports, archivedFolder, () => zipSources(archivedFolder));
  const pieceMemory = archives.createPieceMemory();
  const { readRun } = storage;
  const plannedFiles: Parameters<typeof zipRange>[1] = {
    open: ({ name }) => storage.open(archivedItemPath(folder, name)),
    openAhead: storage.traits.openAhead,
    readRun:
      readRun &&
      ((files, buffer) =>
        readRun(
          files.map(({ item: { name, etag, size }, at }) => ({ path: archivedItemPath(folder, name), etag, size, at })),
          buffer,
        )),
  };
  return {
    layout: planInUse.plan,
    pieces: (range) => joinSmallPieces(zipRange(planInUse, plannedFiles, range, pieceMemory), pieceMemory),
    async close() {
      planInUse.release();
      pieceMemory.end();
    },
  };
}

const maxAuditedLength = 1000; // characters of names in an audit entry

/** Returns the chosen names for an audit entry: the first of them, and how many there are if some are left out. */
function chosenInAudit(names: readonly string[]) {
  let remaining = maxAuditedLength;
  const firstNames = names.filter((name) => {
    remaining -= name.length;
    return remaining >= 0;
  });
  return { names: firstNames, ...(firstNames.length < names.length ? { count: names.length } : {}) };
}

/** Returns whether the archive may still be sent: whether the visitor may still download it, and with files in the same form. */
async function isStillPermitted({ permit, decideAgain }: AuthorizedVisit): Promise<boolean> {
  const currentPermit = await decideAgain();
  return currentPermit !== null && hasSameForms('downloadFolder', permit.share, currentPermit.share);
}

/**
 * Returns a folder of a share, or the chosen items of it, as a ZIP file.
 * @param clientGone aborted when the visitor leaves before the end of the response
 * @throws Refusal as `authorizeVisit` and `withStorageErrors`, and of the plan; the reason of `clientGone`
 */
export async function downloadFolder(
  ports: AuthorizationPorts & StoragePorts & ArchivePorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  chosenNames: readonly string[] | null,
  clientGone: AbortSignal,
): Promise<FolderArchive> {
  // The same names in another order are the same archive, and the same download.
  const names = chosenNames && [...new Set(chosenNames)].sort();
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'downloadFolder' });
  const { link, permit, authenticated } = visit;
  const eventBase = {
    link,
    visitor: authenticated?.signedIn ?? null,
    visitorRequest,
    action: 'downloadFolder',
    outcome: 'begun',
    path: formatItemPath(path),
  } as const;
  // Refuses before any file is read if the share has copy protection without a watermark: then no file may be downloaded.
  const delivery = deliver('downloadFolder', permit.share, 'image');
  if ('denial' in delivery) {
    ports.audit.recordInBackground({ ...eventBase, outcome: 'refused', after: { because: delivery.denial } });
    throw new Refusal(delivery.denial);
  }
  return withStorageErrors(async () => {
    if (link.folder === 0) throw new Refusal('itemAbsent');
    const { storage, locationPath } = await storageFor(visit, ports);
    const folder = locationPath(path);
    const entry = await storage.stat(folder);
    if (!entry?.folder) throw new Refusal('itemAbsent');
    const mark = requiresWatermark(permit.share) ? markOf(ports, visit, eventBase) : null;
    const archive = await createArchive(
      ports,
      { storage, folder, names, clientGone, createNameMemory: () => ports.archives.createNameMemory(visitorRequest.address) },
      visit,
      mark,
    );
    const event = {
      ...eventBase,
      ...(names ? { after: chosenInAudit(names) } : {}),
      ...(mark ? { traceId: mark.traceId } : {}),
    };
    return {
      ...archive,
      name: folder.at(-1) ?? link.title,
      stillPermitted: () => isStillPermitted(visit),
      appendEntry: () => ports.audit.beginTransfer(event, archive.layout?.etag ?? null, link.alert_download === 1),
    };
  });
}
