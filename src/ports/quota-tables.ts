/** A folder whose files are counted: the root of each location, and the folder of each share that has a quota. */
export interface CountedFolderTable {
  readonly tid: number;
  readonly location_id: number;
  /** Path in the location. */
  readonly path: string;
  /**
   * When its files were last counted, in ms; null: not yet, so the used space contains only the changes since the row was created or its
   * counts were deleted.
   */
  counted_at: number | null;
  /** When its files are to be counted again, in ms. */
  due_at: number;
}

/**
 * What a counted folder holds: the sum of the rows with its path. There are several, so that concurrent changes do not wait for each other.
 */
export interface UsedSpaceTable {
  readonly tid: number;
  readonly location_id: number;
  readonly path: string;
  readonly slot: number;
  bytes: number;
  files: number;
  /** Each change of files increments it. */
  changes: number;
}

/** A change of many counted folders of a location, which a job makes in batches. */
export interface CountChangeTable {
  readonly tid: number;
  readonly location_id: number;
  /** The change is for the counted folders below this path; `/`: also for the root. */
  readonly path: string;
  /** `count`: a new count is requested. `discard`: the old counts are also discarded. `delete`: the folders are no longer counted. */
  readonly action: 'count' | 'discard' | 'delete';
  /** The change is still to be made for the folders from this path on. */
  next_path: string;
}
