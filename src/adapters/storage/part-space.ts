import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { diskSpace, isDiskFullError } from '#adapters/os/disk-probe.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import { StorageFull } from '#ports/storage.ts';

const defaultMaxMemory = 128 << 20; // bytes of all parts
const pieceSize = 1 << 20; // bytes that are read from a file at once

/** Where parts are collected. */
export interface PartSpaceOptions {
  /** Folder of the temporary files. */
  readonly folder: string;
  /** Free bytes below which no file is created there. */
  readonly minFreeSpace: number;
  /** Bytes that all parts together may have in memory. */
  readonly maxMemory?: number;
}

/**
 * Space for the parts of uploads, which are collected until they are sent: memory first, then temporary files. So the memory has a
 * limit, and slow visitors hold no connection to a service. A file has no name from the moment at which it is open: a crash leaves none.
 */
export class PartSpace {
  readonly #options: PartSpaceOptions;
  #memory = 0;
  #files = 0;

  constructor(options: PartSpaceOptions) {
    this.#options = options;
  }

  /** Takes memory for a chunk. @returns false if there is none left */
  takeMemory(bytes: number): boolean {
    if (this.#memory + bytes > (this.#options.maxMemory ?? defaultMaxMemory)) return false;
    this.#memory += bytes;
    return true;
  }

  releaseMemory(bytes: number): void {
    this.#memory -= bytes;
  }

  /** Opens a temporary file. @throws StorageFull */
  async openFile(): Promise<FileHandle> {
    const { folder, minFreeSpace } = this.#options;
    if ((await diskSpace(folder)).free < minFreeSpace) throw new StorageFull('POSTERN_DATA has no space for the part of an upload');
    this.#files += 1;
    const path = join(folder, `part-${process.pid}-${this.#files}`);
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  }
}

/** A part of an upload, which is collected until it is sent. One call at a time. */
export class UploadPart {
  readonly #space: PartSpace;
  #chunks: Buffer[] = []; // the beginning
  #inMemory = 0;
  #file: FileHandle | null = null; // the rest
  #inFile = 0;

  constructor(space: PartSpace) {
    this.#space = space;
  }

  /** Size in bytes. */
  get length(): number {
    return this.#inMemory + this.#inFile;
  }

  /** Appends a chunk, which may be reused afterwards. @throws StorageFull */
  async append(chunk: Uint8Array): Promise<void> {
    if (!this.#file && this.#space.takeMemory(chunk.length)) {
      this.#chunks.push(Buffer.from(chunk));
      this.#inMemory += chunk.length;
      return;
    }
    this.#file ??= await this.#space.openFile();
    await writeAll(this.#file, chunk, this.#inFile);
    this.#inFile += chunk.length;
  }

  /** Returns the content, until `clear`. */
  body(): OutboundBody {
    return { length: this.length, pieces: this.#pieces() };
  }

  /** Empties the part, and gives its space back. */
  async clear(): Promise<void> {
    const file = this.#file;
    this.#space.releaseMemory(this.#inMemory);
    [this.#chunks, this.#inMemory, this.#file, this.#inFile] = [[], 0, null, 0];
    await file?.close();
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    yield* this.#chunks;
    const [file, end] = [this.#file, this.#inFile];
    for (let position = 0; file && position < end; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(pieceSize, end - position)), { position });
      if (bytesRead === 0) throw new Error('a temporary file has lost bytes');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}

/** Writes all bytes of a chunk. @throws StorageFull */
async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  try {
    for (let written = 0; written < chunk.length; )
      written += (await file.write(chunk, written, chunk.length - written, position + written)).bytesWritten;
  } catch (cause) {
    throw isDiskFullError(cause) ? new StorageFull('POSTERN_DATA is full', { cause }) : cause;
  }
}
