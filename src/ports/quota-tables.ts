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
 * A part of what a counted folder holds. The sum of the rows with the folder's path is the total. A folder can have several rows, so that
 * concurrent changes do not wait for each other.
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

/**
 * The rest of a change of many counted folders of a location. The change itself covers the first batch, and a job makes the rest in
 * batches.
 */
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
