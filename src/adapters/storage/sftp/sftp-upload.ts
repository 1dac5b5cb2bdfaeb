import { checkFolder, placeUpload, type StagingPlace } from '#adapters/storage/moves/place-upload.ts';
import type { ClosedUpload, Confirm, ContinuedUpload, LockName, UploadTarget } from '#ports/storage.ts';
import { ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import type { SftpConnections } from './sftp-connections.ts';
import { readSftpRange } from './sftp-file.ts';
import { openFileHandle, type SftpHandle } from './sftp-handle.ts';
import type { SftpItems } from './sftp-items.ts';

const maxPendingBytes = 1 << 20; // bytes of an upload that are on the way to the server
const pieceSize = 1 << 15; // bytes: every server accepts this much in one message

export interface SftpPlace extends StagingPlace {
  readonly connections: SftpConnections;
  readonly items: SftpItems;
}

class SftpUpload implements ContinuedUpload {
  readonly handle = null;
  readonly #place: SftpPlace;
  readonly #target: UploadTarget;
  readonly #token: string;
  readonly #confirm: Confirm | undefined;
  readonly #file: SftpHandle;
  /** Bytes that were written, or are on the way. */
  #size: number;
  #writes: { readonly length: number; readonly promise: Promise<void> }[] = [];
  #pendingBytes = 0;
  #isSynced = false;
  #placedName: string | null = null;

  constructor(
    place: SftpPlace,
    target: UploadTarget,
    file: SftpHandle,
    { token, offset, confirm }: Pick<ClosedUpload, 'token' | 'offset' | 'confirm'>,
  ) {
    this.#place = place;
    this.#target = target;
    this.#token = token;
    this.#confirm = confirm;
    this.#file = file;
    this.#size = offset;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#isSynced = false;
    const copy = Buffer.from(chunk);
    for (let offset = 0; offset < copy.length; offset += pieceSize) {
      const piece = copy.subarray(offset, offset + pieceSize);
      await this.#confirm?.();
      const promise = this.#file.session.write(this.#file.id, this.#size, piece);
      promise.catch(() => {}); // an error is thrown when the write is awaited
      this.#writes.push({ length: piece.length, promise });
      this.#size += piece.length;
      this.#pendingBytes += piece.length;
      await this.#waitForWrites(maxPendingBytes);
    }
  }

  async sync(): Promise<void> {
    if (this.#isSynced) return;
    await this.#waitForWrites(0);
    await this.#file.session.sync(this.#file.id);
    this.#isSynced = true;
  }

  async place(confirm?: Confirm, lockName?: LockName): Promise<string> {
    await this.sync();
    await this.#file.close(); // some servers do not rename open files
    const file = { token: this.#token, size: this.#size, confirm };
    this.#placedName = await placeUpload(this.#place, this.#target, file, lockName);
    return this.#placedName;
  }

  async *readBack(): AsyncGenerator<Uint8Array> {
    const { connections, items } = this.#place;
    const path = [...this.#target.parent, this.#placedName ?? this.#target.name];
    const file = await openFileHandle(connections, items.pathOf(path), 'r');
    if (!file) throw new StorageUnavailable('the file that was put in place is gone');
    try {
      yield* readSftpRange(file, 0, this.#size - 1, connections.readAhead);
    } finally {
      await file.close();
    }
  }

  async discard(): Promise<void> {
    await this.#file.close();
    await this.#place.evidence.clear(this.#token);
  }

  async closeForRecovery(): Promise<void> {
    await this.#file.close();
  }

  /** Waits until at most `maxBytes` bytes are on the way. @throws StorageUnavailable if a write failed */
  async #waitForWrites(maxBytes: number): Promise<void> {
    while (this.#pendingBytes > maxBytes) {
      const oldest = this.#writes.shift();
      if (!oldest) return;
      await oldest.promise;
      this.#pendingBytes -= oldest.length;
    }
  }
}

/** Starts an upload. @throws ItemNotFound if there is no such folder */
export async function startSftpUpload(place: SftpPlace, target: UploadTarget, token: string): Promise<ContinuedUpload> {
  const { connections, items, evidence } = place;
  await checkFolder(place, target.parent);
  const path = items.pathOf(evidence.stagedPath(token));
  let file: SftpHandle | null = null;
  await evidence.write(async () => {
    file = await openFileHandle(connections, path, 'w');
    return file !== null;
  });
  if (!file) throw new StorageUnavailable('the file cannot be created');
  return new SftpUpload(place, target, file, { token, offset: 0 });
}

/** Continues an upload that `startSftpUpload` has begun. @throws ItemNotFound if the received bytes are gone */
export async function continueSftpUpload(place: SftpPlace, target: UploadTarget, closedUpload: ClosedUpload): Promise<ContinuedUpload> {
  const { token, offset } = closedUpload;
  const file = await openFileHandle(place.connections, place.items.pathOf(place.evidence.stagedPath(token)), 'r+');
  if (!file) throw new ItemNotFound('the uploaded bytes are gone');
  try {
    const { size } = await file.session.fstat(file.id);
    // Bytes after the offset are written again. They stay until then: a request to truncate that comes late could cut off newer bytes.
    if (size < offset) throw new ItemNotFound('the uploaded bytes are gone');
    return new SftpUpload(place, target, file, closedUpload);
  } catch (cause) {
    await file.close();
    throw cause;
  }
}
