import { createHash } from 'node:crypto';
import { isDropBox } from '#core/authorization/share-rules.ts';
import { formatItemPath, type ItemPath, withName } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import {
  type AuthorizationPorts,
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
} from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Upload } from '#ports/storage.ts';
import { byteClaimer } from './byte-claimer.ts';
import type { FileChangeOutcome, PendingChange } from './file-change.ts';
import { type ChangePorts, runPendingChange } from './pending-change.ts';
import { respondInTime } from './respond-in-time.ts';
import { checkUploadTarget, placeReceivedFile } from './upload-target.ts';

export interface IncomingBody {
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the transfer at once. */
  readonly abort: () => void;
  /** Called after all checks, when the body is about to be read. @returns a signal that aborts when Postern ends the transfer */
  readonly begin: (visit: AuthorizedVisit) => AbortSignal;
}

export interface IncomingFile extends IncomingBody {
  /** Content-Length, or null. */
  readonly length: number | null;
  /** If-Match: set if the visitor wants to replace the file with this ETag. */
  readonly ifMatch: string | null;
}

/**
 * The response for the visitor. The name is the one that the visitor sent, even if a drop box
 * stores the file under another name.
 */
export interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

interface BodyLimits {
  /** Maximum size of a file, in bytes. */
  readonly limit: number;
  /** Called for every chunk. */
  readonly onData: () => void;
  /** Claims the bytes received so far. */
  readonly claim: (received: number) => Promise<void>;
}

/** Writes the body to the staging file. @throws Refusal (413) beyond `limit`; (507) beyond a quota; the reason of an abort */
async function receiveBody(
  upload: Upload,
  { body, begin }: IncomingFile,
  visit: AuthorizedVisit,
  { limit, onData, claim }: BodyLimits,
): Promise<{ size: number; sha256: string; abortSignal: AbortSignal }> {
  const hash = createHash('sha256');
  const abortSignal = begin(visit);
  let size = 0;
  for await (const chunk of body) {
    onData();
    abortSignal.throwIfAborted();
    size += chunk.length;
    if (size > limit) throw new Refusal('fileTooLarge', `Files of at most ${limit} bytes are accepted.`);
    await claim(size);
    hash.update(chunk);
    await upload.write(chunk);
  }
  abortSignal.throwIfAborted();
  await upload.sync(); // may be slow: the caller checks again that the share still permits the upload
  return { size, sha256: hash.digest('hex'), abortSignal };
}

/**
 * Stores a file that a visitor uploads. The file becomes visible only when it is complete. Returns after the storage has made it durable.
 * @throws Refusal as `authorizeVisit` and (400, 403, 404, 409, 412, 413, 507): no part of the file is stored; (503): if the storage has
 *   not responded, the file may still be stored later, and the detail says so
 */
export async function uploadFile(
  ports: AuthorizationPorts & StoragePorts & ChangePorts & Pick<VisitServices, 'uploads'>,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  incoming: IncomingFile,
): Promise<StoredFile> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'upload', replaces: incoming.ifMatch !== null });
  const { permit, link } = visit;
  const limit = ports.limits.maxFileSize;
  if (incoming.length !== null && incoming.length > limit)
    throw new Refusal('fileTooLarge', `Files of at most ${limit} bytes are accepted.`);
  const release = ports.uploads.take(visitorRequest.address, visitorRequest.viewId, incoming.abort);
  const bodyReceived = Promise.withResolvers<void>();
  const storing = withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const { parent, name } = shared.directoryEntry(path);
    const dropBox = isDropBox(permit.share);
    const replaced = await checkUploadTarget(shared, parent, shared.locationPath(path), incoming.ifMatch, {
      dropBox,
      nested: path.length > 1,
      now: ports.clock.now(),
    });
    const etag = replaced?.etag ?? null;
    /** What a file of this size adds to the folder. */
    const spaceOf = (size: number) => ({ bytes: size - (replaced?.size ?? 0), files: replaced ? 0 : 1 });
    const change = {
      action: 'upload',
      path,
      parent,
      name,
      alert: link.alert_upload === 1,
      claim: spaceOf(incoming.length ?? replaced?.size ?? 0),
    } as const;
    let upload: Upload | undefined;
    let hasNoEffect = true;
    const onData = () => {
      hasNoEffect = false;
    };
    const apply = async ({ token, confirm, recordHandle }: PendingChange): Promise<FileChangeOutcome<StoredFile>> => {
      const ifTaken = etag === null ? (dropBox ? 'number' : 'refuse') : { replaces: etag };
      upload = await shared.storage.upload({ parent, name, size: incoming.length, ifTaken }, token);
      if (upload.handle !== null) await recordHandle(upload.handle);
      const claim = byteClaimer(ports, visit, token, { length: incoming.length, replacedBytes: replaced?.size ?? 0 });
      const { size, sha256, abortSignal } = await receiveBody(upload, incoming, visit, { limit, onData, claim });
      bodyReceived.resolve();
      const file = { upload, parent, name, etag, isNumbered: ifTaken === 'number', token, confirm, abortSignal };
      const storedName = await placeReceivedFile(ports, visit, shared.storage, file);
      const storedPath = formatItemPath(withName(path, storedName));
      return { value: { name, size, sha256 }, bytes: size, path: storedPath, after: { size, sha256 }, space: spaceOf(size) };
    };
    const deleteEvidence = async () => {
      const finishedUpload = upload;
      upload = undefined;
      await finishedUpload?.discard();
    };
    try {
      return await runPendingChange(ports, visit, change, { apply, deleteEvidence, hasNoEffect: () => hasNoEffect });
    } finally {
      await upload?.closeForRecovery(); // the outcome is not recorded: keeps the staging file, because recovery needs it
    }
  }).finally(release);
  await Promise.race([storing, bodyReceived.promise]); // the time limit begins only after the body has arrived
  return respondInTime(storing, ports.limits.maxChangeTime);
}
