const mostArchives = 64; // 200 KB each at most

/** The CRC-32 of an archive's files, by their place; undefined: not read yet. */
export interface Checksums {
  get(place: number): number | undefined;
  set(place: number, crc: number): void;
}

/** Sums kept between requests, so that a part of an archive costs no more than its own bytes. */
export interface KeptChecksums {
  /** @param etag of the archive: as long as it is the same, so are the sums */
  of(etag: string, files: number): Checksums;
}

export function keepChecksums(): KeptChecksums {
  const kept = new Map<string, Checksums>();
  return {
    of(etag, files) {
      const sums = kept.get(etag) ?? checksums(files);
      kept.delete(etag); // the newest stands last
      kept.set(etag, sums);
      const [oldest] = kept.keys();
      if (kept.size > mostArchives && oldest !== undefined) kept.delete(oldest);
      return sums;
    },
  };
}

function checksums(files: number): Checksums {
  const sums = new Uint32Array(files);
  const known = new Uint8Array(files);
  return {
    get: (place) => (known[place] === 1 ? sums[place] : undefined),
    set(place, crc) {
      sums[place] = crc;
      known[place] = 1;
    },
  };
}
