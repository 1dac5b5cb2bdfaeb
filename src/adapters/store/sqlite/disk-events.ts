/** What the parts of the store report of their disk. */
export interface DiskEvents {
  /** The disk failed: what was committed may not be on it, and nothing more can be answered. */
  readonly lost: (cause: unknown) => void;
  /** Returns whether a write found no room, on the disk or in a quota. */
  readonly isFull: (cause: unknown) => boolean;
  /** A write found no room. @returns whether some was freed, so that the write can be tried again */
  readonly full: () => boolean;
}
