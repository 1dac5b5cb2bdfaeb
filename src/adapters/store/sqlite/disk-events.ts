/** Callbacks by which the parts of the store report problems of their disk. */
export interface DiskEvents {
  /** Called when the disk failed: committed changes may be lost, so the process must not respond any more. */
  readonly onLost: (cause: unknown) => void;
  /** Returns whether a write failed for lack of space, on the disk or in a quota. */
  readonly isOutOfSpace: (cause: unknown) => boolean;
  /** Called when a write failed for lack of space. @returns whether space was freed, so that the write can be tried again */
  readonly freeSpace: () => boolean;
}
