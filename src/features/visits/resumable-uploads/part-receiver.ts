import { createHash, type Hash } from 'node:crypto';
import { formatItemPath, type ItemPath, withName } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { claimStep } from '#features/quotas/used-space.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { SharedStorage } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { FileChangeOutcome } from '#features/visits/files/file-change.ts';
import { type ChangePorts, runPendingChange } from '#features/visits/files/pending-change.ts';
import { recordCompleteUpload } from '#features/visits/files/unfinished-uploads.ts';
import type { IncomingBody, StoredFile } from '#features/visits/files/upload-file.ts';
import { placeReceivedFile } from '#features/visits/files/upload-target.ts';
import type { ContinuedUpload } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { ifNameTaken, saveProgress, type UploadRow } from './upload-rows.ts';
import type { WriterReport } from './upload-writers.ts';

/**
 * The progress of a part is saved after this many bytes or ms. This limits what a killed process loses, and by how much an upload can
 * exceed a quota. A part with a checksum is saved only when it is complete.
 */
const saveInterval = { bytes: claimStep, time: 60_000 };
/** Bytes of an interrupted part that are worth a sync and a change in the database. */
const minStoredBytes = 16 << 10;

export interface IncomingPart extends IncomingBody {
  /** Content-Length, or null. */
  readonly length: number | null;
  /** Upload-Offset. */
  readonly offset: number;
  /** SHA-256 of the part. The part is kept only if its bytes match; null: the client sent no checksum. */
  readonly checksum: Buffer | null;
}

/** Where the file of an upload belongs. */
export interface UploadPlace {
  /** Path in the share. */
  readonly path: ItemPath;
  /** Folder in the location. */
  readonly parent: ItemPath;
  readonly name: string;
}

/** Returns the refusal of a part that has more bytes than the rest of the file. */
export const partTooLong = (size: number) => new Refusal('fileTooLarge', `The body goes beyond the Upload-Length of ${size} bytes.`);

/** Leaves the change pending: the file is in place, and recovery records the upload as done. @throws StorageUnavailable */
const readBackFailed = (cause: unknown): never => {
  throw new StorageUnavailable('an uploaded file cannot be read', { cause });
};

async function hashOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

/** An upload that receives its next part. */
interface OpenUpload {
  readonly ports: ChangePorts & Pick<VisitServices, 'uploadHashes'>;
  readonly visit: AuthorizedVisit<'upload'>;
  readonly storage: SharedStorage<'upload'>['storage'];
  readonly row: UploadRow;
  readonly place: UploadPlace;
  readonly upload: ContinuedUpload;
}

/** Receives one part of an upload, and puts the file in place after the last one. */
export class PartReceiver {
  readonly #open: OpenUpload;
  readonly #part: IncomingPart;
  /** SHA-256 of all bytes that were received; null: not known. */
  #hash: Hash | null;
  #received: number;
  #saved: number;
  /** ms since the epoch */
  #savedAt: number;
  #isDiscarded = false;

  constructor(open: OpenUpload, part: IncomingPart) {
    const { ports, row } = open;
    this.#open = open;
    this.#part = part;
    this.#received = row.received;
    this.#saved = row.received;
    this.#savedAt = ports.clock.now();
    this.#hash = ports.uploadHashes.find(row.id, row.received);
  }

  /** @param onReceived called when all bytes of the part have arrived */
  async receive(report: WriterReport, onReceived: () => void): Promise<{ received: number; stored: StoredFile | null }> {
    const { body, checksum, begin } = this.#part;
    const abortSignal = begin(this.#open.visit);
    const partHash = checksum && createHash('sha256');
    try {
      for await (const chunk of body) {
        abortSignal.throwIfAborted();
        report.received();
        partHash?.update(chunk);
        await this.#write(chunk);
        if (!checksum && this.#isSaveDue()) await this.#save();
      }
      abortSignal.throwIfAborted();
    } catch (cause) {
      // Keeps the received bytes, unless they are few, or the part has a checksum: it can be verified only when the part is complete.
      if (!checksum && this.#received - this.#saved >= minStoredBytes) await this.#save().catch(() => {});
      throw cause;
    }
    report.complete();
    onReceived();
    if (checksum && partHash && !checksum.equals(partHash.digest())) throw new Refusal('checksumWrong');
    await this.#save();
    if (this.#received < this.#open.row.size) return { received: this.#received, stored: null };
    return { received: this.#received, stored: await this.#complete(abortSignal) };
  }

  /** Must be called at the end. The staging file of an unfinished upload stays. */
  async close(): Promise<void> {
    if (!this.#isDiscarded) await this.#open.upload.closeForRecovery();
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const { row, upload } = this.#open;
    if (this.#received + chunk.length > row.size) throw partTooLong(row.size);
    await upload.write(chunk);
    this.#hash?.update(chunk);
    this.#received += chunk.length;
  }

  #isSaveDue(): boolean {
    const time = this.#open.ports.clock.now() - this.#savedAt;
    return this.#received - this.#saved >= saveInterval.bytes || Math.abs(time) >= saveInterval.time;
  }

  /** Makes what has arrived durable, and records it. */
  async #save(): Promise<void> {
    const { ports, visit, row, upload } = this.#open;
    // The last byte counts only when the file is in place. Until then, the offset that clients see is one byte less.
    const received = Math.min(this.#received, row.size - 1);
    if (received > this.#saved) {
      await upload.sync();
      await saveProgress(ports, visit, row, { received, saved: this.#saved });
      this.#saved = received;
      this.#savedAt = ports.clock.now();
    }
    if (this.#hash && received === this.#received) ports.uploadHashes.keep(row.id, received, this.#hash.copy());
  }

  /**
   * Makes the complete file visible. If that fails, the client can send the last byte again, which starts another attempt. If the outcome
   * is unknown, recovery must end first.
   */
  async #complete(abortSignal: AbortSignal): Promise<StoredFile> {
    const { ports, visit, storage, upload, row, place } = this.#open;
    const { id, token, size } = row;
    const { path, parent, name } = place;
    const change = { action: 'upload', path, parent, name, token, alert: visit.link.alert_upload === 1 } as const;
    let storedName: string | undefined;
    let sha256: string | undefined;
    const stored = await runPendingChange<StoredFile>(ports, visit, change, {
      apply: async ({ confirm, recordHandle }): Promise<FileChangeOutcome<StoredFile>> => {
        if (upload.handle !== null) await recordHandle(upload.handle);
        const isNumbered = ifNameTaken(row) === 'number';
        const file = { upload, parent, name, etag: null, isNumbered, token, confirm, abortSignal };
        storedName = await placeReceivedFile(ports, visit, storage, file);
        sha256 = this.#hash?.digest('hex') ?? (await hashOf(upload.readBack()).catch(readBackFailed));
        const storedPath = formatItemPath(withName(path, storedName));
        const space = { bytes: size, files: 1 };
        return { value: { name, size, sha256 }, bytes: size, path: storedPath, after: { size, sha256 }, space };
      },
      deleteEvidence: async () => {
        if (storedName === undefined) return;
        this.#isDiscarded = true;
        await upload.discard();
      },
      hasNoEffect: () => true,
      recordAlso: (tx) => recordCompleteUpload(tx, row.tid, token, storedName ?? name, sha256 ?? null),
    });
    ports.uploadHashes.forget(id);
    return stored;
  }
}
