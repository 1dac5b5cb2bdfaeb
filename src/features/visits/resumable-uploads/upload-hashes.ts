import { createHash, type Hash } from 'node:crypto';
import { setAndEvict } from '#core/bounded-map.ts';

const maxHashes = 1000;

/**
 * Keeps the unfinished SHA-256 of uploads in memory between two parts. If it is missing, for example after a restart, the complete
 * file is read once more.
 */
export class UploadHashes {
  readonly #hashes = new Map<string, { readonly received: number; readonly hash: Hash }>();

  /** Returns the hash of the first bytes of an upload, or null if it is not known. @param received number of these bytes */
  find(upload: string, received: number): Hash | null {
    if (received === 0) return createHash('sha256');
    const entry = this.#hashes.get(upload);
    return entry?.received === received ? entry.hash.copy() : null;
  }

  /** Keeps the hash for the next part. The caller must not change it any more. */
  keep(upload: string, received: number, hash: Hash): void {
    setAndEvict(this.#hashes, upload, { received, hash }, maxHashes);
  }

  forget(upload: string): void {
    this.#hashes.delete(upload);
  }
}
