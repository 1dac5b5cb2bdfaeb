import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { diskSpace, isDiskFullError } from '#adapters/os/disk-probe.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import { StorageFull } from '#ports/storage-errors.ts';

const defaultMaxMemory = 128 << 20; // bytes of all parts
const blockSize = 1 << 16; // bytes of memory that a part takes at once, so that many short chunks share one block
const reservedAtOnce = 4 << 20; // bytes of disk space
const pieceSize = 1 << 20; // bytes that are read from a file at once

export interface PartSpaceOptions {
  /** Folder of the temporary files. */
  readonly folder: string;
  /** Free bytes that must stay on the disk of the folder. */
  readonly minFreeSpace: number;
  /** Bytes that all parts together may have in memory. */
  readonly maxMemory?: number;
}

/**
 * Space for the parts of uploads, which are collected until they are sent: memory first, then temporary files. So the memory has a
 * limit, and slow visitors hold no connection to a service. The name of a file is deleted as soon as the file is open. The files of
 * `UploadSpool` reserve their disk space here, too.
 */
export class PartSpace {
  readonly #options: PartSpaceOptions;
  #memory = 0;
  #reservedBytes = 0; // bytes that will be written

  constructor(options: PartSpaceOptions) {
    this.#options = options;
  }

  /** Returns a block of memory, or null if there is none left. */
  takeBlock(): Buffer | null {
    if (this.#memory + blockSize > (this.#options.maxMemory ?? defaultMaxMemory)) return null;
    this.#memory += blockSize;
    return Buffer.allocUnsafeSlow(blockSize);
  }

  releaseBlocks(count: number): void {
    this.#memory -= count * blockSize;
  }

  /** Reserves disk space. @returns the number of bytes @throws StorageFull */
  async reserve(): Promise<number> {
    const { folder, minFreeSpace } = this.#options;
    const { free } = await diskSpace(folder);
    if (free >= minFreeSpace + this.#reservedBytes + reservedAtOnce) {
      this.#reservedBytes += reservedAtOnce;
      return reservedAtOnce;
    }
    throw new StorageFull('POSTERN_DATA has no space for the part of an upload');
  }

  /** Ends the reservation of bytes: they are written, or are not needed. */
  release(bytes: number): void {
    this.#reservedBytes -= bytes;
  }

  /** Opens a temporary file. */
  async openFile(): Promise<FileHandle> {
    const path = join(this.#options.folder, `part-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await unlink(path);
      return file;
    } catch (cause) {
      await file.close();
      throw cause;
    }
  }
}

/** A file that reserves disk space before it writes. */
export class SpaceFile {
  readonly #space: PartSpace;
  readonly #file: FileHandle;
  #reservedBytes = 0;
  length: number;

  /** @param length bytes to keep: `append` writes after them */
  constructor(space: PartSpace, file: FileHandle, length = 0) {
    this.#space = space;
    this.#file = file;
    this.length = length;
  }

  /** @throws StorageFull */
  async append(chunk: Uint8Array): Promise<void> {
    while (this.#reservedBytes < chunk.length) this.#reservedBytes += await this.#space.reserve();
    try {
      for (let written = 0; written < chunk.length; )
        written += (await this.#file.write(chunk, written, chunk.length - written, this.length + written)).bytesWritten;
    } catch (cause) {
      throw isDiskFullError(cause) ? new StorageFull('POSTERN_DATA is full', { cause }) : cause;
    }
    this.length += chunk.length;
    this.#reservedBytes -= chunk.length;
    this.#space.release(chunk.length);
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (let position = 0; position < this.length; ) {
      const size = Math.min(pieceSize, this.length - position);
      const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(size), { position });
      if (bytesRead === 0) throw new Error('a temporary file has lost bytes');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async close(): Promise<void> {
    this.#space.release(this.#reservedBytes);
    await this.#file.close();
  }
}

/** A part of an upload, or an entire file, which is collected until it is sent. Only one method may run at a time. */
export class UploadPart {
  readonly #space: PartSpace;
  #blocks: Buffer[] = []; // the beginning
  #inBlocks = 0; // bytes
  #file: SpaceFile | null = null; // the rest

  constructor(space: PartSpace) {
    this.#space = space;
  }

  /** Size in bytes. */
  get length(): number {
    return this.#inBlocks + (this.#file?.length ?? 0);
  }

  /** Appends a chunk, which may be reused afterwards. @throws StorageFull */
  async append(chunk: Uint8Array): Promise<void> {
    const rest = this.#file ? chunk : this.#appendToBlocks(chunk);
    if (rest.length === 0) return;
    this.#file ??= new SpaceFile(this.#space, await this.#space.openFile());
    await this.#file.append(rest);
  }

  /** Returns the content, which stays readable until `clear`. It can be read several times. */
  body(): OutboundBody {
    return { length: this.length, pieces: { [Symbol.asyncIterator]: () => this.#pieces() } };
  }

  /** Empties the part, and gives its space back. */
  async clear(): Promise<void> {
    const [blocks, file] = [this.#blocks, this.#file];
    [this.#blocks, this.#inBlocks, this.#file] = [[], 0, null];
    this.#space.releaseBlocks(blocks.length);
    await file?.close();
  }

  /** Copies a chunk into blocks. @returns what did not fit into the memory */
  #appendToBlocks(chunk: Uint8Array): Uint8Array {
    let rest = chunk;
    while (rest.length > 0) {
      const usedBytes = this.#inBlocks % blockSize;
      if (usedBytes === 0) {
        const block = this.#space.takeBlock();
        if (!block) return rest;
        this.#blocks.push(block);
      }
      const count = Math.min(rest.length, blockSize - usedBytes);
      this.#blocks.at(-1)?.set(rest.subarray(0, count), usedBytes);
      this.#inBlocks += count;
      rest = rest.subarray(count);
    }
    return rest;
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (const [index, block] of this.#blocks.entries()) yield block.subarray(0, Math.min(blockSize, this.#inBlocks - index * blockSize));
    if (this.#file) yield* this.#file.pieces();
  }
}
