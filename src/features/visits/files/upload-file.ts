import { createHash } from 'node:crypto';
import { formatItemPath, type ItemPath, numberedName, withName } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { isDropBox } from '#core/policy/share-rules.ts';
import {
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
  type VisitPorts,
} from '#features/visits/authorization/authorize-visit.ts';
import { type SharedStorage, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { Random } from '#ports/random.ts';
import { ItemExists, type Upload } from '#ports/storage.ts';
import { withNameLock } from './name-locks.ts';
import { type FileChangeOutcome, type PendingChange, runPendingChange } from './pending-change.ts';

const mostNumbered = 9; // names tried by number: beyond, a random one is free at once
const mostTries = 20;
const suffixBits = 48;

/** What a visitor sends. */
export interface IncomingFile {
  readonly body: AsyncIterable<Uint8Array>;
  /** Content-Length, or null. */
  readonly length: number | null;
  /** If-Match: the visitor means to replace the file that they saw. */
  readonly ifMatch: string | null;
  /** Called when everything has been asked and the body is wanted. @returns a signal that cuts the transfer */
  readonly begin: (visit: AuthorizedVisit) => AbortSignal;
}

/** What the visitor is told: the name they sent. */
export interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** The tag of the file that is to be replaced; null: there must be none. @throws 404, 409, 412 */
async function checkTarget(
  { storage }: SharedStorage,
  spot: { parent: ItemPath; name: string },
  path: ItemPath,
  ifMatch: string | null,
  { dropBox, nested }: { readonly dropBox: boolean; readonly nested: boolean },
): Promise<string | null> {
  // A drop box shows nothing, the names of folders in it included.
  if (dropBox && nested) throw new Refusal('itemAbsent');
  const parent = await storage.stat(spot.parent);
  if (!parent?.folder) throw new Refusal('itemAbsent');
  const present = await storage.stat(path);
  if (ifMatch === null) {
    if (present && !dropBox) throw new Refusal('itemExists', 'The name exists: to replace the file, send its ETag as If-Match.');
    return null;
  }
  if (present?.folder) throw new Refusal('itemExists');
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!present || !(tags.includes('*') || tags.includes(present.etag))) throw new Refusal('itemStale');
  return present.etag;
}

/** Takes the body in. @throws 413 where it is longer than is accepted */
async function receive(
  upload: Upload,
  { body, begin }: IncomingFile,
  visit: AuthorizedVisit,
  limit: number,
  received: () => void,
): Promise<{ size: number; sha256: string; cut: AbortSignal }> {
  const hash = createHash('sha256');
  const cut = begin(visit);
  let size = 0;
  for await (const chunk of body) {
    received();
    cut.throwIfAborted();
    size += chunk.length;
    if (size > limit) throw new Refusal('fileTooLarge', `Files of at most ${limit} bytes are accepted.`);
    hash.update(chunk);
    await upload.write(chunk);
  }
  cut.throwIfAborted();
  await upload.complete(); // on a slow disk that takes a while, in which the share may be deleted
  return { size, sha256: hash.digest('hex'), cut };
}

/** Under which name a file is kept. */
interface Target {
  readonly name: string;
  /** Tag of the file that is replaced; null: there must be none. */
  readonly etag: string | null;
  readonly dropBox: boolean;
}

/** Puts the file in place; a drop box keeps a name that is taken under a number. @returns the name it is kept under */
async function place(upload: Upload, { name, etag, dropBox }: Target, random: Random): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const suffix = attempt <= mostNumbered ? attempt : random.token(suffixBits).toLowerCase();
    const kept = attempt === 1 ? name : numberedName(name, suffix);
    try {
      await upload.place(kept, etag === null ? null : { etag });
      return kept;
    } catch (cause) {
      if (!dropBox || !(cause instanceof ItemExists) || attempt >= mostTries) throw cause;
    }
  }
}

/**
 * Keeps a file that a visitor sends: visible only when whole, and answered when it is on disk for good.
 * @throws 403, 404, 409, 412, 413, 503, 507; nothing of it is then left
 */
export async function uploadFile(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  sent: IncomingFile,
): Promise<StoredFile> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'upload', replaces: sent.ifMatch !== null });
  const { permit, link } = visit;
  const limit = ports.limits.maxFileSize;
  if (sent.length !== null && sent.length > limit) throw new Refusal('fileTooLarge', `Files of at most ${limit} bytes are accepted.`);
  const release = ports.uploads.take(visitorRequest.address, visitorRequest.viewId);
  return withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const spot = shared.directoryEntry(path);
    const dropBox = isDropBox(permit.share);
    const etag = await checkTarget(shared, spot, shared.locationPath(path), sent.ifMatch, { dropBox, nested: path.length > 1 });
    const change = { action: 'upload', path, ...spot, alert: link.alert_upload === 1 } as const;
    let upload: Upload | undefined;
    let isEmpty = true;
    const received = () => {
      isEmpty = false;
    };
    const act = async ({ token }: PendingChange): Promise<FileChangeOutcome<StoredFile>> => {
      upload = await shared.storage.upload(spot.parent, token, sent.length);
      const { size, sha256, cut } = await receive(upload, sent, visit, limit, received);
      const [staged, target] = [upload, { name: spot.name, etag, dropBox }];
      const put = async () => {
        cut.throwIfAborted();
        if (!(await visit.decideAgain())) throw new Refusal('permissionOff');
        return place(staged, target, ports.random);
      };
      // Of several that replace one file each looks at what the one before it left.
      const kept = await (etag === null
        ? put()
        : withNameLock(ports, shared.storage, { tid: link.tid, locationId: link.location_id, ...spot }, put));
      return { value: { name: spot.name, size, sha256 }, bytes: size, path: formatItemPath(withName(path, kept)), after: { size, sha256 } };
    };
    const clear = async () => {
      const cleared = upload;
      upload = undefined;
      await cleared?.forget();
    };
    try {
      return await runPendingChange(ports, visit, change, { act, clear, isEmpty: () => isEmpty });
    } finally {
      await upload?.leave(); // not recorded: the staging copy is the evidence of what took place
    }
  }).finally(release);
}
