import type { ItemPath } from '#core/item-path.ts';

/** One of several small files that are read into one buffer. */
export interface RunFile {
  readonly path: ItemPath;
  readonly etag: string;
  /** Bytes; at least 1. */
  readonly size: number;
  /** Position of its first byte in the buffer. */
  readonly at: number;
}

/** A buffer with the bytes of several files. */
export interface FilledRun {
  readonly buffer: ArrayBuffer;
  /** The CRC-32 of each file. */
  readonly checksums: readonly number[];
}
